//go:build testing

package demo_test

const derivation = "testing-only-insecure"
