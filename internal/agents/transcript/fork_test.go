package transcript_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake/internal/agents/transcript"
)

const newID = "0f3a1c52-7b1e-4f0e-9a51-3f6d0c2b9e11"

var now = time.Date(2026, 11, 15, 13, 14, 15, 0, time.UTC)

// original is where each agent keeps the recorded session, and how it names it and
// the second of its turns. Gemini CLI has no names for turns.
var original = map[string]struct{ session, turn, path string }{
	"claude-code": {"66a1c084-d221-49ed-96f9-6f5eb4ddd746", "1352fb85-6e55-4079-ae61-2bc8fcf83f6a", "/home/dev/.claude/projects/-home-dev-app/66a1c084-d221-49ed-96f9-6f5eb4ddd746.jsonl"},
	"codex":       {"01a1df31-102e-77a0-b9f2-8e01bd65b106", "01a1df31-154c-77f2-bc59-8649caf4a3d8", "/home/dev/.codex/sessions/2026/11/15/rollout-2026-11-15T12-31-37-01a1df31-102e-77a0-b9f2-8e01bd65b106.jsonl"},
	"gemini":      {"5b81a38e-445e-4284-a4b1-b237b5185597", "", "/home/dev/.gemini/tmp/app/chats/session-2026-11-15T12-36-5b81a38e.jsonl"},
	"opencode":    {"ses_e20cce24cffeoe4QrY8lM7sHiV", "msg_1df334273001xefJ4koZ0QUhtZ", "/home/dev/.local/share/opencode/retake/ses_e20cce24cffeoe4QrY8lM7sHiV.jsonl"},
}

func request(t testing.TB, agent string) transcript.ForkRequest {
	t.Helper()
	o := original[agent]
	return transcript.ForkRequest{Agent: agent, Session: o.session, Turn: o.turn, Path: o.path, Data: recorded(t, agent), NewSession: newID, Dir: "/home/dev/app", Now: now}
}

