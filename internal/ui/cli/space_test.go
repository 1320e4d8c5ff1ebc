package cli_test

import (
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/cli"
)

func fourRooms() ([]retake.WorkspaceState, retake.SpacePlan) {
	const day = 24 * time.Hour
	var all []retake.WorkspaceState
	p := retake.SpacePlan{
		Store: retake.StoreState{Bytes: 412e6, Free: 212e9, Floor: 10e9}, Budget: 5e9, Frees: 31e6, Garbage: 16e6,
		Last: &retake.TidyUp{At: at(3, 10), Gave: 22e6, Took: 1400 * time.Millisecond},
	}
	add := func(name string, count, size int64, within time.Duration, days map[int]int64) {
		w := retake.WorkspaceState{Workspace: retake.Workspace{ID: retake.WorkspaceID("ws_" + name), Name: name}, Count: count, Latest: &retake.Checkpoint{Bytes: size}}
		s := retake.WorkspaceSpace{Workspace: w.ID, Days: make([]int64, 30), Within: within}
		for i, n := range days {
			s.Days[i] = n
		}
		all, p.Workspaces = append(all, w), append(p.Workspaces, s)
	}
	add("shopfront", 22, 41e6, 0, map[int]int64{28: 4, 29: 18})
	add("billing-api", 318, 166e6, 30*day, map[int]int64{0: 10, 10: 50, 20: 100, 29: 158})
	add("notes\x1b[2J", 96, 3.2e6, 36*time.Hour, nil)
	add("old-shop", 12, 14e6, 30*day, nil)
	all[3].Gone = true
	p.Drops = []retake.Drop{
		{Workspace: "ws_billing-api", Number: 3, Time: at(9, 41).Add(-33 * day), Why: "age", Bytes: 120e3},
		{Workspace: "ws_old-shop", Number: 12, Time: at(9, 41).Add(-2 * day), Why: "budget", Bytes: 30e6},
	}
	return all, p
}

func TestSpace80(t *testing.T) {
	t.Parallel()
	all, p := fourRooms()
	same(t, cli.RenderSpace(cli.NewLook(80, now, false, false), all, &p),
		`412 MB of 5.0 GB     ━━────────────────────────────  8 %        disk 212 GB free`,
		``,
		`workspace     checkpoints   its size   last 30 days      kept for`,
		`shopfront              22      41 MB   ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▇   all`,
		`billing-api           318     166 MB   ▂▁▁▁▁▃▁▁▁▁▅▁▁▁▇   30 days`,
		`notes\x1b[2J           96     3.2 MB   ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁   36 hours`,
		`old-shop               12      14 MB   ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁   directory gone`,
		``,
		`never removed by itself   starts, pins, latest good, fork bases, safety points`,
		`next cleanup              2 checkpoints, about 31 MB   see: retake space --plan`,
		`last cleanup              03:10 freed 22 MB in 1.4 s`,
		`garbage                   about 16 MB`,
		`minimum free space        10 GB: below that nothing is saved`,
	)
}

func TestSpaceASCII(t *testing.T) {
	t.Parallel()
	all, p := fourRooms()
	fancy := strings.Split(cli.RenderSpace(cli.NewLook(80, now, false, false), all, &p), "\n")
	for i, line := range strings.Split(cli.RenderSpace(cli.NewLook(80, now, true, false), all, &p), "\n") {
		if strings.Trim(line, " ") != strings.Map(func(r rune) rune {
			if r > 126 || r < 32 {
				return -1
			}
			return r
		}, strings.Trim(line, " ")) || termtext.Width(line) != termtext.Width(fancy[i]) {
			t.Errorf("%q beside %q", line, fancy[i])
		}
	}
}

// The need is told, and when nothing that may go is left, what to do.
func TestSpaceTellsTheNeed(t *testing.T) {
	t.Parallel()
	all, p := fourRooms()
	p.Need, p.Store.Bytes = retake.NeedBudget, 6e9
	l := cli.NewLook(80, now, false, false)
	if got := cli.RenderSpace(l, all, &p); !strings.Contains(got, "6.0 GB of 5.0 GB") || !strings.Contains(got, "120 %") || !strings.Contains(got, "\nwhy                       the store has reached its storage limit\n") {
		t.Errorf("over limit:\n%s", got)
	}
	p.Drops = nil
	if got := cli.RenderSpace(l, all, &p); !strings.Contains(got, "what is kept on purpose uses more: retake config budget") {
		t.Errorf("stuck:\n%s", got)
	}
}

func TestSpacePlan(t *testing.T) {
	t.Parallel()
	all, p := fourRooms()
	l := cli.NewLook(80, now, false, false)
	same(t, cli.RenderSpacePlan(l, p, all),
		`2 checkpoints would be deleted, which frees about 31 MB.`,
		``,
		`workspace      checkpoint  when         why                  about`,
		`billing-api             3  1 Oct        too old             120 kB`,
		`old-shop               12  Sun 09:41    over limit           30 MB`,
	)
	for range 100 {
		p.Drops = append(p.Drops, p.Drops[0])
	}
	if got := cli.RenderSpacePlan(l, p, all); !strings.Contains(got, "\nand 62 more: retake space --plan --json\n") {
		t.Errorf("a long one:\n%s", got)
	}
	p.Drops = nil
	same(t, cli.RenderSpacePlan(l, p, all), `Nothing is due: the next cleanup would delete no checkpoint.`)
}

func TestThinned(t *testing.T) {
	t.Parallel()
	l := cli.NewLook(80, now, false, false)
	r := retake.ThinReport{Forgotten: 31, Sweep: retake.SweepReport{Before: 434e6, After: 412e6, Peak: 16e6, Took: 1400 * time.Millisecond}}
	same(t, cli.RenderThin(l, r),
		`✔ Freed 22 MB in 1.4 s. The store uses 412 MB.`,
		`  It used at most 16 MB more meanwhile.`,
		`  Dropped 31 checkpoints.`)
	r.Over = 1e6
	if got := cli.RenderThin(l, r); !strings.Contains(got, "! It is still 1.0 MB over its storage limit: what is kept on purpose uses more.\n") {
		t.Error(got)
	}
}
