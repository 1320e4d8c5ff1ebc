package cli_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/cli"
)

var now = time.Date(2026, 11, 3, 11, 42, 0, 0, time.UTC)

func at(hour, minute int) time.Time { return time.Date(2026, 11, 3, hour, minute, 0, 0, time.UTC) }

func shopfront() retake.Timeline {
	whole := retake.Coverage{Grade: retake.Complete}
	return retake.Timeline{
		Workspace: retake.Workspace{Name: "shopfront", Root: "/home/ann/code/shopfront", Created: at(9, 41)},
		Total:     4,
		Pins:      []retake.Pin{{Name: "v1", Checkpoint: "cp_3", Number: 13}},
		Checkpoints: []retake.Checkpoint{
			{ID: "cp_4", Number: 14, Time: at(10, 27), Trigger: retake.TriggerManual, Intent: "working version, app healthy", Changed: retake.Counts{Edited: 3}, Coverage: whole},
			{ID: "cp_3", Number: 13, Time: at(10, 18), Trigger: retake.TriggerManual, Intent: "install\x1b[2J the session store, and then go on to a line that is longer than its column", Changed: retake.Counts{Added: 784, Deleted: 412, Edited: 8}, Coverage: whole},
			{
				ID: "cp_2", Number: 2, Time: at(9, 44), Trigger: retake.TriggerManual, Changed: retake.Counts{Edited: 1},
				Coverage: retake.Cover([]retake.Gap{{Path: "data/dev.db", Reason: retake.ReasonTorn}, {Path: "x/", Reason: retake.ReasonExcluded}}),
			},
			{ID: "cp_1", Number: 1, Time: time.Date(2026, 10, 31, 17, 5, 0, 0, time.UTC), Trigger: retake.TriggerInit, Files: 38012, Coverage: whole},
		},
	}
}

func same(t *testing.T, got string, want ...string) {
	t.Helper()
	if w := strings.Join(want, "\n") + "\n"; got != w {
		t.Fatalf("got\n%s\nwant\n%s", got, w)
	}
}

func TestTimeline80(t *testing.T) {
	t.Parallel()
	got := cli.RenderTimeline(cli.NewLook(80, now, false, false), shopfront(), 14)
	same(t, got,
		`shopfront  ~/code/shopfront                                protected since 09:41`,
		``,
		`        when       message                                     files`,
		`●   14  10:27      working version, app healthy                    3`,
		`○   13  10:18      install\x1b[2J the session store, and th…   1,204  pin v1`,
		`│                  deleted 412 · added 784 · edited 8`,
		`○    2  09:44      1 file changed                                  1`,
		`│                  partial  dev.db was moving, 1 excluded by policy`,
		`○    1  Sat 17:05  start                                      38,012`,
	)
}

func TestTimeline80ASCII(t *testing.T) {
	t.Parallel()
	got := cli.RenderTimeline(cli.NewLook(80, now, true, false), shopfront(), 14)
	for _, r := range got {
		if r > 126 {
			t.Fatalf("%q is not ASCII in\n%s", r, got)
		}
	}
	fancy := strings.Split(cli.RenderTimeline(cli.NewLook(80, now, false, false), shopfront(), 14), "\n")
	for i, line := range strings.Split(got, "\n") {
		if termtext.Width(line) != termtext.Width(fancy[i]) {
			t.Fatalf("the columns moved:\n%s\n%s", fancy[i], line)
		}
	}
}

func TestTimeline160(t *testing.T) {
	t.Parallel()
	got := cli.RenderTimeline(cli.NewLook(160, now, false, false), shopfront(), 14)
	for _, want := range []string{
		"protected since 09:41 · 4 checkpoints\n",
		"what really changed\n",
		"  1,204  pin v1 · deleted 412 · added 784 · edited 8\n",
		"  partial       1  edited 1 · dev.db was moving, 1 excluded by policy\n",
		"38,012  first capture, complete\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for line := range strings.SplitSeq(got, "\n") {
		if termtext.Width(line) > 160 {
			t.Errorf("%d columns: %s", termtext.Width(line), line)
		}
	}
}

// Colors add nothing but themselves.
func TestColorsAreOnlyColors(t *testing.T) {
	t.Parallel()
	for _, width := range []int{80, 160} {
		plain := cli.RenderTimeline(cli.NewLook(width, now, false, false), shopfront(), 14)
		colored := cli.RenderTimeline(cli.NewLook(width, now, false, true), shopfront(), 14)
		if colored == plain {
			t.Fatal("nothing is colored")
		}
		for _, code := range []string{"0", "1", "2", "31", "32", "33", "36"} {
			colored = strings.ReplaceAll(colored, "\x1b["+code+"m", "")
		}
		// Trailing blanks inside a color do not matter.
		if trimLines(colored) != trimLines(plain) {
			t.Fatalf("got\n%s\nwant\n%s", colored, plain)
		}
	}
}

