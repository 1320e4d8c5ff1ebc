// Package track knows which names below a directory may have changed.
//
// It listens to the kernel and inspects the processes of the machine. It reads
// names and states below the root, never content; it writes nothing and keeps
// no descriptor there. A name that it reports may be unchanged.
//
//	K1  A change after Drain was called is reported by that Drain or the next one,
//	    at the latest by the first Drain after the system call returned.
//	K2  Where it is not certain, it asks for a rescan; it never stays silent.
//	K3  Reading, listing and syncing below the root causes no report.
//
// A file with several names is reported by the name that was used, which may be
// outside the root: callers must check every file with more than one link again.
package track
