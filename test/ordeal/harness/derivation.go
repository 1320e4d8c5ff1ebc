//go:build !testing

package harness

const Derivation = "" // as shipped
