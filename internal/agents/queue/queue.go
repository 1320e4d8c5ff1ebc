// Package queue stores signals that the daemon has not received yet: one small file
// each, in the order in which they came.
//
// A hook writes here when the daemon does not answer, and the daemon writes here
// what it handles after it has responded. It touches one directory and nothing else.
//
//	P1  When Put returns nil the signal survives a power cut.
//	P2  A file is whole or not listed.
//	P3  The queue is bounded: the newest are refused, never the oldest dropped.
package queue

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// MaxSignals is how many signals are kept.
const MaxSignals = 4000

const (
	fileSuffix    = ".signal"
	trimThreshold = 400 // from here on only what a checkpoint needs is kept
	maxSize       = 4 << 20
)

// ErrFull means that too many signals are waiting.
var ErrFull = errors.New("too many signals wait")

// Put stores a signal durably. The same signal again replaces it.
func Put(dir string, s retake.Signal) error {
	if err := CheckID(s.ID); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make queue: %w", err)
	}
	names, err := listSignals(dir)
	if err != nil {
		return err
	}
	if len(names) >= MaxSignals {
		return ErrFull
	}
	if len(names) >= trimThreshold {
		s = trimSignal(s)
	}
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode signal: %w", err)
	}
	if err := withReserve(dir, func() error { return fsx.ReplaceFile(filepath.Join(dir, fileName(s, names)), b, 0o600) }); err != nil {
		return fmt.Errorf("keep signal: %w", err)
	}
	return nil
}

// trimSignal drops everything that no checkpoint needs.
func trimSignal(s retake.Signal) retake.Signal {
	if s.Call != nil {
		c := *s.Call
		c.Input, c.Output, c.Paths = nil, "", nil
		s.Call = &c
	}
	s.Prompt = strings.ToValidUTF8(s.Prompt[:min(len(s.Prompt), 4096)], "")
	s.Message = ""
	return s
}

// fileName returns a name that sorts after all waiting signals, so that they keep the order
// in which they came, whatever the clock says. A signal that is already waiting keeps its
// name.
func fileName(s retake.Signal, waiting []string) string {
	for _, n := range waiting {
		if strings.HasSuffix(n, string(s.ID)+fileSuffix) {
			return n
		}
	}
	at := max(s.Time.UnixNano(), 0)
	if n := len(waiting); n > 0 {
		number, _, _ := strings.Cut(waiting[n-1], "-")
		if last, err := strconv.ParseInt(number, 10, 64); err == nil && last < math.MaxInt64 {
			at = max(at, last+1)
		}
	}
	return fmt.Sprintf("%020d-%s%s", at, s.ID, fileSuffix)
}

// CheckID accepts only ids in the form NewID returns, because they become part of a file
// name.
func CheckID(id retake.SignalID) error {
	rest, ok := strings.CutPrefix(string(id), retake.SignalPrefix)
	if !ok || len(rest) != 36 || strings.Trim(rest, "0123456789abcdef-") != "" {
		return fmt.Errorf("%.60q is not a valid event ID", id)
	}
	return nil
}

// NewID returns a new id.
func NewID() retake.SignalID {
	u, err := uuid.NewV7()
	if err != nil {
		u = uuid.New() // the order within one millisecond is all that is lost
	}
	return retake.SignalID(retake.SignalPrefix + u.String())
}

// ForEach calls f for each waiting signal, in order, until f returns false; done removes
// the signal. A file that cannot be read is renamed and skipped from then on. At most most
// files are read; 0 means all.
func ForEach(dir string, most int, f func(s retake.Signal, done func()) bool) error {
	names, err := listSignals(dir)
	if err != nil {
		return err
	}
	if most > 0 {
		names = names[:min(len(names), most)]
	}
	for _, n := range names {
		path := filepath.Join(dir, n)
		sig, err := readSignal(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was done meanwhile
		}
		if err != nil {
			_ = os.Rename(path, strings.TrimSuffix(path, fileSuffix)+"."+uuid.NewString()+unreadableSuffix) // the next look passes it
			continue
		}
		if !f(sig, func() { _ = os.Remove(path) }) { // a repeated signal changes nothing
			return nil
		}
	}
	return nil
}

// unreadableSuffix ends the names of files that could not be read.
const unreadableSuffix = ".unreadable"

// readSignal reads one stored signal. Only regular files of a bounded size are read.
func readSignal(path string) (retake.Signal, error) {
	var sig retake.Signal
	i, err := os.Lstat(path)
	if err != nil {
		return sig, err
	}
	if !i.Mode().IsRegular() || i.Size() > maxSize {
		return sig, errors.New("no signal")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return sig, err
	}
	if err := json.Unmarshal(b, &sig); err != nil {
		return sig, err
	}
	return sig, CheckID(sig.ID)
}

func listSignals(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read queue: %w", err)
	}
	var out []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), fileSuffix) {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// RemoveStale removes temporary files that crashed writers left behind before a time.
func RemoveStale(dir string, before time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if i, err := e.Info(); err == nil && isTemporary(e.Name()) && i.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(dir, e.Name())) // the next one tries again
		}
	}
}

// isTemporary reports whether a file is being written, by this release or an older one.
func isTemporary(name string) bool {
	return strings.Contains(name, fsx.TempMark) || strings.HasPrefix(name, "new-")
}

// Remove removes a signal that was handled. A missing one is not an error.
func Remove(dir string, s retake.Signal) error {
	if err := CheckID(s.ID); err != nil {
		return err
	}
	names, err := listSignals(dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		if !strings.HasSuffix(n, string(s.ID)+fileSuffix) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("drop signal: %w", err)
		}
	}
	return nil
}

// IsEmpty reports quickly whether the directory is empty or missing.
func IsEmpty(dir string) bool {
	d, err := os.Open(dir)
	if err != nil {
		return true
	}
	defer d.Close() //nolint:errcheck // only looked
	names, err := d.Readdirnames(1)
	return err != nil || len(names) == 0
}

// Count returns how many signals are waiting.
func Count(dir string) int {
	names, err := listSignals(dir)
	if err != nil {
		return 0
	}
	return len(names)
}
