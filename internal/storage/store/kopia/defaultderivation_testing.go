//go:build testing

package kopia

// Tests open thousands of stores, and the derivation of users takes a tenth of a second or
// more of a processor each time. A program without this tag refuses to open a store that was
// made with this one.
const defaultDerivation = "testing-only-insecure"
