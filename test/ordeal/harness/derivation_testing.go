//go:build testing

package harness

// Derivation is the engine's own for tests: it costs nothing.
const Derivation = "testing-only-insecure"
