// Package spool keeps signals that nobody could hear yet: one small file each, in
// the order they were told.
//
// A hook writes here when the daemon does not answer, and the daemon writes here
// what it does after it answered. It touches one directory and nothing else.
//
//	P1  When Put returns nil the signal survives a power cut.
//	P2  A file is whole or not listed.
//	P3  The spool is bounded: the newest are refused, never the oldest dropped.
package spool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
)

const (
	suffix   = ".signal"
	maxFiles = 20_000
	maxSize  = 32 << 20
)

// ErrFull says that too much waits.
var ErrFull = errors.New("too many signals wait")

// Put keeps a signal. The same one again replaces it.
func Put(dir string, s retake.Signal) error {
	if err := CheckID(s.ID); err != nil {
		return err
	}
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode signal: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make spool: %w", err)
	}
	names, err := list(dir)
	if err != nil {
		return err
	}
	if len(names) >= maxFiles {
		return ErrFull
	}
	if err := write(dir, name(s), b); err != nil {
		return fmt.Errorf("keep signal: %w", err)
	}
	return nil
}

// name sorts by the time that a signal was told, then by its id.
func name(s retake.Signal) string {
	return fmt.Sprintf("%020d-%s%s", max(s.Time.UnixNano(), 0), s.ID, suffix)
}

// CheckID accepts an id as we make it, and nothing else: it becomes part of a name.
func CheckID(id retake.SignalID) error {
	rest, ok := strings.CutPrefix(string(id), retake.SignalPrefix)
	if !ok || len(rest) != 36 || strings.Trim(rest, "0123456789abcdef-") != "" {
		return fmt.Errorf("%.60q is no id of a signal", id)
	}
	return nil
}

// NewID makes an id.
func NewID() retake.SignalID {
	u, err := uuid.NewV7()
	if err != nil {
		u = uuid.New() // the order within one moment is all that is lost
	}
	return retake.SignalID(retake.SignalPrefix + u.String())
}

func write(dir, name string, b []byte) error {
	f, err := os.CreateTemp(dir, "new-")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it was not taken
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Waiting is one signal in the spool.
type Waiting struct {
	Signal retake.Signal
	file   string
}

// List answers what waits, oldest first. A file that cannot be read is put aside.
func List(dir string) ([]Waiting, error) {
	names, err := list(dir)
	if err != nil {
		return nil, err
	}
	var out []Waiting
	for _, n := range names {
		w := Waiting{file: filepath.Join(dir, n)}
		if err := w.read(); err != nil {
			_ = os.Rename(w.file, w.file+".bad") // the next look passes it
			continue
		}
		out = append(out, w)
	}
	return out, nil
}

func (w *Waiting) read() error {
	i, err := os.Lstat(w.file)
	if err != nil {
		return err
	}
	if !i.Mode().IsRegular() || i.Size() > maxSize {
		return errors.New("no signal")
	}
	b, err := os.ReadFile(w.file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, &w.Signal); err != nil {
		return err
	}
	return CheckID(w.Signal.ID)
}

func list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read spool: %w", err)
	}
	var out []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// Drop removes a signal that was done. One that is not there is no error.
func Drop(dir string, s retake.Signal) error {
	if err := CheckID(s.ID); err != nil {
		return err
	}
	err := os.Remove(filepath.Join(dir, name(s)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Count is how many wait.
func Count(dir string) int {
	names, err := list(dir)
	if err != nil {
		return 0
	}
	return len(names)
}
