package cli_test

import (
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/cli"
	"github.com/retake-dev/retake/internal/ui/term"
)

// A theme whose heading does not say so tells that its files went, and a directory without
// files is not called a file.
func TestCardTellsWhatWentInEveryTheme(t *testing.T) {
	t.Parallel()
	c := thirteen()
	c.Story.Facts = nil
	c.Story.Groups = []retake.Group{
		{Theme: retake.ThemePackages, Files: 1200, Items: []retake.Item{{Path: "vendor/", What: retake.Deleted, Files: 1200, Bytes: -4900}}},
		{Theme: retake.ThemeSource, Files: 2, Items: []retake.Item{
			{Path: "src/add.js", What: retake.Edited, Files: 1, Plus: 2, Minus: 1}, {Path: "lib/", What: retake.Added, Files: 1},
		}},
	}
	got := cli.RenderCard(cli.NewLook(80, now, false, false), c)
	for _, line := range []string{
		"  packages  1,200  vendor/                   deleted, 4.9 kB\n",
		"                   lib/                      empty directory\n",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("no %q in\n%s", line, got)
		}
	}
}

// Going back to where the files stand is no way back.
func TestCardOfTheNewestLeadsBeforeIt(t *testing.T) {
	t.Parallel()
	c := term.Card{Checkpoint: retake.Checkpoint{Number: 4}, Parent: &retake.Checkpoint{Number: 3}}
	for newest, want := range map[bool]string{
		false: "lines|retake diff 4|go back (asks first)|retake restore 4",
		true:  "lines|retake diff 4|go back to just before it|retake restore 3",
	} {
		if c.Newest = newest; strings.Join(c.Hints(), "|") != want {
			t.Errorf("newest %v: %q", newest, c.Hints())
		}
	}
	first := term.Card{Checkpoint: retake.Checkpoint{Number: 1}, Newest: true}
	if got := strings.Join(first.Hints(), "|"); got != "lines|retake diff 1|since then|retake diff" {
		t.Errorf("the first: %q", got)
	}
}

// What a plan deletes is called so, also where it asks because of your edits.
func TestChangedSaysWhatIsDeleted(t *testing.T) {
	t.Parallel()
	p := &retake.Plan{Deletes: []retake.Step{{Path: "note.txt", What: retake.Deleted}}}
	for paths, want := range map[string]string{
		"src/a.js":          "overwrite your edit of src/a.js",
		"src/a.js src/b.js": "overwrite your edits of 2 paths",
		"note.txt":          "delete note.txt, changed since the last checkpoint",
		"note.txt src/a.js": "delete or overwrite your edits of 2 paths",
	} {
		if got := cli.Deed(p, retake.Obstacle{Class: retake.ObstacleChanged, Paths: strings.Fields(paths)}); got != want {
			t.Errorf("%s: %q, want %q", paths, got, want)
		}
	}
}

// A plan without a checkpoint to name is as wide as the others, and says what its lines without
// a size are.
func TestPlanOfEdits(t *testing.T) {
	t.Parallel()
	file := func(name string) *retake.Entry { return &retake.Entry{Name: name, Kind: retake.KindFile, Size: 4} }
	p := &retake.Plan{
		Digest: "2f706bb5", Course: retake.CourseUndo, Safety: retake.Safety{Number: 6},
		Deletes: []retake.Step{
			{Path: "lib", What: retake.Deleted, Now: &retake.Entry{Name: "lib", Kind: retake.KindDir}},
			{Path: "note.txt", What: retake.Deleted, Now: file("note.txt")},
		},
		Writes: []retake.Step{{Path: "a.js", What: retake.Timed, Now: file("a.js"), Then: file("a.js")}},
	}
	same(t, cli.RenderPlan(cli.NewLook(80, now, false, false), p),
		`Undo the edits since 5                                            plan 2f70-6bb5`,
		`2 files would change. Nothing has been changed yet.`,
		``,
		`DELETE          1   note.txt          4 B`,
		`                    lib/              empty directory`,
		`CHANGE BACK     1   a.js              only its time`,
		``,
		`First your files are saved as checkpoint 6; retake redo brings them back.`,
	)
}

