package backup

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/retake-dev/retake"
)

const fuzzedWorkspace retake.WorkspaceID = "ws_0190f3a1-2b4c-7d5e-8f60-718293a4b5c6"

// The state of a backup names its remote. One that cannot be read, or is of a later version, is an
// error and not "no backup"; one that can be read is the same after it was written.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"v":1,"backup":{"workspace":"` + fuzzedWorkspace + `","set":true,"url":"git@host:path","trouble":{"kind":"away","tries":3}},"counted":"cp_1"}`))
	f.Add([]byte(`{"v":2}`))
	f.Add([]byte(`{"v":-1,"backup":{"workspace":"../../x"}}`))
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, text []byte) {
		w := &Worker{opts: Options{Dir: t.TempDir()}}
		path := filepath.Join(w.workspaceDir(fuzzedWorkspace), stateFile)
		if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, text, 0o600)); err != nil {
			t.Fatal(err)
		}
		s, err := w.loadState(fuzzedWorkspace)
		if err != nil {
			if s != nil || errors.Is(err, ErrNone) || !retake.IsKind(err, retake.Damaged) {
				t.Fatalf("%+v, %v", s, err)
			}
			return
		}
		if s.V > stateVersion {
			t.Fatalf("version %d was read", s.V)
		}
		s.Backup.Workspace = fuzzedWorkspace // it is where the state is written
		first := writeState(t, w, s, path)
		again, err := w.loadState(fuzzedWorkspace)
		if err != nil {
			t.Fatal(err)
		}
		if second := writeState(t, w, again, path); !bytes.Equal(first, second) {
			t.Fatalf("changes with every pass:\n%s\n%s", first, second)
		}
	})
}

func writeState(t *testing.T, w *Worker, s *state, path string) []byte {
	t.Helper()
	if err := w.saveState(s); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
