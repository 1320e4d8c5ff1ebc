package transcript

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ForkRequest asks for a conversation that continues at a turn.
type ForkRequest struct {
	Agent      string
	Session    string // the one that is forked, as the agent names it
	Turn       string // the last one that is kept, as the agent names it; may be unknown
	Path       string // of the transcript, as recorded
	Data       []byte // the transcript up to the turn
	NewSession string // UUID of the new session
	Dir        string // where it continues; empty: where it was
	Now        time.Time
}

// Branch is a forked conversation: new files to write, and the command that continues it.
type Branch struct {
	Session string   // the new one; the old one when it is not forked
	Files   []File   // none when it is not forked
	Command []string // nil if the agent cannot continue
	Exact   bool     // it continues at that turn; else with everything that was said
	Why     string   // why it is not exact, or there is no command
}

// File is a file to be written, readable by its owner only. It must not exist yet.
type File struct {
	Path string // absolute
	Data []byte
}

var (
	errNewSession = errors.New("new session is no UUID")
	errPath       = errors.New("path of the transcript is not absolute")
)

// Fork forks a conversation. An error means that the request makes no sense; a conversation
// that is not understood yields a branch that is not exact.
func Fork(r ForkRequest) (Branch, error) {
	if !isUUID(r.NewSession) {
		return Branch{}, fmt.Errorf("fork conversation: %w: %.40q", errNewSession, r.NewSession)
	}
	if r.Path != "" && (!filepath.IsAbs(r.Path) || filepath.Clean(r.Path) != r.Path || strings.ContainsRune(r.Path, 0)) {
		return Branch{}, fmt.Errorf("fork conversation: %w: %.80q", errPath, r.Path)
	}
	switch r.Agent {
	case claudeCode:
		return forkClaude(r), nil
	case codex:
		return forkCodex(r), nil
	case gemini:
		return forkGemini(r), nil
	case opencode:
		return forkOpencode(r), nil
	case dockerAgent:
		return forkDocker(r), nil
	}
	return Branch{Session: r.Session, Why: "Retake can't continue conversations of this agent"}, nil
}

// wholeBranch returns the branch that continues with everything that was said.
func wholeBranch(r ForkRequest, why string, command ...string) Branch {
	if !isSafeArg(r.Session) {
		return Branch{Session: r.Session, Why: why}
	}
	return Branch{Session: r.Session, Command: command, Why: why}
}

// Why a branch is not exact.
const (
	reasonNothing = "nothing of the conversation is kept"
	reasonFormat  = "the conversation is not written in a way that is known"
	reasonPlace   = "the conversation does not lie where the agent keeps its own"
)

// isInDirs reports whether a path ends in these directories and a file. The path comes from
// the agent and is not trusted: files are created only where agents look for them.
func isInDirs(path string, dirs ...string) bool {
	for _, want := range slices.Backward(dirs) {
		path = filepath.Dir(path)
		if ok, err := filepath.Match(want, filepath.Base(path)); err != nil || !ok {
			return false
		}
	}
	return true
}

// forkObstacle returns why a conversation cannot be forked, before looking into it, or "".
func forkObstacle(r ForkRequest, dirs ...string) string {
	switch {
	case len(r.Data) == 0 || r.Path == "":
		return reasonNothing
	case !isInDirs(r.Path, dirs...):
		return reasonPlace
	}
	return ""
}

// isSafeArg reports whether an agent's id can be an argument of a command: it is not taken
// for a flag.
func isSafeArg(s string) bool { return s != "" && s[0] != '-' && !strings.ContainsRune(s, 0) }

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
				return false
			}
		}
	}
	return true
}
