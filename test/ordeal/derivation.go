//go:build !testing

package main

const derivation = "" // as shipped
