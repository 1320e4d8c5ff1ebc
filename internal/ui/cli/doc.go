// Package cli is the command line: it parses arguments, calls one retake.Service, of this
// machine or of a server, and prints the answer as text or JSON.
//
// It sees the vocabulary and tools; what it reads and writes comes in by Deps. It never
// decides about history, never reads the environment and never ends the process.
//
//	L1  Data goes to Out, talk to Err; with --json Out holds one JSON value and nothing
//	    else, and one for each line of a command that goes on until it is ended.
//	L2  Text from a workspace passes termtext.Escape before it is shown.
//	L3  Nothing is cut without a count or a sign, and JSON is never cut.
//	L4  Text and JSON of a command come from the same value.
//	L5  Any answer but yes leaves, and nothing was changed.
package cli
