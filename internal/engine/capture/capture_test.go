package capture_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
)

const workspace retake.WorkspaceID = "ws_0198c5a4-8f00-7000-8000-000000000001"

// captureTest is a workspace in memory whose clock the test moves.
type captureTest struct {
	t     testing.TB
	fs    *fsxtest.Memory
	clock *clock.Manual
	store *memorytest.Store
	w     store.Writer
	opts  capture.Options
	seals []capture.Seal
	roots map[retake.CheckpointID]retake.Entry // of what was sealed
}

func newCaptureTest(t testing.TB) *captureTest {
	t.Helper()
	w := &captureTest{t: t, fs: fsxtest.NewMemory(), clock: clock.NewManual(time.Unix(1_700_000_000, 0)), store: memorytest.New()}
	w.fs.SetClock(func() int64 { return w.clock.Now().UnixNano() })
	w.check(w.fs.MkdirAll("/ws", 0o755))
	w.check(w.fs.MkdirAll("/state", 0o700))
	w.opts = capture.Options{Clock: w.clock, Marker: true, Workspace: workspace, Workers: 4}
	var err error
	w.w, err = w.store.Begin(context.Background(), retake.Workspace{ID: "ws_00000000-0000-0000-0000-000000000000"})
	w.check(err)
	return w
}

func (w *captureTest) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// advanceClock lets enough time pass for every change so far to count as settled.
func (w *captureTest) advanceClock() { w.clock.Advance(time.Minute) }

func (w *captureTest) writeFile(path, text string) {
	w.t.Helper()
	w.clock.Advance(time.Millisecond)
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		w.check(w.fs.MkdirAll("/ws/"+path[:i], 0o755))
	}
	w.check(w.fs.WriteFile("/ws/"+path, []byte(text), 0o644))
}

func (w *captureTest) openDir(path string) fsx.Dir {
	w.t.Helper()
	d, err := w.fs.OpenRoot(path)
	w.check(err)
	return d
}

func (w *captureTest) loadIndex() *capture.Index {
	w.t.Helper()
	d := w.openDir("/state")
	defer d.Close()
	x, err := capture.LoadIndex(d, "index", func(s capture.Seal) bool { return slices.Contains(w.seals, s) })
	w.check(err)
	return x
}

// captureAndAccept captures by the index, and saves it as if sealed.
func (w *captureTest) captureAndAccept() *capture.Result {
	w.t.Helper()
	x := w.loadIndex()
	base := x.Seal().Checkpoint
	res := w.captureWith(x)
	w.checkDelta(w.t, base, res)
	w.accept(res)
	d := w.openDir("/state")
	defer d.Close()
	w.check(res.Draft.Save(d, "index"))
	return res
}

// accept is what follows a seal.
func (w *captureTest) accept(res *capture.Result) {
	seal := capture.Seal{Checkpoint: retake.CheckpointID(fmt.Sprint("cp", len(w.seals))), Number: int64(len(w.seals) + 1), Tree: res.Files.Object}
	w.seals = append(w.seals, seal)
	if w.roots == nil {
		w.roots = map[retake.CheckpointID]retake.Entry{}
	}
	w.roots[seal.Checkpoint] = res.Files
	res.Draft.Accept(seal)
}

func (w *captureTest) captureWith(x *capture.Index) *capture.Result {
	w.t.Helper()
	root := w.openDir("/ws")
	defer root.Close()
	res, err := capture.Read(context.Background(), root, x, w.w, w.opts)
	w.check(err)
	return res
}

func (w *captureTest) gaps(res *capture.Result) []string {
	out := []string{}
	for _, g := range res.Coverage.Gaps {
		out = append(out, string(g.Reason)+" "+g.Path)
	}
	return out
}

func TestSettledFilesAreNotReadAgain(t *testing.T) {
	t.Parallel()
	w := newCaptureTest(t)
	w.writeFile("a", "one")
	w.writeFile("dir/b", "two")
	w.advanceClock()
	first := w.captureAndAccept()
	if first.Read != 6 || first.Changed.Added != 2 {
		t.Fatalf("first: %+v", first)
	}
	w.advanceClock()
	if again := w.captureAndAccept(); again.Read != 0 || again.Changed.Total() != 0 || again.Files.Object != first.Files.Object {
		t.Errorf("nothing changed, and yet: %+v", again)
	}
	w.writeFile("dir/b", "TWO")
	w.advanceClock()
	edit := w.captureAndAccept()
	if edit.Read != 3 || edit.Changed != (retake.Counts{Edited: 1}) {
		t.Errorf("one edit: %+v", edit)
	}
}

