package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

// textLimit is the largest file whose lines are compared.
const textLimit = 1 << 20

// content reads the two sides of changes.
type content struct {
	s   retake.Service
	ws  retake.WorkspaceID
	now bool // the later side is the live directory
}

// sides are the texts of a change; why is set when there are no lines to compare.
type sides struct {
	before, after string
	why           string
}

// read gives both sides. Files of now may be gone or other ones by this time;
// that is no error.
func (r content) read(ctx context.Context, c retake.Change) (sides, error) {
	if why := unfit(c); why != "" {
		return sides{why: why}, nil
	}
	var s sides
	var err error
	if c.Before != nil {
		if s.before, err = r.text(r.s.Bytes(ctx, c.Before.Object)); err != nil {
			return s, fmt.Errorf("read %q as it was: %w", c.Path, err)
		}
	}
	if c.After != nil {
		s.after, err = r.later(ctx, c)
		if r.now && (retake.IsKind(err, retake.NotFound) || retake.IsKind(err, retake.Moved)) {
			return sides{why: "gone while we looked"}, nil
		}
		if err != nil {
			return s, fmt.Errorf("read %q as it is: %w", c.Path, err)
		}
	}
	switch {
	case len(s.before) > textLimit || len(s.after) > textLimit:
		s.why = "grew while we looked"
	case screen.Binary(s.before) || screen.Binary(s.after):
		s.why = "binary"
	}
	return s, nil
}

// unfit tells why an entry has no lines to compare; empty when it may have.
func unfit(c retake.Change) string {
	for _, e := range []*retake.Entry{c.Before, c.After} {
		switch {
		case e == nil:
		case e.Kind != retake.KindFile && e.Kind != retake.KindSymlink:
			return string(e.Kind)
		case e.Size > textLimit:
			return screen.Bytes(e.Size) + ", lines are compared up to " + screen.Bytes(textLimit)
		}
	}
	return ""
}

func (r content) later(ctx context.Context, c retake.Change) (string, error) {
	if !r.now {
		return r.text(r.s.Bytes(ctx, c.After.Object))
	}
	in, _, err := r.s.Open(ctx, r.ws, "now", c.Path)
	return r.text(in, err)
}

// text reads one byte more than the limit, so that the caller sees what grew.
func (content) text(in io.ReadCloser, err error) (string, error) {
	if err != nil {
		return "", err
	}
	var b strings.Builder
	_, err = io.Copy(&b, io.LimitReader(in, textLimit+1))
	if shut := in.Close(); err == nil {
		err = shut
	}
	return b.String(), err
}

// lineCount is how many lines a change inserted and removed.
type lineCount struct{ plus, minus int64 }

func countLines(edits []edit) lineCount {
	var n lineCount
	for _, e := range edits {
		switch e.op {
		case '+':
			n.plus++
		case '-':
			n.minus++
		}
	}
	return n
}

// measure counts the lines of what is listed by itself; what is folded has bytes only.
func (r content) measure(ctx context.Context, groups []group) (map[string]lineCount, error) {
	counts := map[string]lineCount{}
	for _, g := range groups {
		for _, line := range g.lines {
			c := line.change
			if c == nil || isDir(c) || isLink(c) || c.What == retake.Retyped || c.What == retake.Moded || made(c.Path) {
				continue
			}
			s, err := r.read(ctx, *c)
			if err != nil {
				return nil, err
			}
			if s.why == "" {
				counts[c.Path] = countLines(diffLines(splitLines(s.before), splitLines(s.after)))
			}
		}
	}
	return counts, nil
}
