package transcript_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/agents/transcript"
)

// The transcripts in testdata were written by the agents themselves, in three turns
// of the same work. What only their model needs was taken out.
var agents = []string{"claude-code", "codex", "gemini", "opencode"}

func recorded(t testing.TB, agent string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", agent+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// spoken is what people and agents said, without tools.
func spoken(list []transcript.Line) string {
	var out []string
	for _, l := range list {
		if l.Tool == "" && l.Who != transcript.Tool {
			out = append(out, l.Who+": "+strings.Trim(l.Text, `"`)) // opencode quotes what comes by its command line
		}
	}
	return strings.Join(out, "\n")
}

var turns = []string{
	"you: Write the greeting into the sources.\nagent: The greeting is written.",
	"you: Install the package that lies beside.\nagent: The package is installed.",
	"you: Tidy up what is not needed.\nagent: Everything is tidy.",
}

func TestReadGivesWhatWasSaid(t *testing.T) {
	t.Parallel()
	for _, agent := range agents {
		if got, want := spoken(transcript.Read(agent, recorded(t, agent))), strings.Join(turns, "\n"); got != want {
			t.Errorf("%s: read\n%s\nwant\n%s", agent, got, want)
		}
	}
}

func TestReadGivesCallsWithTheirAnswers(t *testing.T) {
	t.Parallel()
	tools := map[string][2]string{
		"claude-code": {"Write", "Bash"}, "codex": {"apply_patch", "exec_command"},
		"gemini": {"write_file", "run_shell_command"}, "opencode": {"write", "bash"},
	}
	for _, agent := range agents {
		var calls, answers []transcript.Line
		for _, l := range transcript.Read(agent, recorded(t, agent)) {
			switch {
			case l.Who == transcript.Agent && l.Tool != "":
				calls = append(calls, l)
			case l.Who == transcript.Tool:
				answers = append(answers, l)
			}
			if l.Time.Year() != 2026 {
				t.Errorf("%s: the time of %q is %s", agent, l.Text, l.Time)
			}
		}
		if len(calls) != 4 || len(answers) != 4 {
			t.Fatalf("%s: %d calls, %d answers", agent, len(calls), len(answers))
		}
		for i, want := range []struct{ tool, text string }{
			{tools[agent][0], "src/greeting.txt"}, {tools[agent][1], "mkdir -p src/lib"}, {tools[agent][1], "npm install ./localpkg"}, {tools[agent][1], " src"},
		} {
			if calls[i].Tool != want.tool || !strings.Contains(calls[i].Text, want.text) || answers[i].Tool != want.tool {
				t.Errorf("%s: call %d is %+v, answered by %q", agent, i, calls[i], answers[i].Tool)
			}
		}
		if !strings.Contains(answers[2].Text, "added 1 package") {
			t.Errorf("%s: npm answered %q", agent, answers[2].Text)
		}
	}
}

func TestReadSkipsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for _, agent := range append([]string{"somebody", ""}, agents...) {
		for name, data := range map[string]string{
			"nothing": "", "no JSON": "hello\nworld\n", "other types": `{"type":7,"message":"x","payload":[],"info":3}` + "\n",
			"an array": "[1,2]\n", "half a record": `{"type":"user","message":{"content":"x"`, "a binary": "\x28\xb5\x2f\xfd\x00",
		} {
			if got := transcript.Read(agent, []byte(data)); len(got) != 0 {
				t.Errorf("%s, %s: read %+v", agent, name, got)
			}
		}
	}
	if got := transcript.Read("somebody", recorded(t, "claude-code")); len(got) != 0 {
		t.Errorf("an unknown agent: read %+v", got)
	}
}

func TestReadGeminiFollowsItsChanges(t *testing.T) {
	t.Parallel()
	const head = `{"sessionId":"s","projectHash":"p"}` + "\n"
	one := `{"id":"1","type":"user","content":[{"text":"one"}]}` + "\n"
	two := `{"id":"2","type":"gemini","content":"two"}` + "\n"
	for name, c := range map[string]struct{ data, want string }{
		"a newer form":       {head + one + two + `{"id":"2","type":"gemini","content":"better"}` + "\n", "you: one\nagent: better"},
		"back to a message":  {head + one + two + `{"$rewindTo":"2"}` + "\n", "you: one"},
		"back to nowhere":    {head + one + two + `{"$rewindTo":"x"}` + "\n", ""},
		"all anew":           {head + one + `{"$set":{"messages":[{"id":"9","type":"user","content":"new"}]}}` + "\n" + two, "you: new\nagent: two"},
		"of the program":     {head + `{"id":"0","type":"user","content":"<session_context>x</session_context>"}` + "\n" + one, "you: one"},
		"an older document":  {"{\n\"sessionId\":\"s\",\"messages\":[{\"id\":\"1\",\"type\":\"user\",\"content\":\"one\"}]}", "you: one"},
		"after it was taken": {head + one + two + `{"$rewindTo":"1"}` + "\n" + two, "agent: two"},
	} {
		if got := spoken(transcript.Read("gemini", []byte(c.data))); got != c.want {
			t.Errorf("%s: read %q, want %q", name, got, c.want)
		}
	}
}

func TestReadClaudeLeavesOthersOut(t *testing.T) {
	t.Parallel()
	data := `{"type":"user","isSidechain":true,"message":{"content":"of a subagent"}}
{"type":"user","isMeta":true,"message":{"content":"of the program"}}
{"type":"user","isCompactSummary":true,"message":{"content":"the story so far"}}
{"type":"user","message":{"content":[{"type":"text","text":"mine"},{"type":"image"}]}}
`
	if got, want := spoken(transcript.Read("claude-code", []byte(data))), "note: the story so far\nyou: mine"; got != want {
		t.Errorf("read %q, want %q", got, want)
	}
}
