package fork_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/fork"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
)

// drawTree draws a tree with names and modes of all kinds.
func drawTree(t *rapid.T) fileSet {
	g := fileSet{"": dir(rapid.Uint32Range(0, 0o777).Draw(t, "mode"))}
	dirs := []string{""}
	names := rapid.SampledFrom([]string{"a", "b", "c", "\n", "\xff", "é", " ", "-", "esc\x1b"})
	groups := map[string]item{}
	for range rapid.IntRange(0, 25).Draw(t, "entries") {
		at := joinPath(rapid.SampledFrom(dirs).Draw(t, "dir"), names.Draw(t, "name")+names.Draw(t, "more"))
		if _, taken := g[at]; taken {
			continue
		}
		i := item{Mtime: rapid.Int64Range(-1e18, 4e18).Draw(t, "mtime"), Mode: rapid.Uint32Range(0, 0o777).Draw(t, "mode")}
		switch i.Kind = rapid.SampledFrom(kinds).Draw(t, "kind"); i.Kind {
		case retake.KindDir:
			dirs = append(dirs, at)
			i.Mode |= rapid.SampledFrom([]uint32{0, 0o1000}).Draw(t, "sticky")
		case retake.KindSymlink:
			i.Mode, i.Data = 0o777, rapid.StringN(1, 20, 60).Filter(func(s string) bool { return !strings.Contains(s, "\x00") }).Draw(t, "text")
		case retake.KindFile:
			i = drawFile(t, i)
		case retake.KindFIFO, retake.KindSocket:
		}
		if i.Kind == retake.KindFile || i.Kind == retake.KindDir {
			i.Xattrs = rapid.SampledFrom([]map[string]string{nil, nil, {"user.a": "1"}, {"user.a": "", "user.b": "\x00"}}).Draw(t, "attributes")
		}
		if i.Group != "" { // all names wear the same
			if first, ok := groups[i.Group]; ok {
				i = first
			}
			groups[i.Group] = i
		}
		g[at] = i
	}
	return normalizeGroups(g)
}

var kinds = []retake.Kind{retake.KindFile, retake.KindFile, retake.KindFile, retake.KindDir, retake.KindDir, retake.KindSymlink, retake.KindFIFO, retake.KindSocket}

func drawFile(t *rapid.T, i item) item {
	i.Data = rapid.StringN(0, 50, 300).Draw(t, "data")
	switch rapid.IntRange(0, 4).Draw(t, "special") {
	case 0:
		i.Group = rapid.SampledFrom([]string{"one", "two"}).Draw(t, "group")
	case 1:
		i.Data = strings.Repeat("x", 64<<10) + strings.Repeat("\x00", 64<<10) + i.Data
		i.Holes = []retake.Hole{{Offset: 64 << 10, Length: 64 << 10}}
	}
	return i
}

// normalizeGroups gives groups the name under which they are found again; one name is no group.
func normalizeGroups(g fileSet) fileSet {
	paths := map[string][]string{}
	for at, i := range g {
		if i.Group != "" {
			paths[i.Group] = append(paths[i.Group], at)
		}
	}
	for _, all := range paths {
		for _, at := range all {
			i := g[at]
			if i.Group = slices.Min(all); len(all) == 1 {
				i.Group = ""
			}
			g[at] = i
		}
	}
	return g
}

// TestGrownTreeIsTheStoredOne is the law: from the store or from live files that changed
// in part, what is read back is what was stored.
func TestGrownTreeIsTheStoredOne(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *rapid.T) *testPlace{
		"memory": func(t *rapid.T) *testPlace { return newMemoryPlace(t) },
		"os": func(rt *rapid.T) *testPlace {
			d := t.TempDir()
			return newOSPlace(rt, d)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) { checkLaw(rt, open(rt)) })
		})
	}
}

func checkLaw(t *rapid.T, p *testPlace) {
	g := p.adaptTree(drawTree(t))
	st := memorytest.New()
	root := storeTree(t, st, g)
	var l writtenLog
	_, err := fork.Build(context.Background(), fork.Job{Trees: st, Want: root, To: p.live, OnWritten: l.record})
	check(t, err)
	makeRootAccessible(t, p.live)
	names, err := p.live.Names()
	check(t, err)
	for _, name := range names {
		if rapid.Bool().Draw(t, "changed") {
			disturb(t, p, name)
		}
	}
	_, err = fork.Build(context.Background(), fork.Job{Trees: st, Want: root, To: p.to, From: p.live, FindUnchanged: l.stampOf, Workers: rapid.IntRange(1, 4).Draw(t, "workers")})
	check(t, err)
	have, _ := readTree(t, p.to)
	if diff := gocmp.Diff(g, have); diff != "" {
		t.Fatal(diff)
	}
}

// disturb moves a name away, or writes into the file that it is.
func disturb(t *rapid.T, p *testPlace, name string) {
	i, err := p.live.Lstat(name)
	check(t, err)
	if i.Type == fsx.Regular && i.Mode&0o200 != 0 && rapid.Bool().Draw(t, "written") {
		f, err := p.live.Append(name, 0o600)
		check(t, err)
		_, err = f.Write([]byte("later"))
		check(t, err)
		check(t, f.Close())
		return
	}
	if i.Type == fsx.Directory {
		makeAccessible(t, p.live, name, i, 0o700) // one that is closed to its owner does not move
	}
	check(t, p.live.Rename(name, p.outside, name))
	check(t, p.live.Symlink(p.path("outside", name), name))
}
