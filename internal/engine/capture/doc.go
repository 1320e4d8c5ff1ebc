// Package capture reads a live workspace into a store.
//
// It may read below the root it is given and write its own stat index; it never
// changes the workspace, never follows a link, never runs anything, and never
// waits for a FIFO. Everything it meets is hostile.
//
//	P1  A path is in the snapshot as it was at one point in time, or its gap is named.
//	P2  A file is taken over unread only if inode, size, times, mode and owner are
//	    the same and its last change was well before the scan that read it.
//	P3  What lets us skip a read becomes usable only after the seal that holds the
//	    bytes, carries that seal, and is dropped when the store does not know it.
//	P4  Work is in proportion to files for the scan and to changed directories
//	    for everything else.
package capture
