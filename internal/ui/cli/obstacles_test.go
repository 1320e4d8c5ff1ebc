package cli_test

import (
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/cli"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	l := cli.NewLook(80, now, false, false)
	yes, silence := cli.Refusals(l, story())
	same(t, yes,
		`✘ This would delete 1,132 files, and --yes alone does not cover that.`,
		`  Nothing was changed. Two more warnings need confirmation: database, changed.`,
		`  Preview:   retake restore 14 --plan -- src`,
		`  Go ahead:  retake restore 14 --yes --accept mass-delete,database,changed -- src`,
	)
	same(t, silence,
		`✘ This would delete 1,132 files, which needs your confirmation.`,
		`  Nothing was changed. Two more warnings need confirmation: database, changed.`,
		`  Preview:         retake restore 14 --plan -- src`,
		`  Go ahead:        retake restore 14 --yes --accept mass-delete,database,changed -- src`,
		`  This plan only:  retake restore 14 --digest 3f9a-c21e --accept mass-delete,database,changed -- src`,
	)
	yes, _ = cli.Refusals(l, story(), retake.ObstacleMassDelete, retake.ObstacleDatabase)
	same(t, yes,
		`✘ This would overwrite your edit of web/login.html, and --yes alone does not`,
		`  cover that.`,
		`  Nothing was changed.`,
		`  Preview:   retake restore 14 --plan -- src`,
		`  Go ahead:  retake restore 14 --yes --accept mass-delete,database,changed -- src`,
	)
	_, silence = cli.Refusals(l, undo())
	same(t, silence,
		`✘ This would change back 3, merge 1, put 1 beside, which needs your`,
		`  confirmation.`,
		`  Nothing was changed.`,
		`  Preview:         retake restore 14 --plan -- src`,
		`  Go ahead:        retake restore 14 --yes -- src`,
		`  This plan only:  retake restore 14 --digest 0123-4567 -- src`,
	)
}

// Every class has words of its own.
func TestEachObstacleIsRefused(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, o := range everyObstacle() {
		p := story()
		o.Paths = []string{"data/x"}
		p.Obstacles = []retake.Obstacle{o}
		text := cli.Deed(p, o)
		yes, _ := cli.Refusals(cli.NewLook(160, now, false, false), p)
		if seen[text] || strings.Contains(text, o.Text) || !strings.Contains(yes, "This would "+text+", and --yes alone does not cover that.") ||
			!strings.Contains(yes, "retake restore 14 --yes --accept "+o.Class+" -- src\n") {
			t.Errorf("%s: %s", o.Class, yes)
		}
		seen[text] = true
	}
}
