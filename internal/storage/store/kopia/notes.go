package kopia

import (
	"bytes"
	"context"
	"fmt"
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
	put := func() error {
		end := b.Observe.begin(ctx, "put")
		_, err := c.PutObject(ctx, b.Name, b.pathOf(name), bytes.NewReader(text), int64(len(text)), opts)
		end(err)
		return err
	}
	if err = put(); opts.Mode != "" && httpStatus(err) == http.StatusForbidden { // the key may put, and not lock
		opts.Mode, opts.RetainUntilDate = "", time.Time{}
		err = put()
	}
	if err == nil || httpStatus(err) == http.StatusPreconditionFailed {
		return nil
	}
	if _, missing := c.StatObject(ctx, b.Name, b.pathOf(name), minio.StatObjectOptions{}); missing != nil { // a lock refuses before the condition does
		return fmt.Errorf("put %s into bucket %s: %w", name, b.Name, err)
	}
	return nil
}

// First returns the object with the lowest name among those that begin with prefix, or nil if there
// is none.
func (b *Bucket) First(ctx context.Context, prefix string) (name string, text []byte, err error) {
	c, err := b.newClient()
	if err != nil {
		return "", nil, err
	}
	listing, cancel := context.WithCancel(ctx) // ends it after the first
	defer cancel()
	end := b.Observe.begin(ctx, "list")
	first, ok := <-c.ListObjects(listing, b.Name, minio.ListObjectsOptions{Prefix: b.pathOf(prefix), Recursive: true, MaxKeys: 1})
	end(first.Err)
	if !ok {
		return "", nil, nil
	}
	if first.Err != nil {
		return "", nil, fmt.Errorf("list %s of bucket %s: %w", prefix, b.Name, first.Err)
	}
	name = first.Key[len(b.pathOf("")):]
	if text, err = b.readObject(ctx, c, b.pathOf(name), maxNote); err != nil {
		return "", nil, fmt.Errorf("read %s of bucket %s: %w", name, b.Name, err)
	}
	return name, text, nil
}