func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func TestError(t *testing.T) {
	t.Parallel()
	l := cli.NewLook(80, now, false, false)
	same(t, cli.RenderError(l, retake.Error{
		Kind: retake.NotFound, What: "there is no checkpoint 41 in shop\nfront", Safe: "Nothing was changed.", Hint: "by time: retake show 10:27\nlist all: retake log\ntry again",
	}),
		`✘ There is no checkpoint 41 in shop\nfront.`,
		`  Nothing was changed.`,
		`  By time:   retake show 10:27`,
		`  List all:  retake log`,
		`  Try again.`,
	)
	same(t, cli.RenderError(l, retake.Error{Kind: retake.Internal, What: "src/a.go cannot be read", Err: bytes.ErrTooLarge}),
		`✘ src/a.go cannot be read.`, `  because: bytes.Buffer: too large`)
}

// What does not fit is broken between words, and hints between commands; without a width,
// for programs, every sentence and every hint is one line.
func TestErrorsFitTheTerminal(t *testing.T) {
	t.Parallel()
	e := retake.Error{
		Kind: retake.Denied, What: "this would replace /home/ann/shop/data while programs hold it, and --yes alone does not cover that", Safe: "Nothing was changed.",
		Hint: "verify one: retake verify -- npm test\nverify every turn: retake config verify.test 'npm test'\n" +
			"there are: uncaptured, changed, partial, held, mass-delete, space, names, setuid, database",
	}
	same(t, cli.RenderError(cli.NewLook(80, now, false, false), e),
		`✘ This would replace ~/shop/data while programs hold it, and --yes alone does`,
		`  not cover that.`,
		`  Nothing was changed.`,
		`  Verify one:         retake verify -- npm test`,
		`  Verify every turn:  retake config verify.test 'npm test'`,
		`  There are:          uncaptured, changed, partial, held, mass-delete, space,`,
		`                      names, setuid, database`,
	)
	same(t, cli.RenderError(cli.NewLook(0, now, false, false), e),
		`✘ This would replace ~/shop/data while programs hold it, and --yes alone does not cover that.`,
		`  Nothing was changed.`,
		`  Verify one:         retake verify -- npm test`,
		`  Verify every turn:  retake config verify.test 'npm test'`,
		`  There are:          uncaptured, changed, partial, held, mass-delete, space, names, setuid, database`,
	)
}

func TestFirstRunNamesOnlyWhatExists(t *testing.T) {
	t.Parallel()
	got := cli.FirstRun(cli.NewLook(80, now, false, false))
	if !strings.HasPrefix(got, "No directory is protected yet.\n") || !strings.Contains(got, "retake init") || !strings.Contains(got, "retake demo") {
		t.Fatalf("got\n%s", got)
	}
	for line := range strings.SplitSeq(got, "\n") {
		if termtext.Width(line) > 80 {
			t.Errorf("wider than 80: %s", line)
		}
	}
}

