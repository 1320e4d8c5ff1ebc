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
	maxSmall     = 256 * kilo // of one file
	maxTogether  = mega
	mostTogether = 64
)

// bundle is some small files that are sent at once: what takes long in one exchange is
// that two processes take turns.
type bundle struct {
	asks int   // how many of the asks it covers
	at   []int // those of them that the child answers
	send bytes.Buffer
}

// together answers the first of the asks in one exchange, as far as they are small, and
// says how many those are; 0: the first is asked by itself. The child reads one after the
// other all the same, so each has its own time, and the one to blame is the first without
// an answer.
func (p *Pool) together(ctx context.Context, asks []Ask, out []Reading) int {
	b := p.pack(ctx, asks)
	if len(b.at) < 2 || ctx.Err() != nil {
		return 0
	}
	fresh, err := p.ready(ctx)
	if err != nil {
		return 0 // who asks by itself says so
	}
	done := p.exchangeAll(ctx, b, fresh, out)
	for i, next := 0, 0; i < done; i++ {
		if next < len(b.at) && b.at[next] == i {
			next++
		} else {
			out[i], _ = p.one(ctx, asks[i]) // it needs no child
		}
	}
	return done
}

// pack collects what can be sent at once. What cannot be opened, or is not what it says,
// is left to who asks by itself.
func (p *Pool) pack(ctx context.Context, asks []Ask) bundle {
	var b bundle
	for i, a := range asks {
		r, known := find(a.Reader)
		if !known || r.look != nil || a.Entry.Size > r.limit {
			b.asks = i + 1
			continue
		}
		if a.Log != nil || r.magic != "" || a.Entry.Size > maxSmall || len(b.at) == mostTogether || b.send.Len() > maxTogether {
			break
		}
		data, err := readSmall(ctx, a, min(r.limit, maxSmall))
		if err != nil {
			break
		}
		b.add(r.name, data)
		b.at, b.asks = append(b.at, i), i+1
	}
	return b
}

func (b *bundle) add(reader string, data []byte) {
	frames := [][]byte{[]byte(reader), data, nil, nil} // there is no log
	if len(data) == 0 {
		frames = slices.Delete(frames, 1, 2) // an empty frame is the end
	}
	for _, f := range frames {
		_ = writeFrame(&b.send, f) // memory takes it
	}
}

func readSmall(ctx context.Context, a Ask, limit int64) ([]byte, error) {
	f, err := a.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was read
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errFrame
	}
	return data, err
}

// exchangeAll sends a bundle and reads the answers, and says how many of the asks are
// settled with them. After trouble the child is not used again.
func (p *Pool) exchangeAll(ctx context.Context, b bundle, fresh bool, out []Reading) int {
	s := p.child
	s.files += len(b.at)
	s.sent += int64(b.send.Len())
	sent := make(chan struct{})
	go func() { // beside the answers, so that neither side waits for the other for ever
		defer close(sent)
		if _, err := s.out.Write(b.send.Bytes()); err == nil {
			_ = s.out.Flush() // what did not arrive has no answer
		}
	}()
	defer func() { <-sent }()
	for _, i := range b.at {
		got, err := p.answer(ctx, s)
		if err != nil {
			return i + p.blame(ctx, err, fresh && i == b.at[0], &out[i])
		}
		if out[i] = got.Reading; got.Last {
			_ = p.end()
			return i + 1
		}
	}
	return b.asks
}

func (p *Pool) answer(ctx context.Context, s *session) (got answer, err error) {
	var b []byte
	err = p.limited(ctx, func() (err error) {
		b, _, err = readFrame(s.child, maxAnswer)
		return err
	})
	if err == nil {
		if err = json.Unmarshal(b, &got); err != nil {
			err = fmt.Errorf("understand a reader: %w", err)
		}
	}
	return got, err
}

// blame ends the child and says of the file that it had what went wrong: 1 when that is
// certain, else 0, and a new child is asked.
func (p *Pool) blame(ctx context.Context, err error, first bool, out *Reading) int {
	var w why
	ended := p.end()
	switch {
	case ctx.Err() != nil:
		return 0
	case errors.As(err, &w):
		out.Why = string(w)
	case errors.Is(ended, proc.ErrMemory):
		out.Why = string(tooHungry)
	case first:
		out.Why = string(brokeOff)
	default:
		return 0
	}
	return 1
}
