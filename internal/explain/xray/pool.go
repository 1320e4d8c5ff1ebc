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
	defaultFileTimeout  = 2 * time.Second
	defaultBatchTimeout = 20 * time.Second
	defaultIdleTimeout  = 10 * time.Second
)

// A child is replaced after so much, so that what one file left behind in it is not there
// for ever.
const (
	maxChildFiles = 500
	maxChildBytes = 512 * mega
)

// Pool reads files in a child. It has at most one, starts it when there is something to
// read, and ends it when nothing was read for a while.
type Pool struct {
	// Key makes digests of values that no one else can compare. It must stay the same as
	// long as readings are kept, and be set before the first reading.
	Key []byte

	startChild                             func(ctx context.Context) (Child, error)
	fileTimeout, batchTimeout, idleTimeout time.Duration
	sem                                    chan struct{} // holds one while nobody is inside
	child                                  *childSession // guarded by gate
	timer                                  *time.Timer   // guarded by gate
}

// NewPool starts children with start.
func NewPool(start func(ctx context.Context) (Child, error)) *Pool {
	p := &Pool{startChild: start, fileTimeout: defaultFileTimeout, batchTimeout: defaultBatchTimeout, idleTimeout: defaultIdleTimeout, sem: make(chan struct{}, 1)}
	p.release()
	return p
}

// childSession is a child and what it did.
type childSession struct {
	child     Child
	writer    *bufio.Writer // a small file goes in one piece
	buf       []byte
	filesSent int
	bytesSent int64
}

// Close ends the child.
func (p *Pool) Close() error {
	<-p.sem
	defer p.release()
	_ = p.endChild() // how it ended is nothing to anybody
	return nil
}

