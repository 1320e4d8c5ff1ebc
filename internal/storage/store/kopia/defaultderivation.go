//go:build !testing

package kopia

const defaultDerivation = UserDerivation
