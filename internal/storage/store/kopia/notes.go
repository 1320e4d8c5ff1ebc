package kopia

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/retake-dev/retake/internal/platform/clock"
)

const (
	maxNote       = 64 << 10
	noteRetention = 400 * 24 * time.Hour // in a bucket with object lock
)

// PutOnce puts a small object beside the stores of a bucket, unless there is one with this name. In
// a bucket with object lock nobody can delete or replace it for noteRetention.
func (b *Bucket) PutOnce(ctx context.Context, name string, text []byte) error {
	c, err := b.newClient()
	if err != nil {
		return err
	}
	opts := minio.PutObjectOptions{ContentType: "application/json", DisableMultipart: true, SendContentMd5: true}
	opts.SetMatchETagExcept("*")
	if lock, _, _, _, err := c.GetObjectLockConfig(ctx, b.Name); err == nil && lock == "Enabled" {
		opts.Mode, opts.RetainUntilDate = minio.Compliance, clock.Wall.Now().Add(noteRetention)
	}
	_, err = c.PutObject(ctx, b.Name, b.pathOf(name), bytes.NewReader(text), int64(len(text)), opts)
	if err == nil || httpStatus(err) == http.StatusPreconditionFailed {
		return nil
	}
	if _, missing := c.StatObject(ctx, b.Name, b.pathOf(name), minio.StatObjectOptions{}); missing != nil { // a lock refuses before the condition does
		return fmt.Errorf("put %s into bucket %s: %w", name, b.Name, err)
	}
	return nil
}

// Last returns the object with the highest name among those that begin with prefix, or nil if there
// is none.
func (b *Bucket) Last(ctx context.Context, prefix string) (name string, text []byte, err error) {
	c, err := b.newClient()
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(ctx) // ends the listing after an error
	defer cancel()
	for o := range c.ListObjects(ctx, b.Name, minio.ListObjectsOptions{Prefix: b.pathOf(prefix), Recursive: true}) {
		if o.Err != nil {
			return "", nil, fmt.Errorf("list %s of bucket %s: %w", prefix, b.Name, o.Err)
		}
		name = max(name, o.Key[len(b.pathOf("")):])
	}
	if name == "" {
		return "", nil, nil
	}
	o, err := c.GetObject(ctx, b.Name, b.pathOf(name), minio.GetObjectOptions{})
	if err != nil {
		return "", nil, fmt.Errorf("read %s of bucket %s: %w", name, b.Name, err)
	}
	defer o.Close() //nolint:errcheck // only read
	if text, err = io.ReadAll(io.LimitReader(o, maxNote)); err != nil {
		return "", nil, fmt.Errorf("read %s of bucket %s: %w", name, b.Name, err)
	}
	return name, text, nil
}
