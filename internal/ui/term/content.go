package term

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/secrets"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// MaxTextSize is the largest file whose lines are compared.
const MaxTextSize = 1 << 20

// ContentReader reads the two sides of changes.
type ContentReader struct {
	Service   retake.Service
	Workspace retake.WorkspaceID
	Now       bool // the later side is the live directory
}

// ChangeSides are the texts of a change; why is set if there are no lines to compare.
type ChangeSides struct {
	before, after string
	why           string
	masked        bool
}

// MaskSecrets hides likely secrets. Lines are compared as they are and masked one by one, so
// that a changed secret is seen to have changed; a key of many lines is not shown.
func (s ChangeSides) MaskSecrets() ChangeSides {
	s.masked = true
	const manyLines = "private key"
	if s.why == "" && (slices.Contains(secrets.FindKinds([]byte(s.before)), manyLines) || slices.Contains(secrets.FindKinds([]byte(s.after)), manyLines)) {
		s.before, s.after, s.why = "", "", "contains a private key, not shown"
	}
	return s
}

// Read reads both sides of a change. A live file may have changed or gone meanwhile, which is
// not an error.
func (r ContentReader) Read(ctx context.Context, c retake.Change) (ChangeSides, error) {
	if why := notComparableReason(c); why != "" {
		return ChangeSides{why: why}, nil
	}
	var s ChangeSides
	var err error
	if c.Before != nil {
		if s.before, err = r.ReadText(r.Service.Bytes(ctx, c.Before.Object)); err != nil {
			return s, fmt.Errorf("read %q as it was: %w", c.Path, err)
		}
	}
	if c.After != nil {
		s.after, err = r.readLater(ctx, c)
		if r.Now && (retake.IsKind(err, retake.NotFound) || retake.IsKind(err, retake.Moved)) {
			return ChangeSides{why: "gone while we looked"}, nil
		}
		if err != nil {
			return s, fmt.Errorf("read %q as it is: %w", c.Path, err)
		}
	}
	switch {
	case len(s.before) > MaxTextSize || len(s.after) > MaxTextSize:
		s.why = "grew while we looked"
	case termtext.IsBinary(s.before) || termtext.IsBinary(s.after):
		s.why = "binary"
	}
	return s, nil
}

// notComparableReason returns why an entry has no lines to compare, or "".
func notComparableReason(c retake.Change) string {
	for _, e := range []*retake.Entry{c.Before, c.After} {
		switch {
		case e == nil:
		case e.Kind != retake.KindFile && e.Kind != retake.KindSymlink:
			return string(e.Kind)
		case e.Size > MaxTextSize:
			return termtext.Bytes(e.Size) + ", lines are compared up to " + termtext.Bytes(MaxTextSize)
		}
	}
	return ""
}

func (r ContentReader) readLater(ctx context.Context, c retake.Change) (string, error) {
	if !r.Now {
		return r.ReadText(r.Service.Bytes(ctx, c.After.Object))
	}
	in, _, err := r.Service.Open(ctx, r.Workspace, "now", c.Path)
	return r.ReadText(in, err)
}

// ReadText reads up to one byte more than MaxTextSize, so that the caller sees that a file
// grew beyond it.
func (ContentReader) ReadText(in io.ReadCloser, err error) (string, error) {
	if err != nil {
		return "", err
	}
	var b strings.Builder
	_, err = io.Copy(&b, io.LimitReader(in, MaxTextSize+1))
	if shut := in.Close(); err == nil {
		err = shut
	}
	return b.String(), err
}

// LineCount is how many lines a change inserted and removed.
type LineCount struct{ Plus, Minus int64 }

func countLines(edits []Edit) LineCount {
	var n LineCount
	for _, e := range edits {
		switch e.Op {
		case '+':
			n.Plus++
		case '-':
			n.Minus++
		}
	}
	return n
}

// CountLines counts the lines of files that are listed by themselves; folded ones have only
// bytes.
func (r ContentReader) CountLines(ctx context.Context, groups []ChangeGroup) (map[string]LineCount, error) {
	counts := map[string]LineCount{}
	for _, g := range groups {
		for _, line := range g.lines {
			c := line.change
			if c == nil || c.IsDir() || isLink(c) || c.What == retake.Retyped || c.What == retake.Moded || isGenerated(c.Path) {
				continue
			}
			s, err := r.Read(ctx, *c)
			if err != nil {
				return nil, err
			}
			if s.why == "" {
				counts[c.Path] = countLines(DiffLines(SplitLines(s.before), SplitLines(s.after)))
			}
		}
	}
	return counts, nil
}
