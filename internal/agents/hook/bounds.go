package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/retake-dev/retake"
)

// Limits on what an agent may send, in bytes or entries.
const (
	maxPayload = 16 << 20
	maxID      = 128
	maxPrompt  = 64 << 10
	maxCommand = 64 << 10
	maxInput   = 64 << 10
	maxOutput  = 64 << 10
	maxMessage = 256 << 10
	maxWord    = 256 // reasons and names of tools
	maxFailed  = 4 << 10
	maxPath    = 4 << 10
	maxPaths   = 256
	maxTasks   = 256
	maxTitle   = 1 << 10
	maxNote    = 8 << 10
	maxSignals = 64
	maxRunning = 1 << 16
)

// truncationMark ends a truncated text; it counts towards the limit.
const truncationMark = "\n[cut]"

var byteOrderMark = []byte("\xef\xbb\xbf")

var (
	errKind    = errors.New("kind is unknown")
	errSession = errors.New("session id is missing or not clean")
	errDir     = errors.New("directory is not absolute")
	errCall    = errors.New("call is missing, has no tool, or belongs to another kind")
)

// admitSignal enforces J4: it makes a signal fit for the service, or refuses it. Signals of
// built-in and of external adapters pass it alike.
func admitSignal(s *retake.Signal, w EventContext) error {
	if !slices.Contains(retake.SignalKinds, s.Kind) {
		return fmt.Errorf("%w: %.40q", errKind, s.Kind)
	}
	if !isSessionID(s.Session) {
		return fmt.Errorf("%w: %.40q", errSession, s.Session)
	}
	if s.Dir = cleanDir(s.Dir); s.Dir == "" {
		if s.Dir = cleanDir(w.Dir); s.Dir == "" {
			return errDir
		}
	}
	if called := s.Kind == retake.SignalCall || s.Kind == retake.SignalCalled; called != (s.Call != nil) || called && s.Call.Tool == "" {
		return errCall
	}
	s.ID, s.Time = w.NewID(), w.Now
	s.Version, s.Turn, s.Subagent = cleanID(s.Version), cleanID(s.Turn), cleanID(s.Subagent)
	prompt, machine := personWords(s.Prompt)
	s.Prompt, s.Machine = truncate(prompt, maxPrompt), s.Machine || machine
	s.Message, s.Failed, s.Reason = truncate(s.Message, maxMessage), truncate(s.Failed, maxFailed), truncate(s.Reason, maxWord)
	s.Transcript = cleanFilePath(s.Transcript)
	s.Running = max(0, min(s.Running, maxRunning))
	s.Tasks = boundTasks(s.Tasks)
	if s.Call != nil {
		s.Call = boundCall(*s.Call)
	}
	return nil
}

func boundCall(c retake.Call) *retake.Call {
	if !slices.Contains([]retake.CallKind{retake.CallShell, retake.CallWrite, retake.CallRead, retake.CallMCP}, c.Kind) {
		c.Kind = retake.CallOther
	}
	c.ID, c.Tool, c.Server = cleanID(c.ID), truncate(c.Tool, maxWord), truncate(c.Server, maxWord)
	c.Command, c.Output = truncate(c.Command, maxCommand), truncate(c.Output, maxOutput)
	c.Input = boundInput(c.Input)
	var paths []string
	for _, p := range c.Paths {
		if p != "" && len(p) <= maxPath && utf8.ValidString(p) && !strings.ContainsRune(p, 0) && len(paths) < maxPaths && !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	c.Paths = paths
	return &c
}

// boundInput keeps the input without white space. One that is too large becomes a JSON
// string of its beginning.
func boundInput(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil {
		return nil
	}
	text := strings.ToValidUTF8(b.String(), "\uFFFD")
	if len(text) <= maxInput {
		return json.RawMessage(text)
	}
	// A quote, a backslash or a line separator takes twice its bytes in a text.
	b.Reset()
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(truncate(text, maxInput/2-1)) != nil {
		return nil
	}
	return bytes.TrimSpace(b.Bytes())
}

// truncate makes a text valid and no longer than n bytes, with a mark if it was cut.
func truncate(s string, n int) string {
	long := len(s) > n
	s = strings.ToValidUTF8(s[:min(len(s), n)], "\uFFFD")
	if !long && len(s) <= n {
		return s
	}
	end := min(len(s), n-len(truncationMark))
	for end > 0 && end < len(s) && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + truncationMark
}

// isSessionID reports whether an id may name a session: [A-Za-z0-9._:-]{1,128}, and not
// only dots.
func isSessionID(s string) bool {
	return len(s) <= maxID && strings.Trim(s, ".") != "" && cleanID(s) == s
}

func isIDByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == ':' || c == '-'
}

// cleanID makes a valid id of what an agent sends as one. A long one keeps its beginning
// and a hash of the whole, so that different ids stay different.
func cleanID(s string) string {
	end := ""
	if len(s) > maxID {
		h := fnv.New64a()
		_, _ = h.Write([]byte(s)) // never fails
		end = fmt.Sprintf("-%016x", h.Sum64())
		s = s[:maxID-len(end)]
	}
	clean := []byte(s)
	for i, c := range clean {
		if !isIDByte(c) {
			clean[i] = '-'
		}
	}
	return string(clean) + end
}

// cleanDir returns an absolute directory, or "". A path with the replacement character for
// invalid UTF-8 is not the one that the agent works in.
func cleanDir(dir string) string {
	if len(dir) > maxPath || !filepath.IsAbs(dir) || !utf8.ValidString(dir) || strings.ContainsRune(dir, 0) || strings.ContainsRune(dir, utf8.RuneError) {
		return ""
	}
	return filepath.Clean(dir)
}

// cleanFilePath returns an absolute path that is already clean, or "".
func cleanFilePath(path string) string {
	if p := cleanDir(path); p == path {
		return p
	}
	return ""
}

// admit validates a request for a worktree: a name that can be the name of a directory, or
// an absolute path. It returns nil for anything else.
func (t *WorktreeRequest) admit(w EventContext) *WorktreeRequest {
	if t == nil {
		return nil
	}
	out := WorktreeRequest{Name: strings.TrimLeft(cleanID(t.Name), ".-"), Remove: cleanFilePath(t.Remove), Dir: cleanDir(t.Dir)}
	if out.Dir == "" {
		out.Dir = cleanDir(w.Dir)
	}
	if out.Dir == "" || (out.Name == "") == (out.Remove == "") {
		return nil
	}
	return &out
}
