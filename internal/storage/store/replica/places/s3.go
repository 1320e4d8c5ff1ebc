package places

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// S3 says where a bucket is. It must be strongly consistent.
type S3 struct {
	Endpoint  string // host, or host:port
	Region    string // "": us-east-1
	Bucket    string
	Prefix    string // of all names; a "/" is added if it does not end so
	AccessKey string
	SecretKey string
	Insecure  bool // http
}

type bucket struct {
	client *minio.Client
	at     S3
}

var _ replica.Place = (*bucket)(nil)

// OpenS3 returns the place in a bucket. The engine's client is not used here: it cannot put under a
// condition. This one tries each request once, since who puts decides what is tried again.
func OpenS3(at S3) (replica.Place, error) {
	if at.Region == "" {
		at.Region = "us-east-1" // the client would ask for it before everything else
	}
	if at.Prefix != "" && !strings.HasSuffix(at.Prefix, "/") {
		at.Prefix += "/"
	}
	c, err := minio.New(at.Endpoint, &minio.Options{
		Creds: credentials.NewStaticV4(at.AccessKey, at.SecretKey, ""), Secure: !at.Insecure, Region: at.Region, MaxRetries: 1,
	})
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", at.Bucket, err)
	}
	return &bucket{c, at}, nil
}

// Put makes an object in one request, on the condition that there is none.
func (b *bucket) Put(ctx context.Context, name string, data []byte) error {
	opts := minio.PutObjectOptions{ContentType: "application/octet-stream", DisableMultipart: true, SendContentMd5: true}
	opts.SetMatchETagExcept("*")
	_, err := b.client.PutObject(ctx, b.at.Bucket, b.at.Prefix+name, bytes.NewReader(data), int64(len(data)), opts)
	switch statusOf(err) {
	case http.StatusPreconditionFailed:
		return replica.ErrExists
	case http.StatusForbidden: // some say so of an object that is locked
		if _, serr := b.client.StatObject(ctx, b.at.Bucket, b.at.Prefix+name, minio.StatObjectOptions{}); serr == nil {
			return replica.ErrExists
		}
	}
	return denied(err)
}

// denied marks an error that says that our keys do not do.
func denied(err error) error {
	if s := statusOf(err); s == http.StatusForbidden || s == http.StatusUnauthorized {
		return errors.Join(replica.ErrDenied, err)
	}
	return err
}

func (b *bucket) Get(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	var opts minio.GetObjectOptions
	var err error
	switch {
	case length == 0:
		return nil, nil
	case length > 0:
		err = opts.SetRange(offset, offset+length-1)
	case offset > 0:
		err = opts.SetRange(offset, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	o, err := b.client.GetObject(ctx, b.at.Bucket, b.at.Prefix+name, opts)
	if err != nil {
		return nil, missing(err)
	}
	defer o.Close() //nolint:errcheck // only read
	var out []byte
	if length > 0 {
		out = make([]byte, length)
		_, err = io.ReadFull(o, out)
	} else {
		out, err = io.ReadAll(o)
	}
	if err != nil {
		return nil, missing(err)
	}
	return out, nil
}

// missing marks an error that callers branch on.
func missing(err error) error {
	if r := responseOf(err); r.StatusCode == http.StatusNotFound && r.Code != minio.NoSuchBucket {
		return errors.Join(replica.ErrMissing, err)
	}
	return denied(err)
}

// List lists the names up to the next "/": deeper ones belong to others.
func (b *bucket) List(ctx context.Context, prefix string) ([]replica.Object, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var out []replica.Object
	for o := range b.client.ListObjects(ctx, b.at.Bucket, minio.ListObjectsOptions{Prefix: b.at.Prefix + prefix}) {
		if o.Err != nil {
			return nil, denied(o.Err)
		}
		if !strings.HasSuffix(o.Key, "/") {
			out = append(out, replica.Object{Name: strings.TrimPrefix(o.Key, b.at.Prefix), Size: o.Size, Since: o.LastModified})
		}
	}
	return out, nil
}

func (b *bucket) Delete(ctx context.Context, name string) error {
	return denied(b.client.RemoveObject(ctx, b.at.Bucket, b.at.Prefix+name, minio.RemoveObjectOptions{}))
}

// probeName is an object that is put twice, to see whether the second put is refused. It stays.
const probeName = "retake.probe"

// Traits asks whether the bucket refuses to replace an object, keeps older versions, and for how long nobody
// can delete one. Some servers take a condition and ignore it, so it is tried. A server that does not know
// the other questions, or does not answer them to keys that may only write, promises neither.
func (b *bucket) Traits(ctx context.Context) (out replica.Traits, err error) {
	for range 2 {
		if err = b.Put(ctx, probeName, []byte("probe\n")); err != nil && !errors.Is(err, replica.ErrExists) {
			return out, fmt.Errorf("try a condition in bucket %s: %w", b.at.Bucket, err)
		}
	}
	out.Refuses = errors.Is(err, replica.ErrExists)
	v, err := b.client.GetBucketVersioning(ctx, b.at.Bucket)
	if err != nil && !isUnknown(err) {
		return out, fmt.Errorf("ask bucket %s for versions: %w", b.at.Bucket, err)
	}
	out.Versioned = v.Enabled()
	_, mode, validity, unit, err := b.client.GetObjectLockConfig(ctx, b.at.Bucket)
	switch {
	case err != nil && !isUnknown(err):
		return out, fmt.Errorf("ask bucket %s for its lock: %w", b.at.Bucket, err)
	case err != nil || mode == nil || validity == nil || unit == nil:
		return out, nil
	}
	out.Locked = time.Duration(*validity) * 24 * time.Hour //nolint:gosec // days
	if *unit == minio.Years {
		out.Locked *= 365
	}
	return out, nil
}

func isUnknown(err error) bool {
	r := responseOf(err)
	return r.StatusCode == http.StatusForbidden || r.Code == "ObjectLockConfigurationNotFoundError" || r.StatusCode == http.StatusNotImplemented || r.StatusCode == http.StatusNotFound && r.Code != minio.NoSuchBucket
}

func (b *bucket) Close() error { return nil }

func statusOf(err error) int { return responseOf(err).StatusCode }

func responseOf(err error) (r minio.ErrorResponse) {
	errors.As(err, &r)
	return r
}