// A file that changed just before the scan may change again without a trace: it
// is read once more.
func TestRecentFilesAreReadAgain(t *testing.T) {
	t.Parallel()
	w := newCaptureTest(t)
	w.writeFile("a", "one")
	w.clock.Advance(time.Second) // inside the window
	w.captureAndAccept()
	if res := w.captureAndAccept(); res.Read != 3 {
		t.Errorf("a file of the racy window was taken over unread")
	}
	w.advanceClock()
	w.captureAndAccept() // reads it once more, now well after its change
	if res := w.captureAndAccept(); res.Read != 0 {
		t.Errorf("a settled file was read again: %d bytes", res.Read)
	}
}

// Same size, same mtime, other bytes: the change time tells.
func TestMtimePutBackIsNoticed(t *testing.T) {
	t.Parallel()
	w := newCaptureTest(t)
	w.writeFile("a", "one")
	w.advanceClock()
	w.captureAndAccept()
	root := w.openDir("/ws")
	before, err := root.Lstat("a")
	w.check(err)
	w.advanceClock()
	w.writeFile("a", "two")
	w.check(w.fs.SetMtime("/ws/a", before.Mtime))
	w.advanceClock()
	if res := w.captureAndAccept(); res.Changed.Edited != 1 {
		t.Errorf("the edit was missed: %+v", res.Changed)
	}
}

func TestContentIDIgnoresTimes(t *testing.T) {
	t.Parallel()
	w := newCaptureTest(t)
	w.writeFile("a", "one")
	w.writeFile("d/b", "two")
	w.advanceClock()
	first := w.captureAndAccept()
	w.check(w.fs.SetMtime("/ws/a", 42))
	w.advanceClock()
	touched := w.captureAndAccept()
	if touched.Content != first.Content || touched.Files.Object == first.Files.Object || touched.Changed.Total() != 0 {
		t.Errorf("a touch: content %v, tree %v, %+v", touched.Content == first.Content, touched.Files.Object == first.Files.Object, touched.Changed)
	}
	w.check(w.fs.Chmod("/ws/a", 0o600))
	w.advanceClock()
	if res := w.captureAndAccept(); res.Content == first.Content || res.Changed.Edited != 1 {
		t.Errorf("a mode is content: %+v", res.Changed)
	}
}

func TestGapsAreNamed(t *testing.T) {
	t.Parallel()
	w := newCaptureTest(t)
	w.writeFile("kept", "k")
	w.writeFile("big", strings.Repeat("x", 100))
	w.writeFile("secret/key", "s")
	w.check(w.fs.MkdirAll("/ws/mnt", 0o755))
	w.writeFile("locked/x", "x")
	w.writeFile(".retake/id", string(workspace)+"\n")
	w.check(w.fs.Mkdev("/ws/null", 0o666))
	w.check(w.fs.Mkfifo("/ws/pipe", 0o644))
	w.check(w.fs.Mksock("/ws/sock", 0o755))
	w.check(w.fs.Mount("/ws/mnt"))
	w.check(w.fs.Chmod("/ws/locked", 0))
	w.opts.Policy = retake.Policy{MaxNewFile: 50, Exclude: []string{"secret/"}}
	w.advanceClock()
	res := w.captureAndAccept()
	want := []string{"too-big big", "unreadable locked/", "mount mnt/", "device null", "excluded secret/"}
	if d := cmp.Diff(want, w.gaps(res)); d != "" {
		t.Errorf("gaps (-want +got):\n%s", d)
	}
	if res.Coverage.Grade != retake.Partial || res.Files.Sum.Files != 3 {
		t.Errorf("%s, %d files", res.Coverage.Grade, res.Files.Sum.Files)
	}
	if res := w.captureAndAccept(); res.Changed.Deleted != 0 {
		t.Errorf("gaps count as deleted: %+v", res.Changed)
	}
}

// Only what is our own in the marker directory is left out: all else is captured, whatever
// form it has, and what a restore put aside is named.
func TestT3_MarkerDirectoryHidesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		kept  int64
		gaps  []string
	}{
		"ours alone":        {map[string]string{".retake/id": string(workspace) + "\n", ".retake/.gitignore": "*\n"}, 0, nil},
		"a stash":           {map[string]string{".retake/evil.sh": "payload"}, 1, nil},
		"a stash beside":    {map[string]string{".retake/id": string(workspace) + "\n", ".retake/.gitignore": "*\n", ".retake/deep/evil.sh": "payload"}, 2, []string{"store .retake/id"}},
		"a false mark":      {map[string]string{".retake/id": "payload"}, 1, nil},
		"another's mark":    {map[string]string{".retake/id": "ws_0198c5a4-8f00-7000-8000-000000000002\n"}, 1, nil},
		"a longer mark":     {map[string]string{".retake/id": string(workspace) + "\n" + strings.Repeat("payload", 50)}, 1, nil},
		"a file":            {map[string]string{".retake": "payload"}, 1, nil},
		"what is set aside": {map[string]string{".retake/cp_0198c5a4-8f00-7000-8000-000000000003/x": "old"}, 0, []string{"store .retake/cp_0198c5a4-8f00-7000-8000-000000000003/"}},
		"deeper is theirs":  {map[string]string{"sub/.retake/id": string(workspace) + "\n"}, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCaptureTest(t)
			for path, text := range c.files {
				w.writeFile(path, text)
			}
			w.advanceClock()
			res := w.captureAndAccept()
			if res.Files.Sum.Files != c.kept {
				t.Errorf("%d files are kept, not %d", res.Files.Sum.Files, c.kept)
			}
			if d := cmp.Diff(c.gaps, w.gaps(res), cmpopts.EquateEmpty()); d != "" {
				t.Errorf("gaps (-want +got):\n%s", d)
			}
			if res.Coverage.Grade != retake.Complete {
				t.Errorf("%s", res.Coverage.Grade)
			}
		})
	}
}

