package tree_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/tree"
)

// node is a tree in plain memory: what the stored tree has to agree with.
type node struct {
	kind    retake.Kind
	mode    uint32
	time    int64
	content string
	extra   *retake.Extra
	below   map[string]*node
}

func dir(below map[string]*node) *node {
	return &node{kind: retake.KindDir, mode: 0o755, time: 1, below: below}
}

func file(content string) *node {
	return &node{kind: retake.KindFile, mode: 0o644, time: 1, content: content}
}

// memoryLister holds directories by address and counts how often it is asked.
type memoryLister struct {
	dirs  map[retake.ObjectID][]retake.Entry
	calls int
}

var errMissing = errors.New("not on the shelf")

func (s *memoryLister) Dir(_ context.Context, id retake.ObjectID) ([]retake.Entry, error) {
	s.calls++
	entries, ok := s.dirs[id]
	if !ok {
		return nil, errMissing
	}
	return entries, nil
}

// storeNode stores a tree and answers its root; nil is the empty tree.
func (s *memoryLister) storeNode(name string, n *node) *retake.Entry {
	if n == nil {
		return nil
	}
	e := &retake.Entry{Name: name, Kind: n.kind, Mode: n.mode, ModTime: n.time, Size: int64(len(n.content)), Extra: n.extra}
	if n.kind != retake.KindDir {
		e.Object = retake.ObjectID("f" + n.content)
		return e
	}
	var entries []retake.Entry
	var text strings.Builder
	for child, c := range n.below {
		entries = append(entries, *s.storeNode(child, c))
	}
	slices.SortFunc(entries, func(a, b retake.Entry) int { return strings.Compare(a.Name, b.Name) })
	for _, c := range entries {
		fmt.Fprintf(&text, "%+v %+v\n", c, c.Extra)
	}
	e.Object = retake.ObjectID(fmt.Sprintf("d%x", sha256.Sum256([]byte(text.String()))))
	if s.dirs == nil {
		s.dirs = map[retake.ObjectID][]retake.Entry{}
	}
	s.dirs[e.Object] = entries
	return e
}

// flatten lists every path of the model, and the root as ".".
func flatten(n *node) map[string]retake.Entry {
	all := map[string]retake.Entry{}
	var s memoryLister
	var add func(path, name string, n *node)
	add = func(path, name string, n *node) {
		all[path] = *s.storeNode(name, n)
		for child, c := range n.below {
			below := child
			if path != tree.Root {
				below = path + "/" + child
			}
			add(below, child, c)
		}
	}
	if n != nil {
		add(tree.Root, "", n)
	}
	return all
}

func compare(t interface{ Fatalf(string, ...any) }, a, b *node) []retake.Change {
	var s memoryLister
	var changes []retake.Change
	err := tree.Compare(context.Background(), &s, s.storeNode("", a), &s, s.storeNode("", b), func(c retake.Change) error {
		changes = append(changes, c)
		return nil
	})
	if err != nil {
		t.Fatalf("Compare: %v", err)
	}
	return changes
}

var names = []string{"a", "A", "a.b", "a-b", "a b", "a\nb", "\xff", "\ufffd", "\x1b[0m", "é", "..a", strings.Repeat("n", 255)}

// anyTree draws from few names and contents, so that two trees have much in common.
func anyTree(depth int) *rapid.Generator[*node] {
	return rapid.Custom(func(t *rapid.T) *node {
		n := dir(map[string]*node{})
		n.mode = rapid.SampledFrom([]uint32{0o755, 0o700}).Draw(t, "mode")
		n.time = rapid.Int64Range(0, 1).Draw(t, "time")
		for range rapid.IntRange(0, 5).Draw(t, "entries") {
			n.below[rapid.SampledFrom(names).Draw(t, "name")] = anyNode(t, depth)
		}
		return n
	})
}

