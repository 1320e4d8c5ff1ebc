package cli_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
)

func decoded[T any](t *testing.T, s said) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(s.out), &v); err != nil || s.code != 0 {
		t.Fatalf("code %d, %v: %s\n%s", s.code, err, s.out, s.err)
	}
	return v
}

func TestLogChooses(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	p.write("b.txt", "one\n")
	p.types("", "save", "wrote b").want(t, 0, "", "")
	p.write("a.txt", "two\n")
	p.types("", "save", "edited a").want(t, 0, "", "")
	numbers := func(args ...string) string {
		v := decoded[retake.Timeline](t, p.types("", append([]string{"log", "--json"}, args...)...))
		var out []string
		for _, c := range v.Checkpoints {
			out = append(out, numeral(c.Number))
		}
		return strings.Join(out, " ")
	}
	for want, args := range map[string][]string{"3 2 1": nil, "": {"--good"}, "3": {"--limit", "1"}} {
		if got := numbers(args...); got != want {
			t.Errorf("%v: got %q, want %q", args, got, want)
		}
	}
	if got := numbers("--session", "nobody"); got != "" {
		t.Errorf("checkpoints of no session: %q", got)
	}
	p.types("", "log", "--path", "../elsewhere").want(t, 2, "", "not in the workspace")
	p.types("", "log", "--good", "--no-color").want(t, 0, "No checkpoint is in this part of the timeline.", "verify one: retake verify -- npm test     all of it: retake log")
}

// What changed since the newest checkpoint is the first row, unless checkpoints were chosen.
func TestTimelineShowsNow(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	p.write("b.txt", "one\n")
	// A busy machine may answer too late for one timeline.
	var s said
	for range 100 {
		if s = p.types("", "--no-color"); strings.Contains(s.out, "changed since") {
			break
		}
	}
	s.want(t, 0, "┊       now    1 file changed since 1 ", "")
	for _, args := range [][]string{{"log", "--good", "--no-color"}, {"log", "--since", "2h", "--no-color"}, {"log", "--json"}} {
		if s := p.types("", args...); s.code != 0 || strings.Contains(s.out, "changed since 1") {
			t.Errorf("%v: %s", args, s.out)
		}
	}
}

// A restore leaves a line behind, and it is drawn.
func TestTimelineDrawsWhatWasLeft(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	p.write("a.txt", "two\n")
	p.types("", "save", "second").want(t, 0, "", "")
	p.types("", "restore", "1", "--yes").want(t, 0, "", "")
	s := p.types("", "log", "--no-color")
	for _, want := range []string{"\n●     3  11:42  restored 1 ", "\n│ ○   2  11:42  second ", "\n○─╯   1  11:42  start "} {
		s.want(t, 0, want, "")
	}
	s.want(t, 0, "", "go back (asks first): retake restore 2")
}

// What a checkpoint went to is named wherever its title stands.
func TestTitlesNameWhereTheyWent(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	p.write("a.txt", "two\n")
	p.types("", "save", "second").want(t, 0, "", "")
	p.types("", "restore", "1", "--yes").want(t, 0, "", "")
	for _, args := range [][]string{{"diff", "2", "3", "--stat"}, {"diff", "2", "3"}, {"diff", "2", "3", "--env"}} {
		p.types("", append(args, "--no-color")...).want(t, 0, "\nto    3  11:42  restored 1", "")
	}
	p.types("", "status", "--no-color").want(t, 0, "latest      3  11:42  restored 1  ", "")
	p.types("", "workspaces", "--no-color").want(t, 0, "restored 1 ", "")
	p.types("", "fork", "3", "--no-color").want(t, 0, "Forked 3  11:42  restored 1", "")
	p.types("", "forks", "--no-color").want(t, 0, " 3  restored 1 ", "")
}

// Who names a session that is not there is told which ones are.
func TestSessionsAreNamed(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	p.types("", "log", "--session", "zz").want(t, 0, "No agent worked here yet.\n", "")
}

func TestCatAsksForTheCheckpoint(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	p.types("", "cat", "a.txt", "--no-color").want(t, 2, "", "As it was at which checkpoint? Usage: retake cat REF PATH.")
	p.types("", "cat", "a.txt", "--no-color").want(t, 2, "", "Read it at latest:     retake cat latest a.txt\n  List its checkpoints:  retake log --path a.txt")
	p.types("", "cat", "1:a b.txt", "--no-color").want(t, 2, "", "Read it at 1:          retake cat 1 'a b.txt'")
	p.types("", "cat", "1").want(t, 2, "", "Missing argument. Usage: retake cat REF PATH.")
	p.types("", "cat", "a:b.txt", "--no-color").want(t, 2, "", "Read it at latest:     retake cat latest a:b.txt\n")
	p.types("", "cat", "latest", "a.txt").want(t, 0, "", "")
}

