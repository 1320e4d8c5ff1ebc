package story_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/story"
)

// shelf keeps bytes by an address that is made of them.
type shelf map[retake.ObjectID][]byte

func (s shelf) put(text string) retake.ObjectID {
	id := retake.ObjectID(fmt.Sprintf("o%d-%.20q", len(text), text))
	for s[id] != nil && string(s[id]) != text {
		id += "'"
	}
	s[id] = []byte(text)
	return id
}

func (s shelf) open(_ context.Context, id retake.ObjectID) (io.ReadCloser, error) {
	b, ok := s[id]
	if !ok {
		return nil, errors.New("open object: it is not there")
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

func (s shelf) file(text string) *retake.Entry {
	return &retake.Entry{Kind: retake.KindFile, Mode: 0o644, Size: int64(len(text)), Object: s.put(text)}
}

// stage collects changes as a comparison would tell them.
type stage struct {
	shelf   shelf
	changes []retake.Change
	facts   []retake.Fact
	gaps    []retake.Gap
}

func newStage() *stage { return &stage{shelf: shelf{}} }

func (s *stage) add(path, text string) *stage {
	s.changes = append(s.changes, retake.Change{Path: path, What: retake.Added, After: s.shelf.file(text)})
	return s
}

func (s *stage) del(path, text string) *stage {
	s.changes = append(s.changes, retake.Change{Path: path, What: retake.Deleted, Before: s.shelf.file(text)})
	return s
}

func (s *stage) edit(path, before, after string) *stage {
	s.changes = append(s.changes, retake.Change{Path: path, What: retake.Edited, Before: s.shelf.file(before), After: s.shelf.file(after)})
	return s
}

// swap edits a file so that so many lines came and went.
func (s *stage) swap(path string, plus, minus int) *stage {
	return s.edit(path, "begin\n"+lines("old "+path, minus)+"end\n", "begin\n"+lines("new "+path, plus)+"end\n")
}

func (s *stage) dir(path string, what retake.Difference) *stage {
	e := &retake.Entry{Kind: retake.KindDir, Mode: 0o755}
	ch := retake.Change{Path: path, What: what, Before: e, After: e}
	switch what {
	case retake.Added:
		ch.Before = nil
	case retake.Deleted:
		ch.After = nil
	default:
	}
	s.changes = append(s.changes, ch)
	return s
}

func (s *stage) fact(f retake.Fact) *stage {
	s.facts = append(s.facts, f)
	return s
}

func (s *stage) input() story.Input {
	return story.Input{Changes: s.changes, Facts: s.facts, Gaps: s.gaps, OpenObject: s.shelf.open}
}

func lines(text string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %d\n", text, i)
	}
	return b.String()
}

// read is a story as plain text, one line for each group, item and point.
func read(st retake.Story) string {
	var b strings.Builder
	c := st.Counts
	for _, n := range []struct {
		n    int64
		what string
	}{{c.Total(), "files"}, {c.Added, "added"}, {c.Deleted, "deleted"}, {c.Edited, "edited"}, {c.Renamed, "renamed"}, {c.Moded, "moded"}, {c.Retyped, "retyped"}, {c.Timed, "timed"}} {
		if n.n > 0 || n.what == "files" {
			fmt.Fprintf(&b, "%d %s ", n.n, n.what)
		}
	}
	fmt.Fprintf(&b, "%s\n", sum(c.Plus, c.Minus))
	for _, g := range st.Groups {
		fmt.Fprintf(&b, "%s %d %s\n", g.Theme, g.Files, sum(g.Plus, g.Minus))
		for _, it := range g.Items {
			path := it.Path
			if it.From != "" {
				path = it.From + " → " + path
			}
			fmt.Fprintf(&b, "  %s %s %d %s %s\n", path, it.What, it.Files, sum(it.Plus, it.Minus), it.Note)
		}
	}
	fmt.Fprintf(&b, "lead: %s\n", st.Gist.Lead)
	if st.Gist.Moving {
		b.WriteString("quiet\n")
	}
	for _, p := range st.Gist.Points {
		fmt.Fprintf(&b, "  %s: %s %s\n", p.Theme, p.Text, sum(p.Plus, p.Minus))
	}
	out := strings.Split(b.String(), "\n")
	for i := range out {
		out[i] = strings.TrimRight(strings.ReplaceAll(out[i], "  ", " "), " ")
	}
	return strings.Join(out, "\n")
}

func sum(plus, minus int64) string {
	if plus+minus == 0 {
		return ""
	}
	return fmt.Sprintf("+%d -%d", plus, minus)
}
