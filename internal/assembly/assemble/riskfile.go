package assemble

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/risk"
	"github.com/retake-dev/retake/internal/platform/diag"
)

// riskTask is how the status names a user's risk.json that cannot be used.
const riskTask = "read risk.json"

// riskFile is the user's file of programs and tools for the rules of risky commands. A file that
// cannot be used adds nothing, and never fails what it is read for.
type riskFile struct {
	path string // "": there is none

	mu    sync.Mutex
	state string            // guarded by mu: what the file was when it was read
	rules *retake.RiskRules // guarded by mu
}

// openRiskFile reads the file. The recorder looks at it again whenever the status is asked for.
func openRiskFile(path string, d *diag.Recorder) *riskFile {
	f := &riskFile{path: path, state: stateMissing}
	d.Watch(riskTask, f.refresh)
	return f
}

// addTo returns the user's choices with the rules of the file as it is now.
func (f *riskFile) addTo(habits func(retake.WorkspaceID) retake.Habits, d *diag.Recorder) func(retake.WorkspaceID) retake.Habits {
	return func(ws retake.WorkspaceID) retake.Habits {
		d.Note(riskTask, f.refresh())
		h := habits(ws)
		f.mu.Lock()
		defer f.mu.Unlock()
		h.Risk = f.rules
		return h
	}
}

const stateMissing = "missing"

// refresh reads the file if it changed, else it returns diag.ErrSkipped.
func (f *riskFile) refresh() error {
	if f.path == "" {
		return diag.ErrSkipped
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path)
	state := stateMissing
	switch {
	case err == nil:
		state = fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano())
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	default:
		state = err.Error()
	}
	if state == f.state {
		return diag.ErrSkipped
	}
	f.state, f.rules = state, nil
	if err != nil || info == nil {
		return err
	}
	if f.rules, err = readRiskFile(f.path, info); err != nil {
		return fmt.Errorf("%s is not used: %w", f.path, err)
	}
	return nil
}

// readRiskFile reads a regular file of a limited size: a pipe would make whoever asks wait.
func readRiskFile(path string, info fs.FileInfo) (*retake.RiskRules, error) {
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(f, risk.MaxUserFile+1))
	if err != nil {
		return nil, err
	}
	return risk.ParseUserRules(data)
}
