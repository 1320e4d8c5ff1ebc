// Package servicetest is what every assembly of the service must do. An assembly
// is finished when its row is green.
//
// It drives retake.Service only, on real directories.
package servicetest

import (
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/retake-dev/retake"
)

// Harness is one assembly. Open gives the service of a home directory, new or
// old; the suite closes it.
type Harness struct {
	Open func(t *testing.T, home string) retake.Service
	// Reading opens it with a child that reads files for their meaning; nil: there is none.
	Reading func(t *testing.T, home string) retake.Service
	// Copy copies a directory with its extended attributes.
	Copy func(t *testing.T, from, to string)
	// Again says that make test runs the whole suite elsewhere, on most of the same code:
	// with -short a sample is enough here.
	Again bool
}

// sampled is how many cases go for one of a sample.
const sampled = 8

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	t.Helper()
	all := map[string]func(*testing.T, *bench){
		"FirstCheckpoint": firstCheckpoint,
		"EveryCheckpoint": everyCheckpoint,
		"Refs":            refs,
		"Diff":            diff,
		"DiffNow":         diffNow,
		"DiffInParts":     diffInParts,
		"ReadBack":        readBack,
		"Pins":            pins,
		"Forget":          forget,
		"Rebuild":         rebuild,
		"Moved":           moved,
		"Copied":          copied,
		"Nested":          nested,
		"DeinitAndAgain":  deinitAndAgain,
		"Untouched":       untouched,
		"Guard":           guard,
		"X7_Nested":       initInside,
		"Budget":          budget,
		"AskedTwice":      askedTwice,
		"IfChanged":       ifChanged,
		"InARow":          inARow,
	}
	maps.Copy(all, goings)
	maps.Copy(all, losings)
	maps.Copy(all, askings)
	maps.Copy(all, pains)
	maps.Copy(all, observings)
	maps.Copy(all, truths)
	maps.Copy(all, hardships)
	maps.Copy(all, tellings)
	maps.Copy(all, verifyings)
	maps.Copy(all, rows)
	maps.Copy(all, rescuings)
	maps.Copy(all, repeatings)
	names := slices.Sorted(maps.Keys(all))
	for i, name := range names {
		if f := all[name]; !h.Again || !testing.Short() || i%sampled == 0 {
			runCase(t, h, name, f)
		}
	}
	if h.Again && testing.Short() {
		t.Logf("one of %d of %d cases, because of -short", sampled, len(names))
	}
}

func runCase(t *testing.T, h Harness, name string, f func(*testing.T, *bench)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		b := &bench{T: t, h: h, home: t.TempDir(), root: filepath.Join(t.TempDir(), "shop")}
		if err := os.Mkdir(b.root, 0o755); err != nil {
			t.Fatal(err)
		}
		b.open()
		t.Cleanup(func() { _ = b.s.Close() })
		f(t, b)
	})
}

// bench is one test's workspace and service.
type bench struct {
	*testing.T
	h    Harness
	home string
	root string
	s    retake.Service
	ws   retake.Workspace
}

func (b *bench) ctx() context.Context { return b.Context() }

func (b *bench) open() {
	b.Helper()
	b.s = b.h.Open(b.T, b.home)
}

func (b *bench) reopen() {
	b.Helper()
	b.must(b.s.Close())
	b.open()
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) write(name, text string) {
	b.Helper()
	p := filepath.Join(b.root, name)
	b.must(os.MkdirAll(filepath.Dir(p), 0o755))
	b.must(os.WriteFile(p, []byte(text), 0o644))
}

func (b *bench) remove(name string) {
	b.Helper()
	b.must(os.RemoveAll(filepath.Join(b.root, name)))
}

func (b *bench) init() retake.SaveResult {
	b.Helper()
	res, err := b.s.Init(b.ctx(), retake.InitRequest{Dir: b.root})
	b.must(err)
	b.ws = res.Workspace
	return res
}

func (b *bench) save(intent string) retake.SaveResult {
	b.Helper()
	res, err := b.s.Save(b.ctx(), retake.SaveRequest{Workspace: b.ws.ID, Intent: intent})
	b.must(err)
	if len(res.Warnings) > 0 {
		b.Errorf("save %q warns: %v", intent, res.Warnings)
	}
	return res
}

func (b *bench) cat(ref, name string) string {
	b.Helper()
	r, _, err := b.s.Open(b.ctx(), b.ws.ID, ref, name)
	b.must(err)
	defer r.Close() //nolint:errcheck // nothing was written
	text, err := io.ReadAll(r)
	b.must(err)
	return string(text)
}

func (b *bench) find(ref string) retake.Checkpoint {
	b.Helper()
	cp, err := b.s.Find(b.ctx(), b.ws.ID, ref)
	b.must(err)
	return cp
}

func (b *bench) log() retake.Timeline {
	b.Helper()
	tl, err := b.s.Log(b.ctx(), retake.LogQuery{Workspace: b.ws.ID})
	b.must(err)
	return tl
}

// changes gives the changes as "what path", directories' times left out.
func changes(c retake.Comparison) []string {
	out := []string{}
	for _, x := range c.Changes {
		if x.What == retake.Timed {
			continue
		}
		out = append(out, string(x.What)+" "+x.Path)
	}
	return out
}

func wantKind(t *testing.T, err error, k retake.ErrorKind) {
	t.Helper()
	if !retake.IsKind(err, k) {
		t.Fatalf("got %v, want an error of kind %s", err, k)
	}
}
