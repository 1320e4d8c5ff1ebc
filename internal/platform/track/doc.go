// Package track knows which names below a directory may have changed.
//
// It listens to the kernel and looks at the processes of the machine. It reads
// names and states below the root, never content; it writes nothing and keeps
// no descriptor there. It judges nothing: a name that is told may be unchanged.
//
//	K1  What changes after Drain was called is in its answer or in the next one,
//	    at the latest in that of the first Drain after the system call returned.
//	K2  What it does not know for sure is a doubt, never silence.
//	K3  Reading, listing and syncing below the root tells nothing.
//
// A file with several names is told by the name that was used, which may lie
// outside: whoever calls looks at every file with more than one link again.
package track
