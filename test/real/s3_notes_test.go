//go:build s3

package real_test

import (
	"bytes"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/test/real"
)

// What is put once is not replaced, the lowest name is found, and with object lock nobody deletes it.
func TestNotesInS3(t *testing.T) {
	t.Parallel()
	s := real.StartS3(t)
	c, err := minio.New(s.Endpoint, &minio.Options{Creds: credentials.NewStaticV4(s.AccessKey, s.SecretKey, ""), Region: s.Region})
	must(t, err)
	must(t, c.MakeBucket(t.Context(), "locked", minio.MakeBucketOptions{Region: s.Region, ObjectLocking: true}))
	for _, name := range []string{s.Name, "locked"} {
		b := &kopia.Bucket{Endpoint: s.Endpoint, Region: s.Region, Name: name, Prefix: "one", AccessKey: s.AccessKey, SecretKey: s.SecretKey, Insecure: true}
		if at, text, err := b.First(t.Context(), "anchors/a/"); err != nil || at != "" || text != nil {
			t.Fatalf("%s: %q %q %v", name, at, text, err)
		}
		for _, put := range [][2]string{{"anchors/a/002", "two"}, {"anchors/a/010", "ten"}, {"anchors/a/009", "nine"}, {"anchors/a/002", "another two"}, {"anchors/ab/900", "of another"}} {
			must(t, b.PutOnce(t.Context(), put[0], []byte(put[1])))
		}
		at, text, err := b.First(t.Context(), "anchors/a/")
		if err != nil || at != "anchors/a/002" || !bytes.Equal(text, []byte("two")) {
			t.Errorf("%s: %q %q %v", name, at, text, err)
		}
	}
	must(t, c.RemoveObject(t.Context(), s.Name, "one/anchors/a/010", minio.RemoveObjectOptions{}))
	if err := c.RemoveObject(t.Context(), "locked", "one/anchors/a/010", minio.RemoveObjectOptions{}); err == nil {
		t.Error("a locked object is removed")
	}
}
