package demo_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/ui/demo"
)

// scene is a demo that was made, for many to look at.
type scene struct {
	s retake.Service
	demo.Result
	log retake.Timeline
}

// One demo is made, and the story is read in it: making it takes seconds.
func TestStory(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the check of the shop is for a shell")
	}
	s := openService(t)
	above := t.TempDir()
	res, err := demo.Make(t.Context(), s, request(filepath.Join(above, "new", "demo")))
	must(t, err)
	log, err := s.Log(t.Context(), retake.LogQuery{Workspace: res.Workspace.ID})
	must(t, err)
	sc := &scene{s, res, log}
	for name, f := range map[string]func(*testing.T, *scene){
		"counts": counts, "good": good, "restorable": restorable, "secret": secretHidden, "effects": effectsOnThePlan, "forks": forksListed,
		"flags": flags, "rows": rowsLost, "talk": talkOnly, "conversations": conversations, "pictures": pictures, "plain": plainWords, "time": ownTime,
	} {
		t.Run(name, func(t *testing.T) { f(t, sc) })
	}
	names, err := os.ReadDir(res.Dir)
	must(t, err)
	if len(names) != 4 || demo.IsUnfinished(res.Dir) {
		t.Errorf("the directory holds %v", names)
	}
}

// row finds a checkpoint by its number.
func (sc *scene) row(t *testing.T, number int64) retake.Checkpoint {
	t.Helper()
	i := slices.IndexFunc(sc.log.Checkpoints, func(c retake.Checkpoint) bool { return c.Number == number })
	if i < 0 {
		t.Fatalf("there is no checkpoint %d", number)
	}
	return sc.log.Checkpoints[i]
}

func (sc *scene) told(t *testing.T, ref string) retake.Story {
	t.Helper()
	st, err := sc.s.Story(t.Context(), retake.DiffQuery{Workspace: sc.Workspace.ID, To: ref})
	must(t, err)
	return st
}

func counts(t *testing.T, sc *scene) {
	if sc.Turns != 12 || sc.Checkpoints != 17 || sc.Effects != 2 || len(sc.Forks) != 2 {
		t.Errorf("%d turns, %d checkpoints, %d effects, %d forks", sc.Turns, sc.Checkpoints, sc.Effects, len(sc.Forks))
	}
	by := map[retake.Trigger]int{}
	agents := map[string]bool{}
	for _, c := range sc.log.Checkpoints {
		by[c.Trigger]++
		if c.Trigger == retake.TriggerTurn {
			agents[c.Turn.Agent] = true
		}
		if c.Coverage.Grade != retake.Complete {
			t.Errorf("checkpoint %d is %s", c.Number, c.Coverage.Grade)
		}
		if c.Turn != nil && len(c.Turn.Contested) > 0 {
			t.Errorf("checkpoint %d is contested", c.Number)
		}
	}
	if by[retake.TriggerTurn] != 10 || by[retake.TriggerRisk] != 2 || by[retake.TriggerTask] != 2 || by[retake.TriggerReturn] != 2 || len(agents) != 2 {
		t.Errorf("checkpoints are %v, of %v", by, agents)
	}
	if len(sc.log.Pins) != 1 || sc.log.Pins[0].Name != "sessions-work" {
		t.Errorf("pins are %v", sc.log.Pins)
	}
	tasks, err := sc.s.Tasks(t.Context(), sc.Workspace.ID)
	must(t, err)
	open := slices.DeleteFunc(slices.Clone(tasks), func(k retake.Task) bool { return !k.Open() })
	if len(tasks) != 5 || len(open) != 1 {
		t.Errorf("tasks are %v", tasks)
	}
}

