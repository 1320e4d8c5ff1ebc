package kopia

import (
	"context"
	"errors"
	"time"

	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/format"

	"github.com/retake-dev/retake"
)

// How long a bucket may be silent. The client below repeats what goes wrong, for a minute or
// more; it is stopped after patience. Large transfers may take longer, as long as the bucket
// answers a small question meanwhile, in a third of it, but not forever.
const (
	responseTimeout = 15 * time.Second
	maxWaits        = 40 // times patience, for one transfer
)

// requestSize is how much data a request transfers.
type requestSize bool

const (
	smallRequest requestSize = false
	largeRequest requestSize = true
)

func requestSizeOf(bytes int64) requestSize { return requestSize(bytes < 0 || bytes > 1<<20) }

var errNoResponse = errors.New("it does not answer")

// doRequest makes one request and turns a missing answer into retake.Away. The engine retries
// a failed put several times, so after a timeout further requests are made only if the bucket
// answers a small one.
func (b *bucket) doRequest(ctx context.Context, much requestSize, do func(context.Context) error) error {
	if b.unresponsive.Load() && !b.isResponding(ctx, b.timeout/10) && ctx.Err() == nil {
		return awayError(errNoResponse)
	}
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go b.watchRequest(inner, stop, much)
	err := do(inner)
	switch {
	case err == nil || isAnswer(err):
		b.unresponsive.Store(false)
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(context.Cause(inner), errNoResponse):
		b.unresponsive.Store(true)
		return awayError(errNoResponse)
	}
	return awayError(err)
}

func awayError(err error) error {
	return &retake.Error{Kind: retake.Away, What: "the bucket cannot be reached", Hint: "look at its endpoint, its name and its keys", Err: err}
}

// watchRequest cancels a request that takes too long. A large transfer may continue as long as
// the bucket answers small requests.
func (b *bucket) watchRequest(ctx context.Context, stop context.CancelCauseFunc, much requestSize) {
	t := time.NewTicker(b.timeout)
	defer t.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if much == smallRequest || n >= maxWaits || !b.isResponding(ctx, b.timeout/3) {
			stop(errNoResponse)
			return
		}
	}
}

// isResponding asks for a blob that always exists.
func (b *bucket) isResponding(ctx context.Context, in time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, in)
	defer cancel()
	_, err := b.client.GetMetadata(ctx, format.KopiaRepositoryBlobID)
	return err == nil || isAnswer(err)
}

// isAnswer reports whether the bucket answered, with something that is not an error of its
// own.
func isAnswer(err error) bool {
	return errors.Is(err, blob.ErrBlobNotFound) || errors.Is(err, blob.ErrInvalidRange)
}
