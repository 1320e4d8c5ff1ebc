// Package install knows where each agent keeps its settings, adds the hooks of
// Retake there and removes them again.
//
// It plans first and touches nothing; a Change is applied as a whole or not at
// all. It may read and write the settings of agents, below the places that it is
// given. It never reads the environment, never starts a program, and never
// changes a byte that is not its own.
//
//	G1  Install and then remove gives the same bytes back, also when somebody
//	    changed another part in between.
//	G2  Installing twice is installing once.
//	G3  No key, comment, order, indentation or line ending of others changes.
//	G4  What is not understood is refused, and nothing is changed.
//	G5  The line of a hook never changes: agents ask for trust again when it does.
package install
