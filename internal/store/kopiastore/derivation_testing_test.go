//go:build testing

package kopiastore_test

const derivation = "testing-only-insecure"
