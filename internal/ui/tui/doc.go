// Package tui is the full-screen terminal interface: one workspace to browse by keys, drawn
// like the output of the command line.
//
// It asks one retake.Service, and what it reads and writes comes in by Options. It never
// decides about history, never reads the environment and never ends the process.
//
//	U1  No key applies anything. What changes files is the answer to the question of a plan
//	    that is on the screen, and it applies that plan by its digest or nothing.
//	U2  Esc goes one step back and changes nothing, ever.
//	U3  The service is asked beside the keyboard: however slow it is, keys are heard.
//	U4  Foreign text passes termtext.Escape; no control byte of it reaches the terminal.
//	U5  A key costs what is on the screen, not what is in the timeline.
package tui
