package daemonctl

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/config"
)

// The record of a daemon names a process that may get a signal. It is read as it was written, or
// there is none; RemoveRecord leaves the record of another process.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"pid":12,"socket":"/run/s","version":"v1","stamp":7}`), 12)
	f.Add([]byte(`{"pid":-1}`), 0)
	f.Add([]byte(`{"pid":"1"}`), 1)
	f.Add([]byte(`{"pid":1`), 1)
	f.Fuzz(func(t *testing.T, text []byte, pid int) {
		c := config.Config{DataDir: t.TempDir()}
		if err := os.WriteFile(recordPath(c), text, 0o600); err != nil {
			t.Fatal(err)
		}
		r, ok := ReadRecord(c)
		if !ok && r != (Record{}) {
			t.Fatalf("no record, and %+v", r)
		}
		RemoveRecord(c, pid)
		_, err := os.Stat(recordPath(c))
		if gone := err != nil; gone != (ok && r.PID == pid) {
			t.Fatalf("process %d removed the record %+v: %v", pid, r, gone)
		}
		if !ok {
			return
		}
		if err := WriteRecord(c, r); err != nil {
			t.Fatal(err)
		}
		if again, ok := ReadRecord(c); !ok || again != r {
			t.Fatalf("%+v became %+v, %v", r, again, ok)
		}
	})
}

// A new daemon says in one line why it could not start. Whatever it says, the starter gets an error
// with a kind and the user's data is not in doubt.
func FuzzStartWord(f *testing.F) {
	f.Add(`{"kind":"busy","what":"locked","safe":"Nothing was changed.","cause":"c"}`)
	f.Add(`{"kind":"internal","cause":"panic"}`)
	f.Add(`{"kind":""}`)
	f.Add(`null`)
	b, err := json.Marshal(StartError{Error: &retake.Error{Kind: retake.Away, What: "no disk"}, Cause: "gone"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(b))
	f.Fuzz(func(t *testing.T, word string) {
		h := &Controller{conf: config.Config{DataDir: "/data"}}
		err := h.startError(word)
		if err == nil {
			t.Fatalf("%q is no error", word)
		}
		if e := retake.AsError(err); e.Kind == "" || e.Kind == retake.Internal || e.Err == nil {
			t.Fatalf("%q is %+v", word, e)
		}
	})
}
