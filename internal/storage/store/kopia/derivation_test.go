//go:build !testing

package kopia_test

// derivation is as users have it. With the tag testing it costs nothing, which the
// race detector would make minutes of.
const derivation = ""

// newDerivation is what a store gets that asks for none.
const newDerivation = "pbkdf2-sha256-600000"
