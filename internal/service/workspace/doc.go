// Package workspace finds and opens workspaces, their store and their files, keeps the
// catalog up with the store, and holds what is cached of a workspace between two saves. All
// parts of the service stand on it.
//
// It reads the files of a workspace; of the workspace it writes the marker only.
//
//	U2  The store is the truth. The catalog follows it, and catches up when it is behind.
//	U3  Every error that is returned has a kind, and says whether anything was changed.
package workspace
