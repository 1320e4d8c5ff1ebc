// Package retake is the vocabulary: the nouns every other package speaks, the
// rules about them that need no hands, and one interface, Service.
//
// A workspace is a directory that is protected. A checkpoint is one checkpoint on its
// timeline: a number, a time, a trigger, an intent; it points to a snapshot, the
// immutable file tree of that checkpoint. A card is what a person reads about it.
// Coverage says what the snapshot could not hold, and why.
//
// It holds words, not hands: no files, no network, no clock, no log. Read it
// first, then internal/service, where the words become use cases.
//
//	V1  Every type here can be written to JSON and read back unchanged.
//	V2  Kinds, triggers and reasons are append-only: old stores open for ever.
package retake
