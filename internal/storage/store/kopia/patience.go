package kopia

import (
	"context"
	"errors"
	"time"

	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/format"

	"github.com/retake-dev/retake"
)

// How long a bucket may be silent. The client below repeats what goes wrong, for a minute
// or more; it is stopped after patience. Large transfers may take longer, as long as the
// bucket answers a small question meanwhile, in a third of it, but not for ever.
const (
	responseTimeout = 15 * time.Second
	maxWaits        = 40 // times patience, for one transfer
)

// requestSize is how much a request carries.
type requestSize bool

const (
	smallRequest requestSize = false
	largeRequest requestSize = true
)

func requestSizeOf(bytes int64) requestSize { return requestSize(bytes < 0 || bytes > 1<<20) }

var errNoResponse = errors.New("it does not answer")

// doRequest does one request, and makes of what the bucket did not answer retake.Away. The
// engine tries again what a save could not put, several times over, so after a silence
// only a bucket that answers a small question is asked for more.
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

// isResponding asks for a blob that is always there.
func (b *bucket) isResponding(ctx context.Context, in time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, in)
	defer cancel()
	_, err := b.client.GetMetadata(ctx, format.KopiaRepositoryBlobID)
	return err == nil || isAnswer(err)
}

// isAnswer: the bucket spoke, and what it said is not trouble of its own.
func isAnswer(err error) bool {
	return errors.Is(err, blob.ErrBlobNotFound) || errors.Is(err, blob.ErrInvalidRange)
}
