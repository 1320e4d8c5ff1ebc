package tenant

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
)

// rules says what a namespace checks before a call reaches the service. A method that is not here
// was added without a decision.
var rules = map[string]string{
	"a directory inside, and the limit of workspaces":               "Fork Init",
	"a directory inside":                                            "Estimate Locate Observe",
	"the limit and the shares of the store, and the role for a pin": "Save",
	"nothing before; what is taken is measured after":               "Sweep Thin",
	"the role, and that it is no legal hold":                        "Pin Unpin",
	"only workspaces that the key may load":                         "Forks Workspaces",
	"the scheduler alone":                                           "Forget",
	"refused on a server, or in part":                               "AddRemote Attach CheckRemote RemoveRemote Remotes Resume Scrub SyncRemotes",
	"nothing: workspaces are checked where they are loaded": "ApplyRestore Approve Attest Backup Blame Chronicle Conversation Deinit Diff DropBackup Effects Erase Find List Log Open " +
		"PlanPurge PlanRestore Prove Purge PushBackup Rows Search SetBackup SetTasks Standing State Status Story Tasks Verifications ViewPlan ViewTimeline",
	"nothing: a role for the whole store":         "Rebuild Space SpacePlan",
	"nothing: an ID that only its readers know":   "Bytes",
	"nothing: called by the server, not a client": "Close",
}

// Every method of the service has a rule, and none is inherited.
func TestEveryMethodHasARule(t *testing.T) {
	t.Parallel()
	var want, got []string
	for _, names := range rules {
		want = append(want, strings.Fields(names)...)
	}
	service := reflect.TypeFor[retake.Service]()
	for i := range service.NumMethod() {
		got = append(got, service.Method(i).Name)
	}
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-ruled +there:\n%s", d)
	}
	confined := reflect.TypeFor[confinedService]()
	for i := range confined.NumField() {
		if f := confined.Field(i); f.Anonymous && f.Type != reflect.TypeFor[noRemotes]() {
			t.Errorf("it embeds %s: new methods would pass unseen", confined.Field(i).Name)
		}
	}
}