// acquire waits until nobody else is inside.
func (p *Pool) acquire(ctx context.Context) error {
	select {
	case <-p.sem:
	case <-ctx.Done():
		return fmt.Errorf("wait for the reader: %w", ctx.Err())
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	return nil
}

func (p *Pool) release() { p.sem <- struct{}{} }

// endChild ends the child; the caller is inside.
func (p *Pool) endChild() (err error) {
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
func (p *Pool) Read(ctx context.Context, asks []Request) ([]Reading, error) {
	if err := p.acquire(ctx); err != nil {
		return nil, err
	}
	defer p.release()
	defer p.startIdleTimer()
	all, stop := context.WithTimeout(ctx, p.batchTimeout)
	defer stop()
	readings := make([]Reading, len(asks))
	for i := 0; i < len(asks); {
		n := p.readBatch(all, asks[i:], readings[i:])
		if n == 0 {
			var err error
			if readings[i], err = p.readOne(all, asks[i]); err != nil && all.Err() == nil {
				return nil, err
			}
			n = 1
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("read files: %w", ctx.Err())
		}
		for ; n > 0; n, i = n-1, i+1 {
			readings[i].normalize(all)
		}
	}
	return readings, nil
}

// normalize makes a reading what everybody expects of one; all bounds the time of it.
func (r *Reading) normalize(all context.Context) {
	if all.Err() != nil && r.Why != "" {
		r.Why = string(reasonNoTimeLeft)
	}
	if r.Traits == nil {
		r.Traits = []retake.Trait{}
	}
}

// startIdleTimer lets the child wait for more, for a while; the caller is inside.
func (p *Pool) startIdleTimer() {
	if p.child == nil {
		return
	}
	mine := p.child
	p.timer = time.AfterFunc(p.idleTimeout, func() {
		<-p.sem
		defer p.release()
		if p.child == mine {
			_ = p.endChild()
		}
	})
}

// readOne answers one ask, by itself if no child is needed for that.
func (p *Pool) readOne(ctx context.Context, a Request) (Reading, error) {
	r, ok := findReader(a.Reader)
	switch {
	case !ok:
		return Reading{Why: string(reasonUnknownReader)}, nil
	case r.readEntry != nil:
		return Reading{Traits: r.readEntry(a.Path, a.Entry)}, nil
	case a.Entry.Size > r.limit:
		return Reading{Why: string(reasonTooLarge(a.Entry.Size))}, nil
	case ctx.Err() != nil:
		return Reading{Why: string(reasonNoTimeLeft)}, nil
	case r.magic != "":
		if ok, err := hasMagic(ctx, r.magic, a); err != nil {
			return Reading{Why: err.Error()}, nil
		} else if !ok {
			return Reading{}, nil
		}
	}
	return p.readInChild(ctx, r, a)
}

// readInChild asks the child.
func (p *Pool) readInChild(ctx context.Context, r reader, a Request) (Reading, error) {
	var reading Reading
	w, err := p.withChild(ctx, func() (err error) {
		reading, err = p.exchangeFile(ctx, r, a)
		return err
	})
	if w != "" || err != nil {
		return Reading{Why: string(w)}, err
	}
	return reading, nil
}

// withChild has the child do one exchange, and says what went wrong with it. A child that
// served before may have ended for reasons of its own, so a new one is asked before the
// file is blamed. Whatever goes wrong, the child is not used again.
func (p *Pool) withChild(ctx context.Context, exchange func() error) (failReason, error) {
	for {
		fresh, err := p.ensureChild(ctx)
		if err != nil {
			return reasonCrashed, err
		}
		if err = exchange(); err == nil {
			return "", nil
		}
		if ended := p.endChild(); errors.Is(ended, proc.ErrOutOfMemory) && !errors.Is(err, reasonTooSlow) {
			return reasonOutOfMemory, nil
		}
		var w failReason
		if errors.As(err, &w) {
			return w, nil
		}
		if fresh || ctx.Err() != nil {
			return reasonCrashed, nil
		}
	}
}

// ensureChild makes sure that there is a child, and reports whether it is new; the caller is inside.
func (p *Pool) ensureChild(ctx context.Context) (fresh bool, err error) {
	if p.child != nil && (p.child.filesSent >= maxChildFiles || p.child.bytesSent >= maxChildBytes) {
		_ = p.endChild()
	}
	if p.child != nil {
		return false, nil
	}
	c, err := p.startChild(ctx)
	if err != nil {
		return false, fmt.Errorf("start a reader: %w", err)
	}
	p.child = &childSession{child: c, writer: bufio.NewWriterSize(c, maxChunkSize), buf: make([]byte, maxChunkSize)}
	_ = p.withTimeout(ctx, func() error { return writeFrame(p.child.writer, p.Key) }) // it says more when it is asked
	return true, nil
}

// withTimeout runs one exchange with the child, which is ended when it takes too long.
func (p *Pool) withTimeout(ctx context.Context, f func() error) error {
	c := p.child.child
	var late atomic.Bool
	timer := time.AfterFunc(p.fileTimeout, func() { late.Store(true); _ = c.Close() })
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	err := f()
	stop()
	if !timer.Stop() && late.Load() {
		return reasonTooSlow
	}
	return err
}

func (p *Pool) exchangeFile(ctx context.Context, r reader, a Request) (Reading, error) {
	s := p.child
	s.filesSent++
	if err := p.withTimeout(ctx, func() error { return writeFrame(s.writer, []byte(r.name)) }); err != nil {
		return Reading{}, err
	}
	refused, err := p.sendFile(ctx, r.limit, a.Open, a.Log)
	if err != nil {
		return Reading{}, err
	}
	if err := p.withTimeout(ctx, s.writer.Flush); err != nil {
		return Reading{}, err
	}
	got, err := p.readAnswer(ctx, s)
	if err != nil {
		return Reading{}, err
	}
	if got.Last {
		_ = p.endChild()
	}
	if refused != "" {
		return Reading{Why: string(refused)}, nil
	}
	return got.Reading, nil
}

// sendFile sends the bytes of a file, and those of its log. What cannot be opened or is longer
// than it said is refused, and the child is told that no more comes.
func (p *Pool) sendFile(ctx context.Context, limit int64, open, log opener) (refused failReason, err error) {
	if refused, err = p.sendBytes(ctx, limit, open); err != nil || refused != "" {
		return refused, err
	}
	if log != nil {
		return p.sendBytes(ctx, limit, log)
	}
	return "", p.withTimeout(ctx, func() error { return writeFrame(p.child.writer, nil) })
}

// opener opens the bytes of a file.
type opener = func(context.Context) (io.ReadCloser, error)

func (p *Pool) sendBytes(ctx context.Context, limit int64, open opener) (refused failReason, err error) {
	buf := p.child.buf
	f, err := open(ctx)
	if err != nil {
		return reasonNoBytes, p.withTimeout(ctx, func() error { return writeAbort(p.child.writer) })
	}
	defer f.Close() //nolint:errcheck // it was read
	for size := int64(0); ; {
		n, err := io.ReadFull(f, buf)
		size += int64(n)
		p.child.bytesSent += int64(n)
		end := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		switch {
		case size > limit:
			return reasonTooLarge(size), p.withTimeout(ctx, func() error { return writeAbort(p.child.writer) })
		case err != nil && !end:
			return reasonNoBytes, p.withTimeout(ctx, func() error { return writeAbort(p.child.writer) })
		}
		if n > 0 {
			if err := p.withTimeout(ctx, func() error { return writeFrame(p.child.writer, buf[:n]) }); err != nil {
				return "", err
			}
		}
		if end {
			return "", p.withTimeout(ctx, func() error { return writeFrame(p.child.writer, nil) })
		}
	}
}

// hasMagic reports whether a file begins as those of a reader do.
func hasMagic(ctx context.Context, magic string, a Request) (bool, error) {
	f, err := a.Open(ctx)
	if err != nil {
		return false, reasonNoBytes
	}
	defer f.Close() //nolint:errcheck // it was read
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, reasonNoBytes
	}
	return string(head) == magic, nil
}
