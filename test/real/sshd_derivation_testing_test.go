//go:build ssh && !s3 && testing

package real_test

const derivation = "testing-only-insecure"