// A part of the timeline has the sign of the present only where it holds the present.
func TestPartsOfTheTimelineMarkOnlyThePresent(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	p.write("a.txt", "two\n")
	p.types("", "save", "second").want(t, 0, "", "")
	p.write("b.txt", "three\n")
	p.types("", "save", "third").want(t, 0, "", "")
	p.types("", "log", "--path", "a.txt", "--no-color").want(t, 0, "\n○    2  11:42  second ", "go back (asks first): retake restore 2")
	p.types("", "log", "--path", "b.txt", "--no-color").want(t, 0, "\n●    3  11:42  third ", "")
	p.types("", "log", "--no-color").want(t, 0, "\n●    3  11:42  third ", "go back (asks first): retake restore 2")
}

func TestShowAnswersForPrograms(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	p.write("a.txt", "two\n")
	p.types("", "save", "second").want(t, 0, "", "")
	got := decoded[map[string]any](t, p.types("", "show", "2", "--json"))
	for _, key := range []string{"v", "checkpoint", "parent", "pins", "changes", "story", "verifications"} {
		if got[key] == nil {
			t.Errorf("no %s in %v", key, got)
		}
	}
	st := decoded[struct{ Story retake.Story }](t, p.types("", "show", "2", "--json")).Story
	if st.Counts.Edited != 1 || len(st.Groups) != 1 || st.Groups[0].Items[0].Path != "a.txt" {
		t.Errorf("the story is %+v", st)
	}
	p.types("", "show", "2", "--no-color").want(t, 0, "\n  source        1  a.txt                      +1  −1\n", "lines: retake diff 2     go back to just before it: retake restore 1")
	p.types("", "show", "1", "--no-color").want(t, 0, "", "lines: retake diff 1     go back (asks first): retake restore 1")
	p.types("", "show", "now").want(t, 2, "", "Now is not a checkpoint yet.")
}

func TestShowTheOutputOfAVerification(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.wrap = func(s retake.Service) retake.Service { return s }
	p.types("", "init").want(t, 0, "", "")
	p.types("", "show", "--output", "test").want(t, 3, "", "Checkpoint 1 has no verification test.")
	p.types("", "show", "--output", "test", "--conversation").want(t, 2, "", "one of them")
	p.wrap = func(s retake.Service) retake.Service {
		_, err := s.Attest(t.Context(), retake.Attestation{
			Workspace: located(t, s, p.dir), Name: "test", Command: "npm test", Where: retake.InFork, Verdict: retake.Failed, Exit: 1,
			Started: now.Add(-time.Minute), Took: time.Second, Output: "one\x1b[2J\n\ttwo",
		})
		if err != nil {
			t.Error(err)
		}
		return s
	}
	p.types("", "show", "--no-color").want(t, 0, "  checks     ✘ test   npm test · exit 1 · 1.0 s · in a fork\n", "")
	p.wrap = nil
	p.types("", "show", "--output", "test").want(t, 0, "one\\x1b[2J\n\ttwo\n", "")
	got := decoded[struct{ Verification retake.Verification }](t, p.types("", "show", "--output", "test", "--json"))
	if got.Verification.Exit != 1 || got.Verification.Name != "test" {
		t.Errorf("got %+v", got)
	}
	s := p.types("", "--no-color")
	s.want(t, 0, "no good yet · protected since", "good only: retake log --good")
	s.want(t, 0, "  ✘ test       1", "")
	p.types("", "status", "--line", "--no-color").want(t, 0, "◆ 1 · no good yet · ✘ test · protected\n", "")
	p.types("", "status", "--no-color").want(t, 0, "  ! last good   none: no checkpoint has passed its checks\n  ✘ checks      1 fails test\n", "")
}

func located(t *testing.T, s retake.Service, dir string) retake.WorkspaceID {
	t.Helper()
	ws, err := s.Locate(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return ws.ID
}

func TestDiffTellsFacts(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.write(".env", "A=1\n")
	p.types("", "init").want(t, 0, "", "")
	p.write(".env", "A=1\nSESSION_KEY=2\n")
	p.types("", "save", "second").want(t, 0, "", "")
	p.types("", "diff", "2", "--env", "--no-color").want(t, 0, "from  1  11:42  start\nto    2  11:42  second\n\n", "")
	p.types("", "diff", "2", "--env", "--stat").want(t, 2, "", "one of them")
	got := decoded[map[string]any](t, p.types("", "diff", "2", "--env", "--json"))
	if got["facts"] == nil || got["unread"] == nil || got["to"] == nil {
		t.Errorf("got %v", got)
	}
	p.types("", "diff", "2", "--stat", "--no-color").want(t, 0, "lines to read\n", "")
}
