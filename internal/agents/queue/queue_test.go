package queue_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
)

func signal(sec int64) retake.Signal {
	return retake.Signal{ID: queue.NewID(), Kind: retake.SignalPrompt, Time: time.Unix(sec, 0).UTC(), Agent: "codex", Session: "s", Prompt: "say “hi”\n\x1b[31m"}
}

func all(t *testing.T, dir string) (out []retake.Signal) {
	t.Helper()
	if err := queue.ForEach(dir, 0, func(s retake.Signal, _ func()) bool {
		out = append(out, s)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// The order is that of coming: a clock may have gone back between two signals.
func TestOldestComesFirst(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "made")
	early, late := signal(200), signal(100)
	for _, s := range []retake.Signal{early, late, early} {
		if err := queue.Put(dir, s); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff([]retake.Signal{early, late}, all(t, dir)); d != "" {
		t.Errorf("Each (-want +got):\n%s", d)
	}
	if err := queue.Remove(dir, early); err != nil {
		t.Fatal(err)
	}
	if err := queue.Remove(dir, early); err != nil {
		t.Errorf("Drop again: %v", err)
	}
	if n := queue.Count(dir); n != 1 {
		t.Errorf("Count after a drop: %d, want 1", n)
	}
}

func TestNoPathIsMadeOfAnID(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, id := range []retake.SignalID{"", "sg_", "sg_../../../../../../../../../../../tmp/x", "cp_0190f3a1-2b4c-7d5e-8f60-718293a4b5c6", retake.SignalID("sg_" + strings.Repeat("/", 36))} {
		s := signal(1)
		s.ID = id
		if queue.Put(dir, s) == nil || queue.Remove(dir, s) == nil {
			t.Errorf("the id %q is taken", id)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("files after refused ids: %v, %v", left, err)
	}
}

func TestWhatCannotBeReadIsPutAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := signal(5)
	if err := queue.Put(dir, good); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "0-half.signal"), []byte(`{"id":"sg_`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "0-link.signal")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "0-dir.signal"), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := all(t, dir); len(got) != 1 || got[0].ID != good.ID {
			t.Fatalf("Each: %v; want the good one alone", got)
		}
	}
	if n := queue.Count(dir); n != 1 {
		t.Errorf("Count: %d, want 1", n)
	}
}

func TestNewIDIsOne(t *testing.T) {
	t.Parallel()
	if err := queue.CheckID(queue.NewID()); err != nil {
		t.Error(err)
	}
}

func TestManySignalsAreKeptLean(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 401 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.signal", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := signal(5)
	s.Call = &retake.Call{Tool: "Bash", Command: "ls", Output: strings.Repeat("x", 1<<20), Input: []byte(`{}`)}
	s.Prompt = strings.Repeat("é", 1<<16)
	if err := queue.Put(dir, s); err != nil {
		t.Fatal(err)
	}
	got := all(t, dir)
	if len(got) != 1 || got[0].Call.Command != "ls" || got[0].Call.Output != "" || len(got[0].Prompt) > 4096 || !utf8.ValidString(got[0].Prompt) {
		t.Errorf("kept %+v", got)
	}
}

func TestHalvesAreTidiedUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "new-1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	queue.RemoveStale(dir, time.Unix(1, 0))
	if _, err := os.Stat(filepath.Join(dir, "new-1")); err != nil {
		t.Errorf("what is being written is gone: %v", err)
	}
	i, err := os.Stat(filepath.Join(dir, "new-1"))
	if err != nil {
		t.Fatal(err)
	}
	queue.RemoveStale(dir, i.ModTime().Add(time.Hour))
	if _, err := os.Stat(filepath.Join(dir, "new-1")); err == nil {
		t.Error("what nobody writes any more stays")
	}
}

func TestWhatIsDoneGoesWhateverItsName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := queue.Put(dir, signal(5)); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	if err := os.Rename(filepath.Join(dir, names[0].Name()), filepath.Join(dir, "odd.signal")); err != nil {
		t.Fatal(err)
	}
	if err := queue.ForEach(dir, 0, func(_ retake.Signal, done func()) bool {
		done()
		return true
	}); err != nil || queue.Count(dir) != 0 {
		t.Errorf("%d wait, %v", queue.Count(dir), err)
	}
}
