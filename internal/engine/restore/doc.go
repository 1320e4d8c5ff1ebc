// Package restore takes a live workspace to another checkpoint: it makes the plan,
// and does it.
//
// Planning reads and touches nothing. Applying changes only the paths of its plan, through
// handles, below the root it is given; what it replaces or deletes it moves into a trash
// directory, where it stays for a while. It never follows a link, never opens an existing file
// for writing, never removes a directory that is not empty, and never repairs anything by
// itself.
//
//	R1  What is not in the safety checkpoint is not deleted and not overwritten.
//	R2  A path that is not as the plan expects is left, and named.
//	R3  Before the first change the journal is durable; until the last one is, it stays.
//	R4  A plan that was cut off at any point can be finished and can be unwound.
//	R5  What was excluded, unreadable or unheld at either checkpoint is left alone.
package restore
