//go:build testing

package main

// derivation is the engine's own for tests: it costs nothing.
const derivation = "testing-only-insecure"
