//go:build testing

package assemble_test

const derivation = "testing-only-insecure"