// Explanations stay in their column, and the long key of one workspace does not move it.
func TestSettingsFitTheTerminal(t *testing.T) {
	t.Parallel()
	same(t, cli.RenderSettings(cli.NewLook(80, now, false, false), []retake.Setting{
		{Key: "drill", Value: "on", From: "default", Help: "on: once a day a good checkpoint is restored into a fork and verified there; off: it is not"},
		{Key: "floor", From: "default", Help: "bytes that stay free"},
		{Key: "ws_01a1e32b-af2d-79dc-ac6a-f039f2035339.verify.test", Value: "npm test", From: "file", Help: "run after every turn"},
	}),
		`drill  on        on: once a day a good checkpoint is restored into a fork and`,
		`                 verified there; off: it is not`,
		`floor  –         bytes that stay free`,
		`ws_01a1e32b-af2d-79dc-ac6a-f039f2035339.verify.test`,
		`       npm test  run after every turn  (file)`,
	)
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		p.types("", "completion", shell).want(t, 0, "retake", "")
	}
	p.types("", "completion", "tcsh", "--no-color").want(t, 2, "", "✘ There is no completion for tcsh.")
}

// A claim is told once.
func TestClaimIsToldOnce(t *testing.T) {
	t.Parallel()
	c := thirteen()
	c.Finding.Answers = nil
	c.Verifications = []retake.Verification{{Name: "test", Verdict: retake.Passed, Claim: true, By: "claude-code", Why: "claude-code says so"}}
	got := cli.RenderCard(cli.NewLook(80, now, false, false), c)
	if !strings.Contains(got, "test   claude-code says so; nothing confirms it\n") {
		t.Error(got)
	}
}

// What git writes for itself is a few lines and a count.
func TestCardIsBriefAboutGit(t *testing.T) {
	t.Parallel()
	c := thirteen()
	g := retake.Group{Theme: retake.ThemeGit}
	for _, name := range []string{"COMMIT_EDITMSG", "index", "logs/HEAD", "objects/3c/01", "objects/59/02", "refs/heads/main"} {
		g.Items, g.Files = append(g.Items, retake.Item{Path: ".git/" + name, What: retake.Added, Files: 1, Bytes: 4}), g.Files+1
	}
	c.Story.Facts, c.Story.Groups = nil, []retake.Group{g}
	got := cli.RenderCard(cli.NewLook(80, now, false, false), c)
	if strings.Contains(got, "objects") || !strings.Contains(got, "  git           6  .git/COMMIT_EDITMSG") || !strings.Contains(got, "and 3 files more: ") {
		t.Error(got)
	}
}

// All of a long intent can be read on its card.
func TestCardHasTheWholeIntent(t *testing.T) {
	t.Parallel()
	c := term.Card{Checkpoint: retake.Checkpoint{Number: 4, Time: now, Trigger: retake.TriggerManual,
		Intent: "a very long intent that goes on about what was done, and why it was done, and for whom"}}
	got := cli.RenderCard(cli.NewLook(80, now, false, false), c)
	want := "  intent     a very long intent that goes on about what was done, and why it was\n             done, and for whom\n"
	if !strings.Contains(got, want) {
		t.Error(got)
	}
}

// A file that is named without the dashes is no checkpoint, and the way to name it can be typed.
func TestAFileIsNoCheckpoint(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.write("a.txt", "one")
	p.types("", "init").want(t, 0, "", "")
	for _, try := range []struct{ typed, want string }{
		{"diff a.txt", "Use it as a path:  retake diff -- a.txt"},
		{"diff 1 a.txt", "Use it as a path:  retake diff 1 -- a.txt"},
		{"undo a.txt", "Use it as a path:  retake undo -- a.txt"},
		{"restore a.txt", "Use it as a path:  retake restore latest -- a.txt"},
	} {
		p.types("", append(strings.Fields(try.typed), "--no-color")...).want(t, 3, "", try.want)
	}
	if got := p.types("", "diff", "b.txt", "--no-color"); strings.Contains(got.err, "as a path") {
		t.Error(got.err)
	}
	p.types("", "save", "  ").want(t, 0, "no file changed", "")
}
