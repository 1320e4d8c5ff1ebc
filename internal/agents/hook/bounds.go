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

// Bounds of what an agent may tell, in bytes or entries.
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

// cutMark ends what was cut; it is part of the bound.
const cutMark = "\n[cut]"

var byteOrderMark = []byte("\xef\xbb\xbf")

var (
	errKind    = errors.New("kind is unknown")
	errSession = errors.New("session id is missing or not clean")
	errDir     = errors.New("directory is not absolute")
	errCall    = errors.New("call is missing, has no tool, or belongs to another kind")
)

// admit is the gate of J4: it makes a signal fit for the service, or refuses it.
// Signals of our adapters and of external ones pass it alike.
func admit(s *retake.Signal, w World) error {
	if !slices.Contains(retake.SignalKinds, s.Kind) {
		return fmt.Errorf("%w: %.40q", errKind, s.Kind)
	}
	if !sessionID(s.Session) {
		return fmt.Errorf("%w: %.40q", errSession, s.Session)
	}
	if s.Dir = place(s.Dir); s.Dir == "" {
		if s.Dir = place(w.Dir); s.Dir == "" {
			return errDir
		}
	}
	if called := s.Kind == retake.SignalCall || s.Kind == retake.SignalCalled; called != (s.Call != nil) || called && s.Call.Tool == "" {
		return errCall
	}
	s.ID, s.Time = w.NewID(), w.Now
	s.Version, s.Turn, s.Subagent = cleanID(s.Version), cleanID(s.Turn), cleanID(s.Subagent)
	prompt, machine := spoken(s.Prompt)
	s.Prompt, s.Machine = cut(prompt, maxPrompt), s.Machine || machine
	s.Message, s.Failed, s.Reason = cut(s.Message, maxMessage), cut(s.Failed, maxFailed), cut(s.Reason, maxWord)
	s.Transcript = file(s.Transcript)
	s.Running = max(0, min(s.Running, maxRunning))
	s.Tasks = tidy(s.Tasks)
	if s.Call != nil {
		s.Call = boundCall(*s.Call)
	}
	return nil
}

func boundCall(c retake.Call) *retake.Call {
	if !slices.Contains([]retake.CallKind{retake.CallShell, retake.CallWrite, retake.CallRead, retake.CallMCP}, c.Kind) {
		c.Kind = retake.CallOther
	}
	c.ID, c.Tool, c.Server = cleanID(c.ID), cut(c.Tool, maxWord), cut(c.Server, maxWord)
	c.Command, c.Output = cut(c.Command, maxCommand), cut(c.Output, maxOutput)
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

// boundInput keeps the input as it is, without blanks; one that is too large
// becomes a JSON text of its beginning.
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
	if e.Encode(cut(text, maxInput/2-1)) != nil {
		return nil
	}
	return bytes.TrimSpace(b.Bytes())
}

// cut makes a text valid and no longer than n, with a mark where it ends early.
func cut(s string, n int) string {
	long := len(s) > n
	s = strings.ToValidUTF8(s[:min(len(s), n)], "\uFFFD")
	if !long && len(s) <= n {
		return s
	}
	end := min(len(s), n-len(cutMark))
	for end > 0 && end < len(s) && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + cutMark
}

// sessionID reports whether an id may name a session: [A-Za-z0-9._:-]{1,128}, and
// not only dots.
func sessionID(s string) bool {
	return len(s) <= maxID && strings.Trim(s, ".") != "" && cleanID(s) == s
}

func idByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == ':' || c == '-'
}

// cleanID makes an id of what an agent calls one. Long ones keep their beginning
// and a sum of the whole, so that two stay two.
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
		if !idByte(c) {
			clean[i] = '-'
		}
	}
	return string(clean) + end
}

// place is a directory by an absolute path, or nothing. A path with the sign for
// bytes that are not UTF-8 is not the one that the agent works in.
func place(dir string) string {
	if len(dir) > maxPath || !filepath.IsAbs(dir) || !utf8.ValidString(dir) || strings.ContainsRune(dir, 0) || strings.ContainsRune(dir, utf8.RuneError) {
		return ""
	}
	return filepath.Clean(dir)
}

// file is an absolute path without detours, or nothing.
func file(path string) string {
	if p := place(path); p == path {
		return p
	}
	return ""
}

// admit is the gate for worktrees: a name that can be the name of a directory, or
// an absolute path.
func (t *Worktree) admit(w World) *Worktree {
	if t == nil {
		return nil
	}
	out := Worktree{Name: strings.TrimLeft(cleanID(t.Name), ".-"), Remove: file(t.Remove), Dir: place(t.Dir)}
	if out.Dir == "" {
		out.Dir = place(w.Dir)
	}
	if out.Dir == "" || (out.Name == "") == (out.Remove == "") {
		return nil
	}
	return &out
}