func anyNode(t *rapid.T, depth int) *node {
	kinds := []retake.Kind{retake.KindFile, retake.KindFile, retake.KindSymlink, retake.KindFIFO}
	if depth > 0 {
		kinds = append(kinds, retake.KindDir, retake.KindDir)
	}
	kind := rapid.SampledFrom(kinds).Draw(t, "kind")
	if kind == retake.KindDir {
		return anyTree(depth-1).Draw(t, "dir")
	}
	n := file(rapid.SampledFrom([]string{"", "x"}).Draw(t, "content"))
	n.kind = kind
	n.time = rapid.Int64Range(0, 1).Draw(t, "time")
	switch rapid.IntRange(0, 3).Draw(t, "extra") {
	case 1:
		n.extra = &retake.Extra{Group: "g"}
	case 2:
		n.extra = &retake.Extra{Xattrs: map[string][]byte{"user.x": {1}}}
	}
	return n
}

func TestCompareWithItself(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := anyTree(3).Draw(t, "a")
		if changes := compare(t, a, a); len(changes) != 0 {
			t.Fatalf("a tree differs from itself: %+v", changes)
		}
	})
}

func TestCompareApplied(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawMaybe(t, "a"), drawMaybe(t, "b")
		before, after := flatten(a), flatten(b)
		got := apply(t, before, compare(t, a, b))
		if a == nil || b == nil {
			delete(got, tree.Root) // the root is neither added nor deleted
			delete(after, tree.Root)
		}
		for path, e := range got {
			if e.Kind == retake.KindDir {
				// The address and the time of a directory follow from what lies below.
				e.Object, e.ModTime = after[path].Object, after[path].ModTime
				got[path] = e
			}
		}
		if d := cmp.Diff(after, got); d != "" {
			t.Fatalf("the changes lead elsewhere (-want +got):\n%s", d)
		}
	})
}

func drawMaybe(t *rapid.T, label string) *node {
	if rapid.IntRange(0, 9).Draw(t, label+" empty") == 0 {
		return nil
	}
	return anyTree(3).Draw(t, label)
}

// apply makes the changes and holds each against what was there before.
func apply(t *rapid.T, at map[string]retake.Entry, changes []retake.Change) map[string]retake.Entry {
	var last []string
	for _, c := range changes {
		parts := strings.Split(strings.TrimPrefix(c.Path, tree.Root+"/"), "/")
		if c.Path == tree.Root {
			parts = nil
		}
		if last != nil && slices.Compare(last, parts) >= 0 {
			t.Fatalf("%q comes after %q", c.Path, last)
		}
		last = parts
		was, ok := at[c.Path]
		if ok != (c.Before != nil) || ok && !cmp.Equal(was, *c.Before) {
			t.Fatalf("%q was %+v, the change says %+v", c.Path, was, c.Before)
		}
		if (c.Before == nil) != (c.What == retake.Added) || (c.After == nil) != (c.What == retake.Deleted) {
			t.Fatalf("%q is %s from %v to %v", c.Path, c.What, c.Before, c.After)
		}
		if c.After == nil {
			delete(at, c.Path)
		} else {
			at[c.Path] = *c.After
		}
	}
	return at
}

func TestCompareInverse(t *testing.T) {
	t.Parallel()
	opposite := map[retake.Difference]retake.Difference{retake.Added: retake.Deleted, retake.Deleted: retake.Added}
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawMaybe(t, "a"), drawMaybe(t, "b")
		want := compare(t, a, b)
		for i, c := range want {
			want[i].Before, want[i].After = c.After, c.Before
			if what, ok := opposite[c.What]; ok {
				want[i].What = what
			}
		}
		if d := cmp.Diff(want, compare(t, b, a)); d != "" {
			t.Fatalf("the way back (-want +got):\n%s", d)
		}
	})
}

