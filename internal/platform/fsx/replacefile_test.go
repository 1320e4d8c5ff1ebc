package fsx_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
)

// written is what a file was, and may be after a cut.
type written struct {
	sure  string // acknowledged: it or one of the later ones
	later []string
}

func (w *written) allows(text string) bool {
	for _, l := range w.later {
		if text == l {
			return true
		}
	}
	return text == w.sure
}

// Every file of the home is written by this function. After a power cut at any instant, with any
// of the changes that were not synced, it is the one that was acknowledged or one that was being
// written, whole.
func TestReplaceIsWholeAfterACut(t *testing.T) {
	states, inFlight := 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 19))
		n, late := cutReplaces(t, r, fsx.ReplaceIn)
		states, inFlight = states+n, inFlight+late
	}
	if states < 5000 || inFlight == 0 {
		t.Errorf("%d states, %d of them with a file that was being written: the test shows too little", states, inFlight)
	}
	t.Logf("%d states, %d with a file that was being written", states, inFlight)
}

// A function that does not sync the file, as the settings were once written, is caught.
func TestReplaceControl(t *testing.T) {
	caught := 0
	probe := &probeT{}
	for seed := range uint64(50) {
		cutReplaces(probe, rand.New(rand.NewPCG(seed, 19)), func(dir fsx.Dir, name string, data []byte) error {
			f, err := dir.Create(name+".tmp", 0o600)
			if err != nil {
				return err
			}
			_, err = f.Write(data)
			return errors.Join(err, f.Close(), dir.Rename(name+".tmp", dir, name), dir.Sync())
		})
		if probe.failed {
			caught++
		}
		probe.failed = false
	}
	if caught == 0 {
		t.Error("files that were not synced were whole after all cuts")
	}
}

// probeT notes that a test would have failed.
type probeT struct{ failed bool }

func (p *probeT) Helper()               {}
func (p *probeT) Errorf(string, ...any) { p.failed = true }
func (p *probeT) Fatal(...any)          { p.failed = true }

type tester interface {
	Helper()
	Errorf(format string, a ...any)
	Fatal(a ...any)
}

// cutReplaces replaces files, and looks at states after cuts at each step.
func cutReplaces(t tester, r *rand.Rand, replace func(fsx.Dir, string, []byte) error) (states, inFlight int) {
	t.Helper()
	disk := fsxtest.NewMemory()
	files := map[string]*written{"config.json": {}, "password": {}, "reader.key": {}}
	look := func() {
		for range 2 {
			states++
			after := disk.Crash(func(int) bool { return r.IntN(2) == 0 })
			for name, w := range files {
				if text := textOf(t, after, name); !w.allows(text) {
					t.Errorf("%s is %q, and was %q, then %q", name, text, w.sure, w.later)
				} else if len(w.later) > 0 {
					inFlight++
				}
			}
		}
	}
	dir, err := fsxtest.BeforeEach(disk, look).OpenRoot("/")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"config.json", "password", "reader.key"}
	for i := range 1 + r.IntN(5) {
		name := names[r.IntN(len(names))]
		w, text := files[name], strings.Repeat(fmt.Sprint("version ", i, "\n"), 1+r.IntN(900))
		w.later = append(w.later, text)
		if err := replace(dir, name, []byte(text)); err != nil {
			t.Fatal(err)
		}
		w.sure, w.later = text, nil
		look()
	}
	return states, inFlight
}

func textOf(t tester, disk fsx.FS, name string) string {
	t.Helper()
	dir, err := disk.OpenRoot("/")
	if err != nil {
		t.Fatal(err)
	}
	f, err := dir.OpenFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Settings may be kept behind a symbolic link.
func TestReplaceFileBehindALink(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "real"), 0o755), os.Symlink("real", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "link", "config.json")
	for _, text := range []string{"1", "2"} {
		if err := fsx.ReplaceFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "real", "config.json")); string(b) != "2" {
		t.Errorf("the file is %q: %v", b, err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "real")); len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
