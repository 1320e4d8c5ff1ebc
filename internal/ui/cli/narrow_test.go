package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

func TestX9_FiftyColumns(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.width = 50
	p.types("", "init", "--name", "shop").want(t, 0, "", "")
	p.write("a.txt", "hello\nagain\n")
	p.types("", "save", "fix the ⚠\ufe0f failing login test of the checkout page").want(t, 0, "", "")
	p.write("a.txt", "hello\nonce more\n")
	p.types("", "save", "a second one").want(t, 0, "", "")
	for _, args := range [][]string{{"log"}, {"status"}, {"show", "2"}, {"diff", "2"}, {"workspaces"}, {"restore", "2", "--plan"}, {"help", "restore"}} {
		got := p.types("", args...)
		for line := range strings.SplitSeq(uncolored(got.out+got.err), "\n") {
			if w := termtext.Width(line); w > p.width && !strings.Contains(line, "cp_") && !strings.Contains(line, "/tmp/") {
				t.Errorf("%v: %d columns: %q", args, w, line)
			}
		}
	}
}

// counting knows the rows of a database that is none.
type counting struct{ retake.Service }

func (counting) Rows(_ context.Context, q retake.RowsQuery) (retake.RowsDiff, error) {
	if q.Path != "shop.db" {
		return retake.RowsDiff{}, &retake.Error{Kind: retake.NotFound}
	}
	return retake.RowsDiff{Tables: []retake.TableRows{{Name: "orders", What: retake.Edited, Added: 28}}}, nil
}

func TestX9_DiffTellsTheRowsOfALog(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.wrap = func(s retake.Service) retake.Service { return counting{s} }
	p.write("shop.db", "SQLite format 3\x00")
	p.write("shop.db-wal", "\x00\x01")
	p.types("", "init").want(t, 0, "", "")
	p.write("shop.db-wal", "\x00\x01\x02")
	got := flat(p.types("", "diff").out)
	if !strings.Contains(got, "edited shop.db table orders +28") || strings.Contains(got, "binary") {
		t.Errorf("a log: %s", got)
	}
	p.write("shop.db", "SQLite format 3\x00\x00")
	if got := flat(p.types("", "diff").out); strings.Count(got, "table orders") != 1 {
		t.Errorf("a database and its log: %s", got)
	}
}

func TestX9_NamesKeepTheirCase(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	if err := os.Mkdir(filepath.Join(p.dir, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.types("", "init").want(t, 0, "", "")
	for _, args := range [][]string{{"cat", "1", "src"}, {"cat", "1", "readme"}, {"ls", "1", "readme"}, {"why", "src:3"}} {
		if got := p.types("", args...); strings.Contains(got.err, "Src") || strings.Contains(got.err, "Readme") || got.code == 0 {
			t.Errorf("%v: %d %s", args, got.code, got.err)
		}
	}
}