// The newest good checkpoint is the last before the change too far, and the newest fails.
func good(t *testing.T, sc *scene) {
	cp, err := sc.s.Find(t.Context(), sc.Workspace.ID, "good")
	must(t, err)
	if sc.Good == nil || cp.Number != sc.Good.Number || cp.Number != sc.Last-1 {
		t.Errorf("good is %d, told is %v, the change too far is %d", cp.Number, sc.Good, sc.Last)
	}
	want := map[string]retake.Verdict{
		"sell gift cards too": retake.Passed, "keep visitors signed in": retake.Failed, "fix the failing test": retake.Passed, "draw a new logo": retake.Passed,
		"is redis faster for sessions?": retake.Passed, "update the login docs": retake.Failed, "add a note to every order": retake.Failed,
		"print the note on the receipt": retake.Passed, "free shipping from 40 euros": retake.Passed, "make the release small": retake.Failed,
	}
	for _, c := range sc.log.Checkpoints {
		if c.Trigger != retake.TriggerTurn {
			continue
		}
		if got := verdict(sc.log.Findings[c.ID]); got != want[c.Turn.Prompt] {
			t.Errorf("%q is %q, want %q", c.Turn.Prompt, got, want[c.Turn.Prompt])
		}
		delete(want, c.Turn.Prompt)
	}
	if len(want) > 0 {
		t.Errorf("turns are missing: %v", want)
	}
}

// verdict is what our check says of a checkpoint; claims do not count.
func verdict(f retake.Finding) retake.Verdict {
	for _, a := range f.Answers {
		if a.Name == demo.CheckName && !a.Claim {
			return a.Verdict
		}
	}
	return ""
}

// Every checkpoint can be grown again, whole, and answers the check as it did.
func restorable(t *testing.T, sc *scene) {
	for _, c := range sc.log.Checkpoints {
		dir := filepath.Join(t.TempDir(), "again")
		_, err := sc.s.Fork(t.Context(), retake.ForkRequest{Workspace: sc.Workspace.ID, Ref: string(c.ID), Dir: dir, Throwaway: true})
		must(t, err)
		var files int64
		must(t, filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				files++
			}
			return err
		}))
		if files != c.Files {
			t.Errorf("checkpoint %d has %d files, and %d when it is grown again", c.Number, c.Files, files)
		}
		was := verdict(sc.log.Findings[c.ID])
		a, err := check(t.Context(), dir)
		must(t, err)
		if was != "" && (a.Exit == 0) != (was == retake.Passed) {
			t.Errorf("checkpoint %d was %s, and grown again it ends with %d:\n%s", c.Number, was, a.Exit, a.Output)
		}
	}
}

// The secret is seen, and its text is nowhere but in the file.
func secretHidden(t *testing.T, sc *scene) {
	env, err := os.ReadFile(filepath.Join(sc.Workspace.Root, ".env"))
	must(t, err)
	_, key, ok := strings.Cut(string(env), "SESSION_KEY=")
	if key = strings.TrimSpace(key); !ok || len(key) < 20 {
		t.Fatalf(".env holds no key: %q", env)
	}
	seen := 0
	for _, c := range sc.log.Checkpoints {
		st := sc.told(t, string(c.ID))
		for _, f := range st.Facts {
			if f.Kind == retake.FactSecret && f.What == retake.Added && f.Path == ".env" {
				seen++
			}
		}
		state, err := sc.s.State(t.Context(), sc.Workspace.ID, string(c.ID))
		must(t, err)
		b, err := json.Marshal([]any{c, st, state, sc.log.Findings[c.ID]})
		must(t, err)
		if bytes.Contains(b, []byte(key)) {
			t.Errorf("checkpoint %d tells the key", c.Number)
		}
	}
	if seen != 1 {
		t.Errorf("a secret came %d times", seen)
	}
	must(t, filepath.WalkDir(filepath.Join(sc.Dir, "agents"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(key)) {
			t.Errorf("%s tells the key", path)
		}
		return err
	}))
}

func effectsOnThePlan(t *testing.T, sc *scene) {
	p, err := sc.s.PlanRestore(t.Context(), retake.PlanRequest{Workspace: sc.Workspace.ID, Course: retake.CourseRestore, Ref: "good"})
	must(t, err)
	if len(p.Effects) != 1 || p.Effects[0].Kind != "push" {
		t.Errorf("effects of the plan are %v", p.Effects)
	}
	if len(p.Deletes) != 2 || len(p.Writes) < 37 {
		t.Errorf("the plan deletes %d and writes %d", len(p.Deletes), len(p.Writes))
	}
	all, err := sc.s.Effects(t.Context(), sc.Workspace.ID, "")
	must(t, err)
	if len(all) != 2 || all[0].Kind != "mail" {
		t.Errorf("effects are %v", all)
	}
}

