package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

// canAsk reports whether there is a person to ask.
func (f *face) canAsk() bool { return f.InTTY && f.ErrTTY && !f.noInput }

// ask puts a question whose default is no.
func (f *face) ask(ctx context.Context, question string) (bool, error) {
	text, err := f.reply(ctx, question+"  [y/N] ")
	return agreed(text), err
}

func agreed(text string) bool { return text == "y" || text == "yes" }

// reply reads one line after a question, in small letters.
func (f *face) reply(ctx context.Context, question string) (string, error) {
	fmt.Fprint(f.Err, question)
	type reply struct {
		text string
		err  error
	}
	replies := make(chan reply, 1)
	go func() {
		text, err := readLine(f.In)
		replies <- reply{text, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(f.Err)
		return "", ctx.Err()
	case r := <-replies:
		if r.err != nil && !errors.Is(r.err, io.EOF) {
			return "", fmt.Errorf("read answer: %w", r.err)
		}
		if r.err != nil { // the question stands on a line of its own
			fmt.Fprintln(f.Err)
		}
		return strings.ToLower(strings.TrimSpace(r.text)), nil
	}
}

// readLine reads byte by byte: what follows the line belongs to the next question.
func readLine(r io.Reader) (string, error) {
	var b strings.Builder
	in := bufio.NewReaderSize(onebyte{r}, 16)
	for {
		c, err := in.ReadByte()
		if err != nil || c == '\n' {
			return b.String(), err
		}
		b.WriteByte(c)
	}
}

type onebyte struct{ io.Reader }

func (o onebyte) Read(p []byte) (int, error) { return o.Reader.Read(p[:1]) }

// progress rewrites one line of a terminal, at most ten times a second.
type progress struct {
	f    *face
	word string
	mu   sync.Mutex
	last time.Time // guarded by mu
	used bool      // guarded by mu
}

const progressEvery = 100 * time.Millisecond

// progress answers nil when nobody looks; a nil *progress does nothing.
func (f *face) progress(word string) *progress {
	if !f.ErrTTY || f.json {
		return nil
	}
	return &progress{f: f, word: word}
}

// tell is what the service calls, or nil.
func (p *progress) tell() func(retake.Progress) {
	if p == nil {
		return nil
	}
	return p.show
}

func (p *progress) show(at retake.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.f.Clock.Now()
	if p.used && now.Sub(p.last) < progressEvery {
		return
	}
	p.last, p.used = now, true
	fmt.Fprintf(p.f.Err, "\r\x1b[K%s", term.RenderProgress(p.f.talk(), p.word, at))
}

// done wipes the line.
func (p *progress) done() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used {
		fmt.Fprint(p.f.Err, "\r\x1b[K")
		p.used = false
	}
}
