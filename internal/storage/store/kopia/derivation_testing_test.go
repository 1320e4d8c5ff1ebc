//go:build testing

package kopia_test

const derivation = "testing-only-insecure"

const newDerivation = "testing-only-insecure"
