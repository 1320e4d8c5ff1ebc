package queue_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
)

const fuzzedID = "sg_0190f3a1-2b4c-7d5e-8f60-718293a4b5c6"

// readOne puts one file into a new queue and returns the signals that are read from it.
func readOne(t *testing.T, text []byte) (dir string, got []retake.Signal) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "00000000000000000001-"+fuzzedID+".signal"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, all(t, dir)
}

// A queue file may be of another version, or half of one. It is a signal with a valid ID that is
// the same when it is written again, or it is set aside with all its bytes.
func FuzzSignalFile(f *testing.F) {
	f.Add([]byte(`{"id":"` + fuzzedID + `","kind":"prompt","time":"2026-03-02T12:00:00Z","agent":"codex","session":"s","prompt":"fix the test"}`))
	f.Add([]byte(`{"id":"` + fuzzedID + `","kind":"call","call":{"tool":"Bash","kind":"shell","input":{"command" : "ls"},"paths":["a"]}}`))
	f.Add([]byte(`{"id":"sg_../../../../../../../../../../../tmp/x"}`))
	f.Add([]byte(`{"id":`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir, got := readOne(t, text)
		if len(got) == 0 {
			wantSetAside(t, dir, text)
			return
		}
		if err := queue.CheckID(got[0].ID); err != nil {
			t.Fatalf("read with a bad ID: %v", err)
		}
		b, err := json.Marshal(got[0])
		if err != nil {
			t.Fatalf("read and cannot be written: %v", err)
		}
		_, again := readOne(t, b)
		if len(again) != 1 {
			t.Fatalf("what was written is not read: %s", b)
		}
		if c, err := json.Marshal(again[0]); err != nil || !bytes.Equal(b, c) {
			t.Fatalf("changes with every pass: %v\n%s\n%s", err, b, c)
		}
	})
}

func wantSetAside(t *testing.T, dir string, text []byte) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || !strings.HasSuffix(entries[0].Name(), ".unreadable") {
		t.Fatalf("the queue has %v, %v", entries, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, entries[0].Name())); err != nil || !bytes.Equal(b, text) {
		t.Fatalf("the bytes were changed to %q, %v", b, err)
	}
}

// An ID becomes part of a file name, so no accepted ID may leave the directory.
func FuzzSignalID(f *testing.F) {
	f.Add(fuzzedID)
	f.Add("sg_")
	f.Add("sg_" + strings.Repeat("/", 36))
	f.Add("sg_" + strings.Repeat("-", 36))
	f.Fuzz(func(t *testing.T, text string) {
		if queue.CheckID(retake.SignalID(text)) != nil {
			return
		}
		if !filepath.IsLocal(text) || filepath.Base(text) != text || len(text) != len(fuzzedID) || strings.ContainsAny(text, ".\x00") {
			t.Fatalf("%q is accepted", text)
		}
	})
}
