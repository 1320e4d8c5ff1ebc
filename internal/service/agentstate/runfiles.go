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

// judgeWithFiles judges a call with the files that it is about to run, so that the judgement covers what
// they do. It returns nil if somebody else has to judge it: on a server the paths are those of another
// machine, and files may run more files than are read.
func (s runFileReader) judgeWithFiles(sig *retake.Signal, user *retake.RiskRules) *risk.Judgement {
	if sig.Kind != retake.SignalCall || sig.Call == nil || !s.rescuer.IsLocal() {
		return nil
	}
	call := *sig.Call
	call.Files = map[string]string{}
	sig.Call = &call
	left := maxRunBytes
	for range maxRunRounds {
		j := risk.JudgeWith(user, call)
		if len(j.Runs) == 0 {
			return &j
		}
		for _, place := range j.Runs {
			text := s.readRunFile(sig, place)
			if len(text) > left {
				text = ""
			}
			left -= len(text)
			call.Files[place] = text
		}
	}
	return nil
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
