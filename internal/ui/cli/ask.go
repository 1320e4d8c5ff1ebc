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
func (f *commandLine) canAsk() bool { return f.InTTY && f.ErrTTY && !f.noInput }

// askYesNo puts a question whose default is no.
func (f *commandLine) askYesNo(ctx context.Context, question string) (bool, error) {
	text, err := f.askLine(ctx, question+"  [y/N] ")
	return isYes(text), err
}

// isYes reports whether an answer is yes.
func isYes(text string) bool { return text == "y" || text == "yes" }

// askLine reads one line after a question, in small letters.
func (f *commandLine) askLine(ctx context.Context, question string) (string, error) {
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
	in := bufio.NewReaderSize(oneByteReader{r}, 16)
	for {
		c, err := in.ReadByte()
		if err != nil || c == '\n' {
			return b.String(), err
		}
		b.WriteByte(c)
	}
}

type oneByteReader struct{ io.Reader }

func (o oneByteReader) Read(p []byte) (int, error) { return o.Reader.Read(p[:1]) }

// progressLine is the line of a terminal that shows how far something is. Its methods may be
// called from several goroutines.
type progressLine struct {
	f     *commandLine
	label string
	mu    sync.Mutex
	last  time.Time // guarded by mu
	shown bool      // guarded by mu
}

const progressInterval = 100 * time.Millisecond

// newProgressLine returns nil if nobody would see it; a nil *progressLine does nothing.
func (f *commandLine) newProgressLine(word string) *progressLine {
	if !f.ErrTTY || f.json {
		return nil
	}
	return &progressLine{f: f, label: word}
}

// callback is what the service calls, or nil.
func (p *progressLine) callback() func(retake.Progress) {
	if p == nil {
		return nil
	}
	return p.update
}

func (p *progressLine) update(at retake.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.f.Clock.Now()
	if p.shown && now.Sub(p.last) < progressInterval {
		return
	}
	p.last, p.shown = now, true
	fmt.Fprintf(p.f.Err, "\r\x1b[K%s", term.RenderProgress(p.f.stderrStyle(), p.label, at))
}

// clear wipes the line.
func (p *progressLine) clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.f.Err, "\r\x1b[K")
		p.shown = false
	}
}
