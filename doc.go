// Package retake has the types that all other packages share, the rules about them
// that need no input or output, and one interface, Service.
//
// A workspace is a directory that is protected. A checkpoint is one state on its
// timeline: a number, a time, a trigger and a message (Intent). It points to a snapshot,
// the immutable file tree of that state. Coverage says what the snapshot does not contain,
// and why.
//
// It touches nothing: no files, no network, no clock, no log. Read it first, then
// internal/service, which implements the use cases.
//
//	V1  Every type here can be written to JSON and read back unchanged.
//	V2  Kinds, triggers and reasons are append-only: old stores open for ever.
package retake
