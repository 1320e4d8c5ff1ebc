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

// Bounds of what is sent at once.
const (
	maxSmallFile  = 256 * kilo // of one file
	maxBatchBytes = mega
	maxBatchFiles = 64
)

// requestBatch is some small files that are sent at once: what takes long in one exchange is
// that two processes take turns.
type requestBatch struct {
	covered     int   // how many of the asks it covers
	sentIndexes []int // those of them that the child answers
	data        bytes.Buffer
}

// readBatch answers the first of the asks in one exchange, as far as they are small, and
// says how many those are; 0: the first is asked by itself. The child reads one after the
// other all the same, so each has its own time, and the one to blame is the first without
// an answer.
func (p *Pool) readBatch(ctx context.Context, asks []Request, out []Reading) int {
	b := p.buildBatch(ctx, asks)
	if len(b.sentIndexes) < 2 || ctx.Err() != nil {
		return 0
	}
	fresh, err := p.ensureChild(ctx)
	if err != nil {
		return 0 // who asks by itself says so
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

// buildBatch collects what can be sent at once. What cannot be opened, or is not what it says,
// is left to who asks by itself.
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

// exchangeBatch sends a bundle and reads the answers, and says how many of the asks are
// settled with them. After trouble the child is not used again.
func (p *Pool) exchangeBatch(ctx context.Context, b requestBatch, fresh bool, out []Reading) int {
	s := p.child
	s.filesSent += len(b.sentIndexes)
	s.bytesSent += int64(b.data.Len())
	sent := make(chan struct{})
	go func() { // beside the answers, so that neither side waits for the other for ever
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

// blameFile ends the child and says of the file that it had what went wrong: 1 when that is
// certain, else 0, and a new child is asked.
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