func TestStatusLine(t *testing.T) {
	t.Parallel()
	whole, torn := shopfront(), shopfront()
	torn.Checkpoints = torn.Checkpoints[2:]
	for _, c := range []struct {
		width int
		ascii bool
		t     retake.Timeline
		want  string
	}{
		{80, false, whole, "◆ 14 · 10:27 · protected"},
		{80, true, whole, "* 14 - 10:27 - protected"},
		{80, false, torn, "◆ 2 · 09:44 · partial · protected"},
		{24, false, whole, "◆ 14 · 10:27"},
		{10, false, whole, "◆ 14"},
		{80, false, retake.Timeline{}, "◇ NOT PROTECTED · no checkpoint"},
	} {
		if got := cli.RenderStatusLine(cli.NewLook(c.width, now, c.ascii, false), c.t, false); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestStatusHidesNothing(t *testing.T) {
	t.Parallel()
	cp := shopfront().Checkpoints[2]
	got := cli.RenderStatus(cli.NewLook(80, now, false, false), retake.Status{
		Workspace: shopfront().Workspace, Latest: &cp, Count: 22, Now: retake.Counts{Deleted: 1, Edited: 1},
		Tracking: retake.Tracking{Mode: retake.TrackingScan}, Protection: "same-user", Store: retake.StoreState{Bytes: 412e6, Free: 9e9, Floor: 10e9},
	})
	for _, want := range []string{
		"  ● protected   since 09:41 · 22 checkpoints\n",
		"    unsaved     2 files changed since 2 · deleted 1 · edited 1\n",
		"  ! saved       partial",
		"1 torn  data/dev.db\n",
		"  ! isolation   same user",
		"  ! store       412 MB · disk 9.0 GB free, minimum 10 GB\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestWorkspaces(t *testing.T) {
	t.Parallel()
	cp := shopfront().Checkpoints[0]
	ended := at(9, 0)
	got := cli.RenderWorkspaces(cli.NewLook(80, now, false, false), []retake.WorkspaceState{
		{Workspace: retake.Workspace{Name: "done", Root: "/srv/" + strings.Repeat("far/", 12) + "done", Ended: &ended}, Latest: &cp},
		{Workspace: retake.Workspace{Name: "shopfront", Root: "/home/ann/code/shopfront"}, Latest: &cp, Count: 14},
		{Workspace: retake.Workspace{Name: "old\x1bshop", Root: "/srv/old"}, Latest: &cp, Gone: true},
	})
	same(t, got,
		`   workspace    last checkpoint                      where`,
		`●  shopfront     14  1 h ago  working version, app…  ~/code/shopfront`,
		`○  old\x1bshop   14  1 h ago  its directory is gone  /srv/old`,
		`○  done          14  1 h ago  ended 2 h ago          …r/far/far/far/far/far/done`,
		``,
		`Bring /srv/old back, as in checkpoint 14: no files.`,
		`  retake restore latest --workspace `,
		``,
		`Workspaces that are no longer protected keep their checkpoints. Browse them:`,
		`retake console. Continue one: retake init --continue, in its directory.`,
	)
}

// What nobody can do anything about is told by the doctor, and not with every status.
func TestUnseenProcessesAreForTheDoctor(t *testing.T) {
	t.Parallel()
	l := cli.NewLook(80, now, false, false)
	tracking := retake.Tracking{Mode: retake.TrackingFanotify, Unseen: 1}
	if got := cli.RenderStatus(l, retake.Status{Tracking: tracking}); strings.Contains(got, "process") {
		t.Errorf("got\n%s", got)
	}
	same(t, cli.UnseenText(l, tracking), ``,
		`1 process of this machine may not be looked into. A file that one keeps in`,
		`memory while it writes counts as changed when it is closed, or at the next`,
		`comparison of all files.`)
	if got := cli.UnseenText(l, retake.Tracking{}); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestSavedTellsThatTimeRanOut(t *testing.T) {
	t.Parallel()
	part := retake.Checkpoint{Number: 3, Time: at(10, 0), Intent: "big", Coverage: retake.Cover([]retake.Gap{{Path: "a", Reason: retake.ReasonBudget}, {Path: "b", Reason: retake.ReasonBudget}, {Path: "c", Reason: retake.ReasonBudget}, {Path: "d", Reason: retake.ReasonBudget}})}
	whole := retake.Checkpoint{Number: 4, Time: at(10, 1), Trigger: retake.TriggerComplete, Changed: retake.Counts{Added: 4}, Files: 4, Coverage: retake.Cover(nil)}
	got := cli.RenderSaved(cli.NewLook(80, now, false, false), retake.SaveResult{Checkpoint: whole, Partial: &part, Created: true, Recorded: true})
	same(t, got,
		"✔ 3  10:00  big",
		"  partial, no files · 0 B new",
		"  4 not reached in time  a, b, c, 1 more",
		"  the time was up, so 3 contains what was read by then; the rest follows",
		"✔ 4  10:01  the rest, after time ran out",
		"  added 4 · complete, 4 files · 0 B new",
	)
}

func TestProgress(t *testing.T) {
	t.Parallel()
	l := cli.NewLook(80, now, true, false)
	if got, want := cli.RenderProgress(l, "capture", retake.Progress{Files: 50, Total: 100, Bytes: 2e6}),
		"  .. capture      ##############..............  50 %   50 files   2.0 MB"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := cli.RenderProgress(l, "capture", retake.Progress{Files: 50, Bytes: 2e6}), "  .. capture      50 files   2.0 MB"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProgressRewritesOneLineNotTooOften(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	held := clock.NewManual(now)
	tell, done := cli.NewProgress(cli.Deps{Err: &out, ErrTTY: true, ASCII: true, Clock: held}, "capture")
	for i := range int64(10) {
		tell(retake.Progress{Files: i})
		held.Advance(30 * time.Millisecond)
	}
	done()
	done()
	if n := strings.Count(out.String(), "\r\x1b[K"); n != 4 || !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Fatalf("%d writes: %q", n, out.String())
	}
	if tell, done := cli.NewProgress(cli.Deps{Err: &out, Clock: held}, "capture"); tell != nil {
		t.Fatal("progress without a terminal")
	} else {
		done()
	}
}

// A terminal obeys nothing that a file holds, wherever the pieces are cut.
func TestShowBytesEscapes(t *testing.T) {
	t.Parallel()
	in := "a\tb\x1b[2J\r\n" + strings.Repeat("é", 40_000) + "\n\xff end"
	var out bytes.Buffer
	if err := cli.ShowBytes(&out, strings.NewReader(in)); err != nil {
		t.Fatal(err)
	}
	want := "a\tb\\x1b[2J\\r\n" + strings.Repeat("é", 40_000) + "\n\\xff end"
	if out.String() != want {
		t.Fatalf("got %d bytes, want %d", out.Len(), len(want))
	}
}
