// Package term draws what a person reads in a terminal: timelines with their
// lanes, cards, stories, comparisons, plans, results and errors, as lines of text.
//
// The faces of a terminal share it, so that a checkpoint looks the same in each. A timeline
// comes arranged, as a retake.TimelineView; of other pictures it asks a Service for what they
// need beside their subject, such as names. It never prints, never asks a person, never changes
// anything.
//
// Whatever is foreign passes termtext.Escape; the only control bytes that leave are the
// colors of Paint and the ends of lines.
//
//	P1  A checkpoint, an effect or a deletion that has no room is counted, never dropped.
//	P2  A color never says what a sign or a word beside it does not say too.
package term
