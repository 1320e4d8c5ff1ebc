//go:build testing

package daemon_test

const derivation = "testing-only-insecure"
