package transcript_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/agents/transcript"
)

// seeds are short transcripts: the fuzzer cannot do much with long ones.
func seeds(f *testing.F, agent string) (list [][]byte) {
	var head []byte
	for line := range bytes.Lines(recorded(f, agent)) {
		if head == nil {
			head = line
		}
		if len(line) < 600 {
			list = append(list, line, append(bytes.Clone(head[:min(len(head), 600)]), line...))
		}
	}
	return list
}

func FuzzRead(f *testing.F) {
	for _, agent := range agents {
		for _, data := range seeds(f, agent) {
			f.Add(agent, data)
		}
	}
	f.Fuzz(func(t *testing.T, agent string, data []byte) {
		for _, l := range transcript.Read(agent, data) {
			if l.Who == "" || l.Text == "" && l.Tool == "" && l.Who != transcript.Tool && l.Who != transcript.Agent {
				t.Errorf("a line says nothing: %+v", l)
			}
		}
	})
}

func FuzzEnds(f *testing.F) {
	for _, agent := range agents {
		for _, data := range seeds(f, agent) {
			f.Add(agent, data, "Everything is tidy.")
		}
	}
	f.Fuzz(func(t *testing.T, agent string, tail []byte, message string) {
		if transcript.EndsWith(agent, tail, message) && len(bytes.TrimSpace(tail)) < 2 {
			t.Error("nothing has an end")
		}
	})
}

func FuzzFork(f *testing.F) {
	for _, agent := range agents {
		r := request(f, agent)
		for _, data := range seeds(f, agent) {
			f.Add(agent, r.Session, r.Turn, r.Path, r.Dir, data)
			f.Add(agent, "../..", "", "/a/b/../c.jsonl", "/../..", data)
		}
	}
	f.Fuzz(func(t *testing.T, agent, session, turn, path, dir string, data []byte) {
		b, err := transcript.Fork(transcript.ForkRequest{Agent: agent, Session: session, Turn: turn, Path: path, Dir: dir, Data: data, NewSession: newID, Now: now})
		if err != nil {
			return
		}
		base := filepath.Dir(path)
		if agent == "claude-code" {
			base = filepath.Dir(base)
		}
		for _, file := range b.Files {
			below, err := filepath.Rel(base, file.Path)
			if err != nil || !filepath.IsLocal(below) || filepath.Clean(file.Path) != file.Path || !strings.Contains(filepath.Base(file.Path), newID) {
				t.Errorf("the fork of %q is %q", path, file.Path)
			}
			if file.Path == path {
				t.Errorf("the fork is the original: %q", path)
			}
		}
		if b.Exact != (len(b.Files) > 0) || b.Exact != (b.Why == "") || b.Exact && len(b.Command) == 0 {
			t.Errorf("exact %t, %d files, command %q, %q", b.Exact, len(b.Files), b.Command, b.Why)
		}
	})
}
