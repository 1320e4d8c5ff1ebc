// Package fakeagent plays an agent: it reads the settings that were installed for
// that agent and fires their hooks as the agent would, one line of a play at a time.
//
// It runs the hooks and the tools of the play below the home and the directory that
// it is given. It knows nothing of the service, and never reads the settings by the
// code that wrote them.
//
//	F1  A hook is run as written there: matcher, shell or program, time-out, place.
//	F2  An answer is judged by the rules of that agent. What the agent would complain
//	    about or stop for fails the play, unless the play expects it.
//	F3  A tool runs after its hook answered, and does not run when the hook stops it.
//	F4  A crash is the end: what is in the background goes on, and nothing is told.
package fakeagent
