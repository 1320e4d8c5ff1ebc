package xray

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// Child is a process that serves, with its two pipes. Close ends it at once and wakes
// whoever waits for it; its error tells how it ended.
type Child interface {
	io.Reader
	io.Writer
	Close() error
}

// How long things may take.
const (
	eachTime = 2 * time.Second
	allTime  = 20 * time.Second
	idleTime = 10 * time.Second
)

// A child is replaced after so much, so that what one file left behind in it is not there
// for ever.
const (
	maxFiles = 500
	maxSent  = 512 * mega
)

// Pool reads files in a child. It has at most one, starts it when there is something to
// read, and ends it when nothing was read for a while.
type Pool struct {
	// Key makes digests of values that no one else can compare. It must stay the same as
	// long as readings are kept, and be set before the first reading.
	Key []byte

	start           func(ctx context.Context) (Child, error)
	each, all, idle time.Duration
	gate            chan struct{} // holds one while nobody is inside
	child           *session      // guarded by gate
	timer           *time.Timer   // guarded by gate
}

// NewPool starts children with start.
func NewPool(start func(ctx context.Context) (Child, error)) *Pool {
	p := &Pool{start: start, each: eachTime, all: allTime, idle: idleTime, gate: make(chan struct{}, 1)}
	p.leave()
	return p
}

// session is a child and what it did.
type session struct {
	child Child
	out   *bufio.Writer // a small file goes in one piece
	buf   []byte
	files int
	sent  int64
}

// Close ends the child.
func (p *Pool) Close() error {
	<-p.gate
	defer p.leave()
	_ = p.end() // how it ended is nothing to anybody
	return nil
}

