// Package transcript reads the conversations that agents write down, and makes a fork
// of one that ends at a turn, in the agent's own format.
//
// It works on bytes that it is given and touches no file; the caller writes what
// Fork returns. All formats belong to the agents and change without notice:
// records that are not known pass through a fork unchanged and are skipped by a
// reader.
//
//	T1  No input makes it panic, and none takes more than time in proportion to it.
//	T2  A new file is in the directory of the transcript, or in one beside it, and only
//	    where the agent keeps such files; its name is made of the new id and the time,
//	    never of what the transcript says.
//	T3  The conversation that is forked is not changed: new files have new names.
//	T4  Exact is set only if the agent continues with exactly these turns.
package transcript
