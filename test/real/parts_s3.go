//go:build s3

package real

import (
	"testing"

	"github.com/retake-dev/retake/test/parts"
)

// S3 is a versitygw of one test, with one empty bucket.
type S3 = parts.S3

// StartS3 starts a server that ends with the test, or with the process, however that ends.
func StartS3(t testing.TB) *S3 {
	t.Helper()
	s, err := parts.StartS3(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}