func fork(t *testing.T, r transcript.ForkRequest) transcript.Branch {
	t.Helper()
	b, err := transcript.Fork(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// twoTurns is the transcript as it was before the third prompt.
func twoTurns(t testing.TB, agent string) []byte {
	data := recorded(t, agent)
	third := bytes.Index(data, []byte("Tidy up"))
	if agent == "gemini" { // a resumed session begins by telling all again
		third = bytes.LastIndex(data[:third], []byte(`{"$set":{"sessionId"`))
	}
	return data[:bytes.LastIndexByte(data[:third], '\n')+1]
}

// lined gives the lines of an import of opencode back.
func lined(t *testing.T, document []byte) []byte {
	t.Helper()
	var d struct {
		Info     json.RawMessage
		Messages []json.RawMessage
	}
	if err := json.Unmarshal(document, &d); err != nil {
		t.Fatal(err)
	}
	out := []byte(`{"info":` + string(d.Info) + "}\n")
	for _, m := range d.Messages {
		out = append(append(out, m...), '\n')
	}
	return out
}

func TestForkHoldsTheTurnsAndNoMore(t *testing.T) {
	t.Parallel()
	commands := map[string][]string{
		"claude-code": {"claude", "--resume", newID},
		"codex":       {"codex", "resume", newID},
		"gemini":      {"gemini", "--resume", newID},
	}
	for _, agent := range agents {
		for name, data := range map[string][]byte{"cut before": twoTurns(t, agent), "cut by the turn": recorded(t, agent)} {
			r := request(t, agent)
			if r.Data = data; name == "cut by the turn" && r.Turn == "" {
				continue
			}
			b := fork(t, r)
			if !b.Exact || b.Why != "" || len(b.Files) != 1 {
				t.Fatalf("%s, %s: exact %t, %q, %d files", agent, name, b.Exact, b.Why, len(b.Files))
			}
			held := b.Files[0].Data
			if agent == "opencode" {
				held = lined(t, held)
			} else if !slices.Equal(b.Command, commands[agent]) || b.Session != newID {
				t.Errorf("%s: the command is %q for %s", agent, b.Command, b.Session)
			}
			if got, want := spoken(transcript.Read(agent, held)), strings.Join(turns[:2], "\n"); got != want {
				t.Errorf("%s, %s: the fork holds\n%s\nwant\n%s", agent, name, got, want)
			}
			if bytes.Contains(held, []byte(`"`+r.Session+`"`)) {
				t.Errorf("%s, %s: the fork still has the old name", agent, name)
			}
		}
	}
}

// What is not the name of the session stays as the agent wrote it, byte for byte.
func TestForkChangesNothingElse(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{"claude-code", "codex", "gemini"} {
		r := request(t, agent)
		r.Data, r.Turn = twoTurns(t, agent), ""
		back := bytes.ReplaceAll(fork(t, r).Files[0].Data, []byte(newID), []byte(r.Session))
		got, want := bytes.Split(back, []byte("\n")), bytes.Split(r.Data, []byte("\n"))
		if len(got) != len(want) {
			t.Fatalf("%s: %d lines, want %d", agent, len(got), len(want))
		}
		for i := range got {
			if !bytes.Equal(got[i], want[i]) && (i > 0 || agent == "claude-code") { // the first of the others has the time
				t.Errorf("%s: line %d is\n%s\nwant\n%s", agent, i, got[i], want[i])
			}
		}
	}
}

func TestForkOfOpencodeHasNewNamesInTheSameOrder(t *testing.T) {
	t.Parallel()
	b := fork(t, request(t, "opencode"))
	const session, file = "ses_0f3a1c527b1e4f0e9a513f6d0c2b9e11", "/home/dev/.local/share/opencode/retake/" + newID + ".json"
	if b.Session != session || b.Files[0].Path != file {
		t.Errorf("the fork is %s in %s", b.Session, b.Files[0].Path)
	}
	if want := []string{"sh", "-c", `opencode import "$1" && exec opencode --session "$2"`, "retake", file, session}; !slices.Equal(b.Command, want) {
		t.Errorf("the command is %q", b.Command)
	}
	type named struct {
		Info struct {
			ID, ParentID, SessionID string
		}
		Parts []struct{ ID, MessageID, SessionID string }
	}
	read := func(data []byte) (list []named) {
		for line := range bytes.Lines(data) {
			var n named
			if err := json.Unmarshal(line, &n); err != nil {
				t.Fatal(err)
			}
			list = append(list, n)
		}
		return list[1:]
	}
	was, is := read(twoTurns(t, "opencode")), read(lined(t, b.Files[0].Data))
	if len(was) != len(is) || len(is) != 7 {
		t.Fatalf("%d messages became %d", len(was), len(is))
	}
	names := map[string]string{}
	for i := range is {
		if is[i].Info.ID == was[i].Info.ID || is[i].Info.SessionID != session || i > 0 && is[i].Info.ID <= is[i-1].Info.ID {
			t.Errorf("message %d is %+v", i, is[i].Info)
		}
		names[was[i].Info.ID] = is[i].Info.ID
		if names[was[i].Info.ParentID] != is[i].Info.ParentID {
			t.Errorf("message %d answers %s", i, is[i].Info.ParentID)
		}
		for j, p := range is[i].Parts {
			if p.ID == was[i].Parts[j].ID || p.MessageID != is[i].Info.ID || p.SessionID != session || len(p.ID) != len(was[i].Parts[j].ID) {
				t.Errorf("part %d of message %d is %+v", j, i, p)
			}
		}
	}
}

func TestForkPutsTheFileBesideTheOriginal(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		"claude-code": newID + ".jsonl",
		"codex":       "rollout-2026-11-15T13-14-15-" + newID + ".jsonl",
		"gemini":      "session-2026-11-15T13-14-" + newID + ".jsonl",
		"opencode":    newID + ".json",
	} {
		r := request(t, agent)
		if got := fork(t, r).Files[0].Path; got != filepath.Join(filepath.Dir(r.Path), want) {
			t.Errorf("%s: the fork is %s", agent, got)
		}
	}
}

// The names of these folders were read off Claude Code.
func TestForkOfClaudeGoesWhereAnotherDirectoryLooks(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a-long-name-", 16)
	for dir, want := range map[string]string{
		"":                  "-home-dev-app",
		"/home/dev/app":     "-home-dev-app",
		"/home/dev/app-2":   "-home-dev-app-2",
		"/srv/dev/Ü😀 x.y_z": "-srv-dev-----x-y-z",
		"/../../etc/passwd": "-------etc-passwd",
		"/srv/dev/" + strings.Repeat("a-long-name_", 18) + "/Ünï": ("-srv-dev-" + long)[:200] + "-evtd2b",
	} {
		r := request(t, "claude-code")
		r.Dir = dir
		b := fork(t, r)
		if got := b.Files[0].Path; got != "/home/dev/.claude/projects/"+want+"/"+newID+".jsonl" || !b.Exact {
			t.Errorf("in %q the fork is %s", dir, got)
		}
	}
	r := request(t, "claude-code")
	r.Path, r.Dir = "/home/dev/.claude/projects/chosen/x.jsonl", "/srv/other" // a folder that the user named
	if got := fork(t, r).Files[0].Path; got != "/home/dev/.claude/projects/chosen/"+newID+".jsonl" {
		t.Errorf("the fork is %s", got)
	}
}

func TestForkElsewhere(t *testing.T) {
	t.Parallel()
	r := request(t, "gemini")
	r.Dir = "/srv/other"
	b := fork(t, r)
	if want := []string{"gemini", "--session-file", b.Files[0].Path}; !slices.Equal(b.Command, want) || !b.Exact {
		t.Errorf("the command is %q", b.Command)
	}
	r = request(t, "codex")
	r.Dir = `/srv/an "other"`
	var first struct {
		Payload struct{ ID, Cwd, Timestamp string }
	}
	if err := json.Unmarshal(bytes.SplitN(fork(t, r).Files[0].Data, []byte("\n"), 2)[0], &first); err != nil {
		t.Fatal(err)
	}
	if first.Payload.ID != newID || first.Payload.Cwd != r.Dir || first.Payload.Timestamp != "2026-11-15T13:14:15Z" {
		t.Errorf("the thread begins with %+v", first.Payload)
	}
}

func TestForkOfAnOlderDocumentOfGemini(t *testing.T) {
	t.Parallel()
	r := request(t, "gemini")
	r.Data = []byte("{\n  \"sessionId\": \"" + r.Session + "\",\n  \"projectHash\": \"p\",\n  \"messages\": [{\"id\":\"1\",\"type\":\"user\",\"content\":\"one\"}]\n}\n")
	b := fork(t, r)
	if f := b.Files[0]; !strings.HasSuffix(f.Path, newID+".json") || spoken(transcript.Read("gemini", f.Data)) != "you: one" || !bytes.Contains(f.Data, []byte(newID)) {
		t.Errorf("the fork is %s\n%s", f.Path, f.Data)
	}
}

// A turn that was cut off ends with what was written of it.
func TestForkOfHalfATurn(t *testing.T) {
	t.Parallel()
	for _, agent := range agents {
		r := request(t, agent)
		r.Data = r.Data[:len(r.Data)-20]
		r.Turn = "not in there"
		b := fork(t, r)
		held := b.Files[0].Data
		if agent == "opencode" {
			held = lined(t, held)
		}
		if got := spoken(transcript.Read(agent, held)); !b.Exact || !strings.Contains(got, "you: Tidy up") || !json.Valid(bytes.TrimSpace(held[bytes.LastIndexByte(bytes.TrimSpace(held), '\n')+1:])) {
			t.Errorf("%s: the fork holds\n%s", agent, got)
		}
	}
}

func TestWithoutAConversationTheWholeSessionGoesOn(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		"claude-code": "claude --resume S --fork-session", "codex": "codex fork S", "gemini": "gemini --resume S", "opencode": "opencode --session S --fork", "somebody": "",
	} {
		for name, data := range map[string]string{"nothing": "", "junk": "junk\n{}\n", "another program": `{"type":"x","uuid":"u"}` + "\n", "compressed": "\x28\xb5\x2f\xfd"} {
			b := fork(t, transcript.ForkRequest{Agent: agent, Session: "S", Path: "/home/dev/x.jsonl", Data: []byte(data), NewSession: newID, Now: now})
			if b.Exact || b.Why == "" || len(b.Files) > 0 || b.Session != "S" || strings.Join(b.Command, " ") != want {
				t.Errorf("%s, %s: %+v", agent, name, b)
			}
		}
	}
	if b := fork(t, transcript.ForkRequest{Agent: "codex", Session: "--last", NewSession: newID, Now: now}); len(b.Command) > 0 {
		t.Errorf("a flag became a session: %q", b.Command)
	}
}

