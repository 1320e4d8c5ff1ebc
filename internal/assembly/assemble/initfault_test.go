package assemble_test

import (
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
)

// Fault: after an init that the disk refused, the next one took the directory for another
// that stands where a workspace was.
func TestInitAfterOneThatFailed(t *testing.T) {
	t.Parallel()
	seam := fsxtest.NewFaultyFS(fsx.OS(), fsxtest.FaultPlan{})
	d, _ := newStall(t, seam, nil)
	d.write("shop/a", "1")
	d.init()
	all := seam.OpCount()
	step := int64(1)
	if testing.Short() {
		step = 5
	}
	for at := step; at <= all; at += step {
		d, home := newStall(t, fsxtest.NewFaultyFS(fsx.OS(), fsxtest.FaultPlan{At: at, Kind: fsxtest.IOError}), nil)
		d.write("shop/a", "1")
		_, failed := d.s.Init(t.Context(), retake.InitRequest{Dir: d.at("shop")})
		_ = d.s.Close() // the fault may be here
		d.reopen(home, fsx.OS(), nil)
		ws, err := d.s.Locate(t.Context(), d.at("shop"))
		switch {
		case failed == nil || err == nil: // in doubt it is there
			d.ws = ws.ID
		default:
			res, err := d.s.Init(t.Context(), retake.InitRequest{Dir: d.at("shop")})
			if err != nil {
				t.Fatalf("operation %d of %d fails with %v; then init: %v", at, all, failed, err)
			}
			d.ws = res.Workspace.ID
		}
		d.write("shop/a", "2")
		d.save(retake.SaveRequest{})
		if got := d.latest("a"); got != "2" {
			t.Errorf("operation %d of %d fails: a is %q", at, all, got)
		}
		must(t, d.s.Close())
	}
}