func forksListed(t *testing.T, sc *scene) {
	forks, err := sc.s.Forks(t.Context(), sc.Workspace.ID)
	must(t, err)
	got := map[string]retake.Verdict{}
	for _, f := range forks {
		log, err := sc.s.Log(t.Context(), retake.LogQuery{Workspace: f.ID, Limit: 1})
		must(t, err)
		got[f.Name] = verdict(log.Findings[log.Checkpoints[0].ID])
	}
	if len(got) != 2 || got["note-column"] != retake.Passed || got["note-table"] != retake.Failed {
		t.Errorf("forks are %v", got)
	}
}

func flags(t *testing.T, sc *scene) {
	gist := sc.log.Findings[sc.row(t, sc.Mismatch).ID].Gist
	if gist == nil || len(gist.Flags) != 1 || !strings.Contains(gist.Flags[0].Why, "says docs") {
		t.Errorf("checkpoint %d says %+v", sc.Mismatch, gist)
	}
}

func rowsLost(t *testing.T, sc *scene) {
	st := sc.told(t, string(sc.row(t, sc.Lost).ID))
	i := slices.IndexFunc(st.Facts, func(f retake.Fact) bool { return f.Kind == retake.FactRows && f.Name == "orders" })
	if i < 0 || st.Facts[i].Before != "240" || st.Facts[i].After != "16" {
		t.Errorf("facts of checkpoint %d are %+v", sc.Lost, st.Facts)
	}
}

func talkOnly(t *testing.T, sc *scene) {
	c := sc.row(t, sc.Mismatch-1)
	if c.Trigger != retake.TriggerTurn || c.Changed.Total() != 0 {
		t.Errorf("checkpoint %d, %q, changed %d", c.Number, c.Intent, c.Changed.Total())
	}
}

// What was said is kept with every turn, up to its last words.
func conversations(t *testing.T, sc *scene) {
	for _, c := range sc.log.Checkpoints {
		if c.Trigger != retake.TriggerTurn {
			continue
		}
		var st retake.State
		whole := func() bool {
			var err error
			st, err = sc.s.State(t.Context(), sc.Workspace.ID, string(c.ID))
			must(t, err)
			return st.Conversation != nil && st.Conversation.Complete
		}
		for end := clock.Wall.Now().Add(10 * time.Second); !whole() && clock.Wall.Now().Before(end); <-time.After(10 * time.Millisecond) {
		}
		if st.Conversation == nil || !st.Conversation.Complete {
			t.Errorf("the conversation of checkpoint %d is %+v", c.Number, st.Conversation)
		}
	}
}

func pictures(t *testing.T, sc *scene) {
	const path = "public/logo.png"
	var seen [][]byte
	for _, c := range slices.Backward(sc.log.Checkpoints) {
		r, _, err := sc.s.Open(t.Context(), sc.Workspace.ID, string(c.ID), path)
		must(t, err)
		b, err := io.ReadAll(r)
		must(t, errors.Join(err, r.Close()))
		if _, err := png.Decode(bytes.NewReader(b)); err != nil {
			t.Errorf("%s of checkpoint %d: %v", path, c.Number, err)
		}
		if len(seen) == 0 || !bytes.Equal(seen[len(seen)-1], b) {
			seen = append(seen, b)
		}
	}
	if len(seen) != 2 {
		t.Errorf("%s has %d versions", path, len(seen))
	}
}

func plainWords(t *testing.T, sc *scene) {
	for _, c := range sc.log.Checkpoints {
		words := c.Intent
		if c.Turn != nil {
			words += c.Turn.Prompt + c.Turn.Words + c.Turn.Command
		}
		if strings.ContainsFunc(words, unicode.IsControl) {
			t.Errorf("checkpoint %d says %q", c.Number, words)
		}
	}
}

// The bound is what a person waits, and wide: machines of tests are busy.
func ownTime(t *testing.T, sc *scene) {
	if sc.Took > 2*time.Minute {
		t.Errorf("it took %s", sc.Took)
	}
}
