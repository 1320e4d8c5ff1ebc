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

// Child is a running reader process with its two pipes. Close ends it at once and unblocks
// pending reads and writes; its error says how the process ended.
type Child interface {
	io.Reader
	io.Writer
	Close() error
}

// Default time limits.
const (
	defaultFileTimeout  = 2 * time.Second
	defaultBatchTimeout = 20 * time.Second
	defaultIdleTimeout  = 10 * time.Second
)

// A child is replaced after this much work, so that whatever one file left behind in it
// does not stay for ever.
const (
	maxChildFiles = 500
	maxChildBytes = 512 * mega
)

// Pool reads files in a child process. It has at most one child, starts it on demand, and
// ends it when it was idle for a while.
type Pool struct {
	// Key makes digests of values that no one else can compare. It must stay the same as
	// long as readings are kept, and be set before the first reading.
	Key []byte

	startChild                             func(ctx context.Context) (Child, error)
	fileTimeout, batchTimeout, idleTimeout time.Duration
	sem                                    chan struct{} // holds a token while the child is free
	child                                  *childSession // guarded by gate
	timer                                  *time.Timer   // guarded by gate
}

// NewPool returns a pool that starts children with start.
func NewPool(start func(ctx context.Context) (Child, error)) *Pool {
	p := &Pool{startChild: start, fileTimeout: defaultFileTimeout, batchTimeout: defaultBatchTimeout, idleTimeout: defaultIdleTimeout, sem: make(chan struct{}, 1)}
	p.release()
	return p
}

// childSession is a child and how much it was sent.
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
	_ = p.endChild() // the exit status does not matter
	return nil
}

// acquire waits for exclusive use of the child.
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

// endChild ends the child. The caller holds the semaphore.
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

// Read answers the requests in their order. A file that cannot be read has a reading that
// says why; an error means that no child could be started or that ctx ended.
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

// normalize makes Traits non-nil, and blames the batch timeout for a failure after it.
func (r *Reading) normalize(all context.Context) {
	if all.Err() != nil && r.Why != "" {
		r.Why = string(reasonNoTimeLeft)
	}
	if r.Traits == nil {
		r.Traits = []retake.Trait{}
	}
}

// startIdleTimer ends the child after the idle timeout. The caller holds the semaphore.
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

// readOne answers one request, without the child if none is needed.
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

// readInChild sends one request to the child.
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

// withChild runs one exchange with a child and returns why it failed, if it did. A child
// that was used before may have died for other reasons, so the exchange is repeated with a
// new one before the file is blamed. After any failure the child is discarded.
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

// ensureChild starts a child if there is none, and reports whether it is new. The caller
// holds the semaphore.
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
	_ = p.withTimeout(ctx, func() error { return writeFrame(p.child.writer, p.Key) }) // a dead child is noticed at the next request
	return true, nil
}

// withTimeout runs one exchange with the child and kills the child if it takes too long.
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

// exchangeFile sends one file to the child and reads the answer.
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

// sendFile sends the bytes of a file and of its log. A file that cannot be opened or
// exceeds the limit is refused, and the child is told that no more comes.
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

// sendBytes streams one file to the child in chunks. It returns why the file was refused,
// if it was.
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

// hasMagic reports whether a file begins with the magic bytes of a reader.
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
