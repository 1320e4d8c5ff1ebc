package kopia

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/kopia/kopia/repo/blob"
	"github.com/minio/minio-go/v7"

	"github.com/retake-dev/retake/internal/platform/clock"
)

// Results of requests to a bucket.
const (
	resultOK       = "ok"
	resultMissing  = "missing"  // there is no such object, or not so much of it: an answer
	resultTimeout  = "timeout"  // no answer in time
	resultCanceled = "canceled" // whoever asked has gone
	resultError    = "error"
)

// Observer is called after each request to a bucket, with its retries: get, head, put, delete or
// list, its result and how long it took. It must not block.
type Observer func(operation, result string, took time.Duration)

// begin returns a function that reports the end of a request.
func (o Observer) begin(ctx context.Context, operation string) func(error) {
	if o == nil {
		return func(error) {}
	}
	begun := clock.Wall.Now()
	return func(err error) { o(operation, resultOf(ctx, err), clock.Wall.Now().Sub(begun)) }
}

func resultOf(ctx context.Context, err error) string {
	switch {
	case err == nil, httpStatus(err) == http.StatusPreconditionFailed: // a condition is ours
		return resultOK
	case isAnswer(err) || isMissingObject(err):
		return resultMissing
	case errors.Is(context.Cause(ctx), errNoResponse), errors.Is(err, context.DeadlineExceeded), errors.Is(ctx.Err(), context.DeadlineExceeded):
		return resultTimeout
	case ctx.Err() != nil:
		return resultCanceled
	}
	return resultError
}

// isMissingObject reports whether the bucket is there and the object is not.
func isMissingObject(err error) bool {
	r := responseOf(err)
	return r.StatusCode == http.StatusNotFound && r.Code != minio.NoSuchBucket
}

// observedBlobs is the engine's client for a bucket, whose requests are reported.
type observedBlobs struct {
	blob.Storage
	observe Observer
}

func (s observedBlobs) PutBlob(ctx context.Context, id blob.ID, data blob.Bytes, opts blob.PutOptions) error {
	end := s.observe.begin(ctx, "put")
	err := s.Storage.PutBlob(ctx, id, data, opts)
	end(err)
	return err
}

func (s observedBlobs) GetBlob(ctx context.Context, id blob.ID, offset, length int64, out blob.OutputBuffer) error {
	end := s.observe.begin(ctx, "get")
	err := s.Storage.GetBlob(ctx, id, offset, length, out)
	end(err)
	return err
}

func (s observedBlobs) GetMetadata(ctx context.Context, id blob.ID) (blob.Metadata, error) {
	end := s.observe.begin(ctx, "head")
	m, err := s.Storage.GetMetadata(ctx, id)
	end(err)
	return m, err
}

func (s observedBlobs) DeleteBlob(ctx context.Context, id blob.ID) error {
	end := s.observe.begin(ctx, "delete")
	err := s.Storage.DeleteBlob(ctx, id)
	end(err)
	return err
}

func (s observedBlobs) ListBlobs(ctx context.Context, prefix blob.ID, cb func(blob.Metadata) error) error {
	end := s.observe.begin(ctx, "list")
	err := s.Storage.ListBlobs(ctx, prefix, cb)
	end(err)
	return err
}
