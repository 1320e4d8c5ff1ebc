package daemon

import (
	"testing"

	"github.com/retake-dev/retake"
)

// The user of a system daemon may read, add and bring back. What nobody has thought about is for root.
func TestWhatTheUserOfASystemDaemonMayAsk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		power     retake.Power
		operation string
		may       bool
	}{
		{retake.PowerSee, "timeline", true}, {retake.PowerRecord, "save", true}, {retake.PowerReturn, "apply-restore", true}, {retake.PowerNone, "about", true},
		{retake.PowerDecide, "init", true}, {retake.PowerDecide, "pin", true}, {retake.PowerDecide, "approve", true}, {retake.PowerMaintain, "scrub", true},
		{retake.PowerDecide, "deinit", false}, {retake.PowerDecide, "unpin", false}, {retake.PowerDecide, "release", false}, {retake.PowerDecide, "set-backup", false},
		{retake.PowerMaintain, "sweep", false}, {retake.PowerMaintain, "thin", false}, {retake.PowerErase, "forget", false}, {retake.PowerAdminister, "make-key", false},
		{retake.PowerDecide, "an operation of tomorrow", false}, {retake.PowerProvision, "create-namespace", false}, {"a power of tomorrow", "save", false},
	} {
		if got := mayAnyone(c.power, c.operation); got != c.may {
			t.Errorf("%s %q: %v", c.power, c.operation, got)
		}
	}
}