func TestGitRulesWhenAskedFor(t *testing.T) {
	t.Parallel()
	w := newCaptureTest(t)
	w.writeFile(".gitignore", "*.log\n/build/\n")
	w.writeFile("a.log", "l")
	w.writeFile("build/out", "o")
	w.writeFile("src/b.log", "l")
	w.writeFile("src/main.go", "package main")
	w.advanceClock()
	if res := w.captureAndAccept(); len(res.Coverage.Gaps) != 0 || res.Files.Sum.Files != 5 {
		t.Errorf("rules are followed unasked: %v", w.gaps(res))
	}
	w.opts.Policy.GitIgnore = true
	res := w.captureAndAccept()
	if d := cmp.Diff([]string{"ignored a.log", "ignored build/", "ignored src/b.log"}, w.gaps(res)); d != "" {
		t.Errorf("gaps (-want +got):\n%s", d)
	}
	if res.Coverage.Grade != retake.Complete {
		t.Error("a choice of the user makes no partial")
	}
}

func TestDepth(t *testing.T) {
	t.Parallel()
	w := newCaptureTest(t)
	deep := strings.Repeat("d/", 200)
	w.writeFile(deep+"kept", "k")
	w.writeFile(strings.Repeat("e/", 1100)+"lost", "l")
	w.advanceClock()
	res := w.captureAndAccept()
	if len(res.Coverage.Gaps) != 1 || res.Coverage.Gaps[0].Reason != retake.ReasonTooDeep || !strings.HasPrefix(res.Coverage.Gaps[0].Path, "e/e/") {
		t.Errorf("gaps: %v", w.gaps(res))
	}
	if res.Files.Sum.Files != 1 {
		t.Errorf("%d files", res.Files.Sum.Files)
	}
}

// A sink that fails ends the capture: a failed write is never a gap.
func TestTroubleOfTheStoreIsAnError(t *testing.T) {
	t.Parallel()
	w := newCaptureTest(t)
	w.writeFile("a", "one")
	root := w.openDir("/ws")
	_, err := capture.Read(context.Background(), root, capture.NewIndex(), brokenSink{w.w}, w.opts)
	if !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}

var errBroken = errors.New("the disk is gone")

type brokenSink struct{ capture.Sink }

func (brokenSink) WriteFile(context.Context, string, io.Reader) (retake.ObjectID, int64, error) {
	return "", 0, errBroken
}

func TestHardLinks(t *testing.T) {
	t.Parallel()
	w := newCaptureTest(t)
	w.writeFile("a", "one")
	w.writeFile("alone", "x")
	w.check(w.fs.MkdirAll("/ws/d", 0o755))
	w.check(w.fs.MkdirAll("/outside", 0o755))
	w.check(w.fs.Link("/ws/a", "/ws/d/b"))
	w.check(w.fs.Link("/ws/alone", "/outside/other"))
	w.advanceClock()
	w.captureAndAccept()
	groups := w.groups()
	if groups["a"] == "" || groups["a"] != groups["d/b"] || groups["alone"] != "" {
		t.Errorf("groups: %v", groups)
	}
	// The other link goes: what is left is an ordinary file again.
	d := w.openDir("/ws/d")
	w.check(d.Remove("b"))
	w.advanceClock()
	w.captureAndAccept()
	if groups := w.groups(); groups["a"] != "" {
		t.Errorf("a group of one: %v", groups)
	}
}

// groups reads the groups of the last capture back from the store.
func (w *captureTest) groups() map[string]string {
	out := map[string]string{}
	var walk func(path string, id retake.ObjectID)
	walk = func(path string, id retake.ObjectID) {
		entries, err := w.store.Dir(context.Background(), id)
		w.check(err)
		for _, e := range entries {
			if e.Extra != nil {
				out[path+e.Name] = e.Extra.Group
			}
			if e.Kind == retake.KindDir {
				walk(path+e.Name+"/", e.Object)
			}
		}
	}
	walk("", w.seals[len(w.seals)-1].Tree)
	return out
}
