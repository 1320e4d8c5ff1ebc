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
	patience = 15 * time.Second
	maxWaits = 40 // times patience, for one transfer
)

// size is how much a request carries.
type size bool

const (
	small size = false
	large size = true
)

func sized(bytes int64) size { return size(bytes < 0 || bytes > 1<<20) }

var errSilent = errors.New("it does not answer")

// within does one request, and makes of what the bucket did not answer retake.Away. The
// engine tries again what a save could not put, several times over, so after a silence
// only a bucket that answers a small question is asked for more.
func (b *bucket) within(ctx context.Context, much size, do func(context.Context) error) error {
	if b.silent.Load() && !b.answers(ctx, b.patience/10) && ctx.Err() == nil {
		return away(errSilent)
	}
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go b.watch(inner, stop, much)
	err := do(inner)
	switch {
	case err == nil || answered(err):
		b.silent.Store(false)
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(context.Cause(inner), errSilent):
		b.silent.Store(true)
		return away(errSilent)
	}
	return away(err)
}

func away(err error) error {
	return &retake.Error{Kind: retake.Away, What: "the bucket cannot be reached", Hint: "look at its endpoint, its name and its keys", Err: err}
}

func (b *bucket) watch(ctx context.Context, stop context.CancelCauseFunc, much size) {
	t := time.NewTicker(b.patience)
	defer t.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if much == small || n >= maxWaits || !b.answers(ctx, b.patience/3) {
			stop(errSilent)
			return
		}
	}
}

// answers asks for a blob that is always there.
func (b *bucket) answers(ctx context.Context, in time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, in)
	defer cancel()
	_, err := b.st.GetMetadata(ctx, format.KopiaRepositoryBlobID)
	return err == nil || answered(err)
}

// answered: the bucket spoke, and what it said is not trouble of its own.
func answered(err error) bool {
	return errors.Is(err, blob.ErrBlobNotFound) || errors.Is(err, blob.ErrInvalidRange)
}
