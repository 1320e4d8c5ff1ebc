package insight_test

import (
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/insight"
)

// Only what belongs to the agent or the workspace is told with a checkpoint; the rest of
// the machine is there for whoever asks.
func TestV5_OtherProgramsAreNotOnTheRow(t *testing.T) {
	t.Parallel()
	facts := []retake.Fact{
		{Kind: retake.FactPort, What: retake.Added, Name: "tcp 2299", After: "sshd", Path: "/proc/net"},
		{Kind: retake.FactPort, What: retake.Added, Name: "tcp 3000", After: "node", Path: "/proc/net", Direct: true},
		{Kind: retake.FactPackage, What: retake.Added, Group: "deb", Name: "jq", Path: "/var/lib/dpkg/status"},
		{Kind: retake.FactUnit, What: retake.Added, Name: "web.service", Path: "/etc/systemd/system/web.service"},
	}
	for name, c := range map[string]struct {
		effects []retake.Effect
		want    int
	}{
		"no call was about the machine":   {[]retake.Effect{{Kind: "push"}}, 1},
		"the agent installed something":   {[]retake.Effect{{Kind: "machine", Outcome: retake.OutcomeDone}}, 3},
		"nobody knows whether it did":     {[]retake.Effect{{Kind: "machine", Outcome: retake.OutcomeUnknown}}, 3},
		"what it tried to install failed": {[]retake.Effect{{Kind: "machine", Outcome: retake.OutcomeFailed}}, 1},
	} {
		got := insight.OwnHostFacts(retake.Checkpoint{Effects: c.effects}, facts)
		if len(got) != c.want || got[0].Name != "tcp 3000" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
