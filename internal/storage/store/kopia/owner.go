package kopia

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	ownerName = "owner" // the object, beside all stores of a bucket, that says whose they are
	maxOwner  = 256     // more than the name of an owner has
)

// Owner returns the owner of the stores in a bucket, or "" if there is none yet.
func (b *Bucket) Owner(ctx context.Context) (string, error) {
	c, err := b.newClient()
	if err != nil {
		return "", err
	}
	return b.readOwner(ctx, c)
}

// Claim makes owner the owner of the stores in a bucket unless they have one, and returns the
// owner. The object store decides between concurrent claims. With force the claim replaces
// another one.
func (b *Bucket) Claim(ctx context.Context, owner string, force bool) (string, error) {
	c, err := b.newClient()
	if err != nil {
		return "", err
	}
	if !force { // an object store that knows no conditions must not replace what is there
		if is, err := b.readOwner(ctx, c); err != nil || is != "" {
			return is, err
		}
	}
	opts := minio.PutObjectOptions{ContentType: "text/plain", DisableMultipart: true, SendContentMd5: true}
	if !force {
		opts.SetMatchETagExcept("*")
	}
	end := b.Observe.begin(ctx, "put")
	_, err = c.PutObject(ctx, b.Name, b.ownerPath(), strings.NewReader(owner), int64(len(owner)), opts)
	end(err)
	if err != nil && httpStatus(err) != http.StatusPreconditionFailed {
		return "", fmt.Errorf("put the owner of bucket %s: %w", b.Name, err)
	}
	return b.readOwner(ctx, c)
}

func (b *Bucket) readOwner(ctx context.Context, c *minio.Client) (string, error) {
	text, err := b.readObject(ctx, c, b.ownerPath(), maxOwner)
	if isMissingObject(err) { // a bucket that is gone has no owner either, and is an error
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the owner of bucket %s: %w", b.Name, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// readObject reads the first bytes of an object.
func (b *Bucket) readObject(ctx context.Context, c *minio.Client, path string, limit int64) (text []byte, err error) {
	end := b.Observe.begin(ctx, "get")
	defer func() { end(err) }()
	o, err := c.GetObject(ctx, b.Name, path, minio.GetObjectOptions{})
	if err != nil {
		return nil, err
	}
	defer o.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(o, limit))
}

func (b *Bucket) ownerPath() string { return b.pathOf(ownerName) }

// pathOf returns the key of an object that lies beside the stores of a bucket.
func (b *Bucket) pathOf(name string) string {
	if b.Prefix == "" || strings.HasSuffix(b.Prefix, "/") {
		return b.Prefix + name
	}
	return b.Prefix + "/" + name
}

// newClient returns the engine's own client library, for operations that the engine does not
// offer.
func (b *Bucket) newClient() (*minio.Client, error) {
	region := b.Region
	if region == "" {
		region = defaultRegion
	}
	c, err := minio.New(b.Endpoint, &minio.Options{Creds: credentials.NewStaticV4(b.AccessKey, b.SecretKey, ""), Secure: !b.Insecure, Region: region})
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", b.Name, err)
	}
	return c, nil
}

func httpStatus(err error) int { return responseOf(err).StatusCode }

// responseOf returns the error that a bucket answered with; it is empty if there was no answer.
func responseOf(err error) (r minio.ErrorResponse) {
	errors.As(err, &r)
	return r
}
