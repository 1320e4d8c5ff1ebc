//go:build s3 && !testing

package real_test

// derivation is as users have it. With the tag testing it costs nothing.
const derivation = ""