// enter waits until nobody else is inside.
func (p *Pool) enter(ctx context.Context) error {
	select {
	case <-p.gate:
	case <-ctx.Done():
		return fmt.Errorf("wait for the reader: %w", ctx.Err())
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	return nil
}

func (p *Pool) leave() { p.gate <- struct{}{} }

// end ends the child; the caller is inside.
func (p *Pool) end() (err error) {
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.child != nil {
		err = p.child.child.Close()
		p.child = nil
	}
	return err
}

// Read answers the asks in their order. What cannot be read says why; an error means that
// no child could be started, or that the context ended.
func (p *Pool) Read(ctx context.Context, asks []Ask) ([]Reading, error) {
	if err := p.enter(ctx); err != nil {
		return nil, err
	}
	defer p.leave()
	defer p.rest()
	all, stop := context.WithTimeout(ctx, p.all)
	defer stop()
	readings := make([]Reading, len(asks))
	for i := 0; i < len(asks); {
		n := p.together(all, asks[i:], readings[i:])
		if n == 0 {
			var err error
			if readings[i], err = p.one(all, asks[i]); err != nil && all.Err() == nil {
				return nil, err
			}
			n = 1
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("read files: %w", ctx.Err())
		}
		for ; n > 0; n, i = n-1, i+1 {
			readings[i].settle(all)
		}
	}
	return readings, nil
}

// settle makes a reading what everybody expects of one; all bounds the time of it.
func (r *Reading) settle(all context.Context) {
	if all.Err() != nil && r.Why != "" {
		r.Why = string(noTime)
	}
	if r.Traits == nil {
		r.Traits = []retake.Trait{}
	}
}

// rest lets the child wait for more, for a while; the caller is inside.
func (p *Pool) rest() {
	if p.child == nil {
		return
	}
	mine := p.child
	p.timer = time.AfterFunc(p.idle, func() {
		<-p.gate
		defer p.leave()
		if p.child == mine {
			_ = p.end()
		}
	})
}

// one answers one ask, by itself if no child is needed for that.
func (p *Pool) one(ctx context.Context, a Ask) (Reading, error) {
	r, ok := find(a.Reader)
	switch {
	case !ok:
		return Reading{Why: string(unknown)}, nil
	case r.look != nil:
		return Reading{Traits: r.look(a.Path, a.Entry)}, nil
	case a.Entry.Size > r.limit:
		return Reading{Why: string(tooLarge(a.Entry.Size))}, nil
	case ctx.Err() != nil:
		return Reading{Why: string(noTime)}, nil
	case r.magic != "":
		if ok, err := beginsWith(ctx, r.magic, a); err != nil {
			return Reading{Why: err.Error()}, nil
		} else if !ok {
			return Reading{}, nil
		}
	}
	return p.try(ctx, r, a)
}

// try asks the child.
func (p *Pool) try(ctx context.Context, r reader, a Ask) (Reading, error) {
	var reading Reading
	w, err := p.served(ctx, func() (err error) {
		reading, err = p.exchange(ctx, r, a)
		return err
	})
	if w != "" || err != nil {
		return Reading{Why: string(w)}, err
	}
	return reading, nil
}

// served has the child do one exchange, and says what went wrong with it. A child that
// served before may have ended for reasons of its own, so a new one is asked before the
// file is blamed. Whatever goes wrong, the child is not used again.
func (p *Pool) served(ctx context.Context, exchange func() error) (why, error) {
	for {
		fresh, err := p.ready(ctx)
		if err != nil {
			return brokeOff, err
		}
		if err = exchange(); err == nil {
			return "", nil
		}
		if ended := p.end(); errors.Is(ended, proc.ErrMemory) && !errors.Is(err, tooSlow) {
			return tooHungry, nil
		}
		var w why
		if errors.As(err, &w) {
			return w, nil
		}
		if fresh || ctx.Err() != nil {
			return brokeOff, nil
		}
	}
}

// ready makes sure that there is a child, and reports whether it is new; the caller is inside.
func (p *Pool) ready(ctx context.Context) (fresh bool, err error) {
	if p.child != nil && (p.child.files >= maxFiles || p.child.sent >= maxSent) {
		_ = p.end()
	}
	if p.child != nil {
		return false, nil
	}
	c, err := p.start(ctx)
	if err != nil {
		return false, fmt.Errorf("start a reader: %w", err)
	}
	p.child = &session{child: c, out: bufio.NewWriterSize(c, maxChunk), buf: make([]byte, maxChunk)}
	_ = p.limited(ctx, func() error { return writeFrame(p.child.out, p.Key) }) // it says more when it is asked
	return true, nil
}

// limited runs one exchange with the child, which is ended when it takes too long.
func (p *Pool) limited(ctx context.Context, f func() error) error {
	c := p.child.child
	var late atomic.Bool
	timer := time.AfterFunc(p.each, func() { late.Store(true); _ = c.Close() })
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	err := f()
	stop()
	if !timer.Stop() && late.Load() {
		return tooSlow
	}
	return err
}

func (p *Pool) exchange(ctx context.Context, r reader, a Ask) (Reading, error) {
	s := p.child
	s.files++
	if err := p.limited(ctx, func() error { return writeFrame(s.out, []byte(r.name)) }); err != nil {
		return Reading{}, err
	}
	refused, err := p.send(ctx, r.limit, a.Open, a.Log)
	if err != nil {
		return Reading{}, err
	}
	if err := p.limited(ctx, s.out.Flush); err != nil {
		return Reading{}, err
	}
	got, err := p.answer(ctx, s)
	if err != nil {
		return Reading{}, err
	}
	if got.Last {
		_ = p.end()
	}
	if refused != "" {
		return Reading{Why: string(refused)}, nil
	}
	return got.Reading, nil
}

// send sends the bytes of a file, and those of its log. What cannot be opened or is longer
// than it said is refused, and the child is told that no more comes.
func (p *Pool) send(ctx context.Context, limit int64, open, log opener) (refused why, err error) {
	if refused, err = p.stream(ctx, limit, open); err != nil || refused != "" {
		return refused, err
	}
	if log != nil {
		return p.stream(ctx, limit, log)
	}
	return "", p.limited(ctx, func() error { return writeFrame(p.child.out, nil) })
}

// opener opens the bytes of a file.
type opener = func(context.Context) (io.ReadCloser, error)

func (p *Pool) stream(ctx context.Context, limit int64, open opener) (refused why, err error) {
	buf := p.child.buf
	f, err := open(ctx)
	if err != nil {
		return noBytes, p.limited(ctx, func() error { return writeGone(p.child.out) })
	}
	defer f.Close() //nolint:errcheck // it was read
	for size := int64(0); ; {
		n, err := io.ReadFull(f, buf)
		size += int64(n)
		p.child.sent += int64(n)
		end := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		switch {
		case size > limit:
			return tooLarge(size), p.limited(ctx, func() error { return writeGone(p.child.out) })
		case err != nil && !end:
			return noBytes, p.limited(ctx, func() error { return writeGone(p.child.out) })
		}
		if n > 0 {
			if err := p.limited(ctx, func() error { return writeFrame(p.child.out, buf[:n]) }); err != nil {
				return "", err
			}
		}
		if end {
			return "", p.limited(ctx, func() error { return writeFrame(p.child.out, nil) })
		}
	}
}

// beginsWith reports whether a file begins as those of a reader do.
func beginsWith(ctx context.Context, magic string, a Ask) (bool, error) {
	f, err := a.Open(ctx)
	if err != nil {
		return false, noBytes
	}
	defer f.Close() //nolint:errcheck // it was read
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, noBytes
	}
	return string(head) == magic, nil
}
