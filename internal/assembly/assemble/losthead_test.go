package assemble_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
)

// newestBlob returns the newest blob of a store whose name begins with a prefix.
func newestBlob(t *testing.T, home, prefix string) (path string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(home, "data/store/blobs", prefix+"*.f"))
	must(t, err)
	var newest time.Time
	for _, p := range all {
		i, err := os.Stat(p)
		must(t, err)
		if !i.ModTime().Before(newest) {
			path, newest = p, i.ModTime()
		}
	}
	if path == "" {
		t.Fatal("there is no such blob")
	}
	return path
}

// listedNumbers returns the numbers of the log, oldest first.
func listedNumbers(t *testing.T, s retake.Service, ws retake.WorkspaceID) (out []int64) {
	t.Helper()
	page, err := s.Log(t.Context(), retake.LogQuery{Workspace: ws, Limit: 100})
	must(t, err)
	for _, cp := range page.Checkpoints {
		out = append(out, cp.Number)
	}
	slices.Sort(out)
	return out
}

// When the newest file of the store is lost before it has a copy, a check says which checkpoint is
// listed in vain, and a repair brings back what can be: from a lost index everything, from a lost
// head all but the newest checkpoint, whose number nobody gets again.
func TestTheNewestFileOfTheStoreIsLost(t *testing.T) {
	for lost, want := range map[string][]int64{"xn": {1, 2, 3}, "q": {1, 2}} {
		t.Run(lost, func(t *testing.T) {
			home, root := t.TempDir(), t.TempDir()
			save := func(s retake.Service, ws retake.WorkspaceID, text string) int64 {
				t.Helper()
				must(t, os.WriteFile(filepath.Join(root, "a"), []byte(text), 0o644))
				res, err := s.Save(t.Context(), retake.SaveRequest{Workspace: ws})
				must(t, err)
				return res.Checkpoint.Number
			}
			s := openSolo(t, home)
			res, err := s.Init(t.Context(), retake.InitRequest{Dir: root})
			must(t, err)
			ws := res.Workspace.ID
			save(s, ws, "2")
			save(s, ws, "3")
			must(t, s.Close())
			must(t, os.Remove(newestBlob(t, home, lost)))

			s = openSolo(t, home)
			defer s.Close() // read at the end
			rep, err := s.Scrub(t.Context(), retake.ScrubQuery{})
			switch {
			case lost == "q" && !retake.IsKind(err, retake.Damaged):
				t.Errorf("a check finds %+v, %v", rep, err)
			case lost != "q" && (err != nil || len(rep.Failed) != 1 || !strings.Contains(rep.Failed[0], " 3: ")):
				t.Errorf("a check finds %+v, %v", rep, err)
			}
			rep, err = s.Scrub(t.Context(), retake.ScrubQuery{Repair: true})
			if err != nil || len(rep.Failed) != 3-len(want) {
				t.Errorf("a repair leaves %+v, %v", rep, err)
			}
			if got := listedNumbers(t, s, ws); !slices.Equal(got[:len(want)], want) {
				t.Errorf("the log lists %v instead of %v", got, want)
			}
			if n := save(s, ws, "4"); n < 4 {
				t.Errorf("the next checkpoint is %d", n)
			}
			if rep, err = s.Scrub(t.Context(), retake.ScrubQuery{Share: 1}); err != nil || len(rep.Failed) > 0 {
				t.Errorf("after the repair: %+v, %v", rep, err)
			}
		})
	}
}
