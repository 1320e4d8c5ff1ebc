package term_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
	"github.com/retake-dev/retake/internal/ui/term/termtest"
	"github.com/retake-dev/retake/internal/view"
)

// The terminal and the console show the same words, counts and paths of a plan. The last plan
// is the control: its view was changed on the way to the console.
func TestTerminalAndConsoleShowTheSamePlan(t *testing.T) {
	t.Parallel()
	const seed = 130
	r := rand.New(rand.NewPCG(seed, seed))
	var plans []retake.ViewedPlan
	for range 60 {
		p := randomPlan(r)
		plans = append(plans, retake.ViewedPlan{Plan: p, View: view.OfPlan(&p)})
	}
	control := retake.ViewedPlan{Plan: *termtest.Plan(), View: view.OfPlan(termtest.Plan())}
	control.View.Sections[0].Rows[len(control.View.Sections[0].Rows)-1].Note = "another note"
	shown := consoleLines(t, append(plans, control))
	for i, p := range plans {
		if d := onlyInOne(terminalLines(t, &p.Plan), shown[i]); len(d) > 0 {
			t.Errorf("plan %d of seed %d differs:\n%s", i, seed, strings.Join(d, "\n"))
		}
	}
	if d := onlyInOne(terminalLines(t, &control.Plan), shown[len(plans)]); !slices.ContainsFunc(d, func(s string) bool { return strings.HasSuffix(s, "another note") }) {
		t.Errorf("a changed note is not found: %q", d)
	}
}

// consoleLines asks the console's own code what it shows.
func consoleLines(t *testing.T, plans []retake.ViewedPlan) [][]string {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	script, err := filepath.Abs("../../../console/test/plans.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(script), "../node_modules/rolldown")); err != nil {
		t.Skip("the console's packages are not installed: run npm install in console")
	}
	data, err := json.Marshal(plans)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "plans.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(node, script, file)
	c.Stderr = os.Stderr
	answer, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	if err := json.Unmarshal(answer, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// terminalLines are the lines of the terminal's list, without columns and without what only a
// command line has.
func terminalLines(t *testing.T, p *retake.Plan) []string {
	t.Helper()
	l := term.NewLook(100_000, termtest.Now, false, false)
	var b strings.Builder
	if err := term.WritePlanList(&b, l, p); err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(" (--git)", "", " · ", ", ", "retake undo", "undo", "retake redo", "redo").Replace(b.String())
	out := []string{termtext.Escape(view.OfPlan(p).Question)}
	for _, a := range view.Unaccepted(p, nil) {
		out = append(out, termtext.Escape(a.Deed))
	}
	for line := range strings.Lines(text) {
		out = append(out, strings.Join(strings.Fields(line), " "))
	}
	return out
}

// onlyInOne are lines of the console that the terminal does not show, and paths with a remark
// that the console does not show.
func onlyInOne(terminal, console []string) []string {
	var out []string
	all := strings.Join(terminal, "\n")
	same := func(line string) string { return strings.ToLower(strings.Join(strings.Fields(line), " ")) }
	known := map[string]bool{}
	for _, line := range console {
		known[same(line)] = true
		if !strings.Contains(strings.ToLower(all), same(line)) {
			out = append(out, "console: "+line)
		}
	}
	for _, line := range terminal {
		if path, remark, ok := strings.Cut(line, " "); ok && strings.HasPrefix(path, "p/") && !known[same(line)] {
			out = append(out, "terminal: "+path+" "+remark)
		}
	}
	return out
}

func randomPlan(r *rand.Rand) retake.Plan {
	courses := []retake.Course{retake.CourseRestore, retake.CourseUndo, retake.CourseRedo, retake.CourseFinish, retake.CourseUnwind}
	p := retake.Plan{
		Digest: "0123456789", Course: courses[r.IntN(len(courses))], Safety: retake.Safety{Number: 18, There: r.IntN(2) == 0},
		Target: &retake.Checkpoint{Number: r.Int64N(17) + 1},
	}
	if r.IntN(8) == 0 { // nothing to do
		return p
	}
	n := 0
	path := func() string {
		n++
		odd := []string{"", "", "\x1b", "\u202e", "é"}[r.IntN(5)]
		return fmt.Sprintf("p/%s%c/%c/f%d", odd, 'a'+r.IntN(3), 'a'+r.IntN(3), n)
	}
	entry := func() *retake.Entry {
		return &retake.Entry{Kind: []retake.Kind{retake.KindFile, retake.KindFile, retake.KindSymlink}[r.IntN(3)], Mode: uint32(r.IntN(0o777)), Size: r.Int64N(1e6) + 1}
	}
	for range r.IntN(30) {
		p.Deletes = append(p.Deletes, retake.Step{Path: path(), What: retake.Deleted, Now: entry()})
	}
	for range r.IntN(30) {
		what := []retake.Difference{retake.Added, retake.Edited, retake.Moded, retake.Timed, retake.Retyped}[r.IntN(5)]
		s := retake.Step{Path: path(), What: what, Then: entry(), Means: []string{"", "", "users 2 → 5 rows"}[r.IntN(3)]}
		if what != retake.Added {
			s.Now = entry()
		}
		p.Writes = append(p.Writes, s)
	}
	for range r.IntN(4) {
		p.Merges = append(p.Merges, retake.Step{Path: path(), What: retake.Edited, Merge: &retake.Merge{Theirs: r.IntN(3), Yours: r.IntN(3), First: 7}})
		p.Keeps = append(p.Keeps, retake.Keep{Path: path(), Why: retake.KeepGit, Detail: "main at 1234567"}, retake.Keep{Path: path(), Why: retake.KeepConflict, Side: "x/side"}, retake.Keep{Path: path(), Why: "brand-new"})
		class := retake.ObstacleClasses[r.IntN(len(retake.ObstacleClasses))]
		p.Obstacles = append(p.Obstacles, retake.Obstacle{Class: class, Text: "some reason", Paths: []string{path()}})
	}
	return p
}