// An agent tells where its transcript is, and can tell anything.
func TestForkOnlyWhereTheAgentKeepsConversations(t *testing.T) {
	t.Parallel()
	for _, agent := range agents {
		for _, path := range []string{"/etc/cron.d/x.jsonl", "/x.jsonl", "/home/dev/projects/x.jsonl", "/home/dev/sessions/x.jsonl", "/"} {
			r := request(t, agent)
			r.Path = path
			if b := fork(t, r); b.Exact || len(b.Files) > 0 || b.Why == "" {
				t.Errorf("%s: the fork of %s is %q", agent, path, b.Files[0].Path)
			}
		}
	}
}

func TestForkRefusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*transcript.ForkRequest){
		"no id":         func(r *transcript.ForkRequest) { r.NewSession = "" },
		"a path as id":  func(r *transcript.ForkRequest) { r.NewSession = "../../../../../../../../etc/cron.d/xx" },
		"id in capital": func(r *transcript.ForkRequest) { r.NewSession = strings.ToUpper(newID) },
		"relative":      func(r *transcript.ForkRequest) { r.Path = "x.jsonl" },
		"with a detour": func(r *transcript.ForkRequest) { r.Path = "/home/dev/../x.jsonl" },
		"with a zero":   func(r *transcript.ForkRequest) { r.Path = "/home/dev/\x00.jsonl" },
	} {
		for _, agent := range agents {
			r := request(t, agent)
			edit(&r)
			if b, err := transcript.Fork(r); err == nil {
				t.Errorf("%s, %s: %+v", agent, name, b.Files)
			}
		}
	}
}
