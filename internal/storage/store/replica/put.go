package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"
)

const (
	maxTries = 6
	firstGap = 500 * time.Millisecond // between two tries; it doubles
	slowest  = 32 << 10               // bytes per second; a slower put is given up
	minWait  = time.Minute
)

// retry calls f until it succeeds, as long as trying again makes sense.
func (r *Replica) retry(ctx context.Context, f func() error) error {
	gap := firstGap
	for try := 1; ; try++ {
		err := f()
		if err == nil || errors.Is(err, ErrMissing) || errors.Is(err, ErrExists) || ctx.Err() != nil || try == maxTries {
			return err
		}
		if err := r.opts.Pause(ctx, gap); err != nil {
			return err
		}
		gap *= 2
	}
}

// patientPlace tries again what may be tried again. Put is not: see Replica.put.
type patientPlace struct {
	Place
	r *Replica
}

func (p patientPlace) Get(ctx context.Context, name string, offset, length int64) (out []byte, err error) {
	err = p.r.retry(ctx, func() error {
		limit, cancel := context.WithTimeout(ctx, minWait+timeFor(max(length, maxHead)))
		defer cancel()
		out, err = p.Place.Get(limit, name, offset, length)
		return err
	})
	return out, err
}

func (p patientPlace) List(ctx context.Context, prefix string) (out []Object, err error) {
	err = p.r.retry(ctx, func() error {
		out, err = p.Place.List(ctx, prefix)
		return err
	})
	return out, err
}

func (p patientPlace) Delete(ctx context.Context, name string) error {
	return p.r.retry(ctx, func() error { return p.Place.Delete(ctx, name) })
}

// put puts an object whose name nobody else uses. If an answer is lost, the object may be there when it is
// put again.
func (r *Replica) put(ctx context.Context, name string, data []byte) error {
	err := r.retry(ctx, func() error { return r.putOnce(ctx, name, data) })
	if errors.Is(err, ErrExists) {
		return r.checkIsOurs(ctx, name, data)
	}
	return wrapPut(name, err)
}

// timeFor is how long the transfer of n bytes may take.
func timeFor(n int64) time.Duration { return time.Duration(n/slowest) * time.Second }

func wrapPut(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("put %s: %w", name, err)
}

func (r *Replica) putOnce(ctx context.Context, name string, data []byte) error {
	if err := r.limit.wait(ctx, len(data)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, minWait+timeFor(int64(len(data))))
	defer cancel()
	return r.opts.Place.Put(ctx, name, data)
}

// checkIsOurs returns nil if an object that was there already is the one that was to be put.
func (r *Replica) checkIsOurs(ctx context.Context, name string, data []byte) error {
	there, err := r.opts.Place.Get(ctx, name, 0, -1)
	switch {
	case err != nil:
		return wrapPut(name, err)
	case bytes.Equal(there, data):
		return nil
	case strings.HasPrefix(name, headPrefix):
		return ErrOtherWriter
	}
	return fmt.Errorf("put %s: the place has another object of that name", name)
}

// get reads a part of an object. Indexes are read once.
func (r *Replica) get(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	key := cacheKey(name, offset)
	if b, ok := r.fresh[key]; ok && int64(len(b)) == length {
		return b, nil
	}
	if b, ok := r.readCached(key, length); ok {
		return b, nil
	}
	b, err := r.opts.Place.Get(ctx, name, offset, length)
	if err == nil {
		r.writeCached(key, b)
	}
	return b, err
}

// keep remembers an index that is being put.
func (r *Replica) keep(x Index, data []byte) {
	name := x.Pack
	if name == "" {
		name = x.Name
	}
	key := cacheKey(name, x.Offset)
	if !r.writeCached(key, data) {
		r.fresh[key] = bytes.Clone(data)
	}
}

func cacheKey(name string, offset int64) string { return fmt.Sprintf("%s.%d", name, offset) }

// readCached reads a cached index. It is encrypted and signed as it is at the place, so that a damaged one
// is noticed when it is used.
func (r *Replica) readCached(key string, length int64) ([]byte, bool) {
	if r.opts.Cache == nil || length < 0 {
		return nil, false
	}
	f, err := r.opts.Cache.OpenFile(key)
	if err != nil {
		return nil, false
	}
	defer f.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(f, length+1))
	return b, err == nil && int64(len(b)) == length
}

// writeCached caches an index if it can. It reports whether it did.
func (r *Replica) writeCached(key string, data []byte) bool {
	if r.opts.Cache == nil {
		return false
	}
	f, err := r.opts.Cache.Create(key, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return true
	}
	if err != nil {
		return false
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = r.opts.Cache.Remove(key) // it is only a cache
	}
	return err == nil
}

// dropCached removes the indexes from the cache that a head does not name.
func (r *Replica) dropCached(h *Head) {
	used := map[string]bool{}
	for _, x := range h.Indexes {
		name := x.Pack
		if name == "" {
			name = x.Name
		}
		used[cacheKey(name, x.Offset)] = true
	}
	for key := range r.fresh {
		if !used[key] {
			delete(r.fresh, key)
		}
	}
	if r.opts.Cache == nil {
		return
	}
	names, err := r.opts.Cache.Names()
	if err != nil {
		return
	}
	for _, name := range names {
		if !used[name] {
			_ = r.opts.Cache.Remove(name) // it is only a cache
		}
	}
}

// limiter spreads bytes over time.
type limiter struct {
	rate  int64
	now   func() time.Time
	pause func(context.Context, time.Duration) error

	mu   sync.Mutex
	next time.Time // guarded by mu; when what was let through is done
}

// wait waits until n bytes may go.
func (l *limiter) wait(ctx context.Context, n int) error {
	if l.rate <= 0 {
		return ctx.Err()
	}
	l.mu.Lock()
	now := l.now()
	if l.next.Before(now) {
		l.next = now
	}
	d := l.next.Sub(now)
	l.next = l.next.Add(time.Duration(float64(n) / float64(l.rate) * float64(time.Second)))
	l.mu.Unlock()
	if d <= 0 {
		return ctx.Err()
	}
	return l.pause(ctx, d)
}
