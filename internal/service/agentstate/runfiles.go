package agentstate

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/risk"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// Limits of the files that are read because a call runs them.
const (
	maxRunRounds = 3 // files that run files
	maxRunBytes  = 4 * risk.MaxText
)

// runFileReader reads the files that calls run.
type runFileReader struct{ *Agents }

// readRunFiles reads the files that a call is about to run, so that its judgement covers what they
// do. On a server the paths are those of another machine.
func (s runFileReader) readRunFiles(sig *retake.Signal, user *retake.RiskRules) {
	if sig.Kind != retake.SignalCall || sig.Call == nil || !s.rescuer.IsLocal() {
		return
	}
	call := *sig.Call
	call.Files = map[string]string{}
	left := maxRunBytes
	for range maxRunRounds {
		more := risk.JudgeWith(user, call).Runs
		if len(more) == 0 {
			break
		}
		for _, place := range more {
			text := s.readRunFile(sig, place)
			if len(text) > left {
				text = ""
			}
			left -= len(text)
			call.Files[place] = text
		}
	}
	sig.Call = &call
}

// readRunFile returns the text of a file; "" if there is none.
func (s runFileReader) readRunFile(sig *retake.Signal, place string) string {
	var texts []string
	for _, at := range s.absolutePaths(*sig, place) {
		if b := s.readStart(at); len(b) > 0 && bytes.IndexByte(b, 0) < 0 {
			texts = append(texts, string(b))
		}
	}
	return strings.Join(texts, "\n")
}

// readStart returns the beginning of a regular file.
func (s runFileReader) readStart(at string) []byte {
	real, err := workspace.RealPath(at)
	if err != nil {
		return nil
	}
	dir, err := s.workspaces.FS.OpenRoot(filepath.Dir(real))
	if err != nil {
		return nil
	}
	defer dir.Close() //nolint:errcheck // only read
	f, err := dir.OpenFile(filepath.Base(real))
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(f, risk.MaxText))
	if err != nil {
		return nil
	}
	return b
}