func TestCompareKinds(t *testing.T) {
	t.Parallel()
	base := func() map[string]*node {
		return map[string]*node{"f": file("x"), "d": dir(map[string]*node{"in": file("y")})}
	}
	tests := map[string]struct {
		change func(map[string]*node)
		want   string
	}{
		"nothing":        {func(m map[string]*node) {}, ""},
		"added":          {func(m map[string]*node) { m["g"] = file("") }, "added g"},
		"deleted":        {func(m map[string]*node) { delete(m, "f") }, "deleted f"},
		"edited":         {func(m map[string]*node) { m["f"].content, m["f"].mode = "z", 0 }, "edited f"},
		"retyped":        {func(m map[string]*node) { m["f"].kind = retake.KindSymlink }, "retyped f"},
		"mode":           {func(m map[string]*node) { m["f"].mode, m["f"].time = 0o600, 9 }, "moded f"},
		"attributes":     {func(m map[string]*node) { m["f"].extra = &retake.Extra{Xattrs: map[string][]byte{"user.a": nil}} }, "moded f"},
		"group":          {func(m map[string]*node) { m["f"].extra = &retake.Extra{Group: "g"} }, "moded f"},
		"holes":          {func(m map[string]*node) { m["f"].extra = &retake.Extra{Holes: []retake.Hole{{Length: 1}}} }, "moded f"},
		"empty extra":    {func(m map[string]*node) { m["f"].extra = &retake.Extra{} }, ""},
		"time":           {func(m map[string]*node) { m["f"].time = 9 }, "timed f"},
		"dir time":       {func(m map[string]*node) { m["d"].time = 9 }, "timed d"},
		"dir and below":  {func(m map[string]*node) { m["d"].time = 9; m["d"].below["in"].content = "z" }, "edited d/in"},
		"dir mode below": {func(m map[string]*node) { m["d"].mode = 0; m["d"].below["in"].time = 9 }, "moded d, timed d/in"},
		"dir deleted":    {func(m map[string]*node) { delete(m, "d") }, "deleted d, deleted d/in"},
		"dir to file":    {func(m map[string]*node) { m["d"] = file("") }, "retyped d, deleted d/in"},
		"file to dir":    {func(m map[string]*node) { m["f"] = dir(map[string]*node{"n": file("")}) }, "retyped f, added f/n"},
		"order":          {func(m map[string]*node) { m["d.x"] = file(""); m["d"].below["z"] = file("") }, "added d/z, added d.x"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := base()
			tt.change(b)
			if got := describeChanges(compare(t, dir(base()), dir(b))); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func describeChanges(changes []retake.Change) string {
	var all []string
	for _, c := range changes {
		all = append(all, fmt.Sprintf("%s %s", c.What, c.Path))
	}
	return strings.Join(all, ", ")
}

func TestCompareRoot(t *testing.T) {
	t.Parallel()
	a, b := dir(nil), dir(nil)
	b.mode = 0o700
	if got := describeChanges(compare(t, a, b)); got != "moded ." {
		t.Errorf("a root with another mode: %q", got)
	}
	if got := describeChanges(compare(t, nil, b)); got != "" {
		t.Errorf("an empty root that is new: %q", got)
	}
	if got := describeChanges(compare(t, nil, nil)); got != "" {
		t.Errorf("nothing and nothing: %q", got)
	}
}

func TestCompareListsOnlyChanges(t *testing.T) {
	t.Parallel()
	build := func(content string) *node {
		top := map[string]*node{}
		for i := range 50 {
			top[fmt.Sprint(i)] = dir(map[string]*node{"d": dir(map[string]*node{"f": file("same")})})
		}
		top["7"].below["d"].below["f"].content = content
		return dir(top)
	}
	var s memoryLister
	a, b := s.storeNode("", build("old")), s.storeNode("", build("new"))
	err := tree.Compare(t.Context(), &s, a, &s, b, func(retake.Change) error { return nil })
	if err != nil || s.calls != 6 { // three directories on each side
		t.Errorf("Compare lists %d directories, want 6; %v", s.calls, err)
	}
	s.calls = 0
	err = tree.Compare(t.Context(), &s, a, &s, a, func(retake.Change) error { return nil })
	if err != nil || s.calls != 0 {
		t.Errorf("Compare of equal trees lists %d directories; %v", s.calls, err)
	}
}

func TestCompareErrors(t *testing.T) {
	t.Parallel()
	var s memoryLister
	a, b := s.storeNode("", dir(nil)), s.storeNode("", dir(map[string]*node{"f": file(""), "g": file("")}))
	calls := 0
	err := tree.Compare(t.Context(), &s, a, &s, b, func(retake.Change) error { calls++; return errMissing })
	if !errors.Is(err, errMissing) || calls != 1 {
		t.Errorf("the error of f: %v after %d calls", err, calls)
	}
	none := func(retake.Change) error { return nil }
	if err := tree.Compare(t.Context(), &s, a, &memoryLister{}, b, none); !errors.Is(err, errMissing) {
		t.Errorf("the error of the lister: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := tree.Compare(ctx, &s, a, &s, b, none); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled context: %v", err)
	}
}
