package xray

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/retake-dev/retake/internal/platform/proc"
)

// Limits of one batch.
const (
	maxSmallFile  = 256 * kilo // of one file
	maxBatchBytes = mega
	maxBatchFiles = 64
)

// requestBatch is a number of small files that are sent at once: most of the time of an
// exchange is spent on switching between two processes.
type requestBatch struct {
	covered     int   // how many of the asks it covers
	sentIndexes []int // those of them that the child answers
	data        bytes.Buffer
}

// readBatch answers the first requests in one exchange, as far as they are small, and
// returns how many it answered; 0 means that the first one has to be sent by itself. The
// child still reads one file after the other, so each has its own timeout, and the file to
// blame is the first without an answer.
func (p *Pool) readBatch(ctx context.Context, asks []Request, out []Reading) int {
	b := p.buildBatch(ctx, asks)
	if len(b.sentIndexes) < 2 || ctx.Err() != nil {
		return 0
	}
	fresh, err := p.ensureChild(ctx)
	if err != nil {
		return 0 // readOne returns the error
	}
	done := p.exchangeBatch(ctx, b, fresh, out)
	for i, next := 0, 0; i < done; i++ {
		if next < len(b.sentIndexes) && b.sentIndexes[next] == i {
			next++
		} else {
			out[i], _ = p.readOne(ctx, asks[i]) // it needs no child
		}
	}
	return done
}

// buildBatch collects requests that can be sent at once. It stops at a file that cannot be
// opened or has an unexpected size: readOne handles that.
func (p *Pool) buildBatch(ctx context.Context, asks []Request) requestBatch {
	var b requestBatch
	for i, a := range asks {
		r, known := findReader(a.Reader)
		if !known || r.readEntry != nil || a.Entry.Size > r.limit {
			b.covered = i + 1
			continue
		}
		if a.Log != nil || r.magic != "" || a.Entry.Size > maxSmallFile || len(b.sentIndexes) == maxBatchFiles || b.data.Len() > maxBatchBytes {
			break
		}
		data, err := readSmallFile(ctx, a, min(r.limit, maxSmallFile))
		if err != nil {
			break
		}
		b.add(r.name, data)
		b.sentIndexes, b.covered = append(b.sentIndexes, i), i+1
	}
	return b
}

func (b *requestBatch) add(reader string, data []byte) {
	frames := [][]byte{[]byte(reader), data, nil, nil} // there is no log
	if len(data) == 0 {
		frames = slices.Delete(frames, 1, 2) // an empty frame is the end
	}
	for _, f := range frames {
		_ = writeFrame(&b.data, f) // memory takes it
	}
}

func readSmallFile(ctx context.Context, a Request, limit int64) ([]byte, error) {
	f, err := a.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was read
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errFrameTooLong
	}
	return data, err
}

// exchangeBatch sends a batch and reads the answers. It returns how many requests are
// answered. After a failure the child is discarded.
func (p *Pool) exchangeBatch(ctx context.Context, b requestBatch, fresh bool, out []Reading) int {
	s := p.child
	s.filesSent += len(b.sentIndexes)
	s.bytesSent += int64(b.data.Len())
	sent := make(chan struct{})
	go func() { // concurrently with reading, so that neither side blocks the other for ever
		defer close(sent)
		if _, err := s.writer.Write(b.data.Bytes()); err == nil {
			_ = s.writer.Flush() // what did not arrive has no answer
		}
	}()
	defer func() { <-sent }()
	for _, i := range b.sentIndexes {
		got, err := p.readAnswer(ctx, s)
		if err != nil {
			return i + p.blameFile(ctx, err, fresh && i == b.sentIndexes[0], &out[i])
		}
		if out[i] = got.Reading; got.Last {
			_ = p.endChild()
			return i + 1
		}
	}
	return b.covered
}

// readAnswer reads one answer of the child.
func (p *Pool) readAnswer(ctx context.Context, s *childSession) (got childAnswer, err error) {
	var b []byte
	err = p.withTimeout(ctx, func() (err error) {
		b, _, err = readFrame(s.child, maxAnswerSize)
		return err
	})
	if err == nil {
		if err = json.Unmarshal(b, &got); err != nil {
			err = fmt.Errorf("understand a reader: %w", err)
		}
	}
	return got, err
}

// blameFile ends the child and records what went wrong with the file it was reading. It
// returns 1 if that file is certainly the cause, else 0, and the file is tried again with a
// new child.
func (p *Pool) blameFile(ctx context.Context, err error, first bool, out *Reading) int {
	var w failReason
	ended := p.endChild()
	switch {
	case ctx.Err() != nil:
		return 0
	case errors.As(err, &w):
		out.Why = string(w)
	case errors.Is(ended, proc.ErrOutOfMemory):
		out.Why = string(reasonOutOfMemory)
	case first:
		out.Why = string(reasonCrashed)
	default:
		return 0
	}
	return 1
}
