//go:build linux

package matrix

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// kindOf tells what a field names, by its name. A field that is in neither list fails the test:
// somebody has to decide what a new one names.
var kindOf = map[string]string{
	"ws": "ws", "workspace": "ws", "workspace_id": "ws", "workspaces": "ws", "fork": "fork",
	"ref": "cp", "refs": "cp", "from": "cp", "to": "cp", "since": "cp", "snapshot": "cp", "snapshot_id": "cp", "id": "cp", "open": "cp",
	"key": "key", "hook": "hook", "webhook": "hook", "schedule": "schedule", "deletion": "deletion", "delivery": "delivery", "before": "delivery",
	"operation": "operation", "effect": "effect", "dir": "dir", "dir_raw": "dir", "transcript": "dir", "session": "session", "name": "pin", "name_raw": "pin", "pin": "pin",
	"namespace": "namespace", "cursor": "cursor", "digest": "digest", "object": "object", "remote": "remote",
}

// texts take words of people, names of files, times and values of lists.
var texts = strings.Fields(`accept after agent by command contents course cron disabled env events expires failed gone_after_text grace_text
	host intent kind label mark message order output path paths paths_raw prompt reason scheme started state status subagent table text time title
	tool server trigger turn types url verdict version wait what where why within_text work input share mode endpoint known_hosts
	private_key region secret user recovery_key workspace_name browse`)

// kind answers what a field of an operation names; "" is text.
func (op *operation) kind(f field) string {
	switch {
	case op.ID == "object" && f.in == "path":
		return "object"
	case op.Power == retake.PowerProvision && f.name == "namespace":
		return "child"
	case op.ID == "create-namespace" && f.name == "id":
		return "taken"
	case op.ID == "create-namespace":
		return ""
	case op.writesFiles() && f.name == "path":
		return "path"
	}
	return kindOf[f.name]
}

// writesFiles says whether an operation changes a file by its path.
func (op *operation) writesFiles() bool { return op.ID == "write-file" || op.ID == "remove-file" }

// Unclassified lists fields of the API that nobody has decided about.
func (b *Bed) Unclassified() []string {
	var out []string
	for _, op := range b.spec.ops {
		for _, f := range op.fields {
			if kindOf[f.name] == "" && !slices.Contains(texts, f.name) {
				out = append(out, op.ID+" "+f.String())
			}
		}
	}
	return out
}

// mild are fields that may hold an id that is not the caller's in a request that succeeds, with the
// reason. The response must still show nothing, and nothing may change.
var mild = map[string]string{
	"list dir":                  "a path in a checkpoint, not on the machine",
	"save id":                   "the id that the new checkpoint gets",
	"make-snapshot snapshot_id": "the id that the new checkpoint gets",
	"restore-snapshot id":       "the id that the new checkpoint gets",
	"apply-restore id":          "the id that the new checkpoint gets",
	"restore id":                "the id that the new checkpoint gets",
	"observe id":                "the id that an agent gives its event",
	"observe transcript":        "a path on the machine of the agent; a server drops it",
	"list-deliveries webhook":   "a filter: nothing matches",
	"list-deliveries before":    "a place in a list",
	"view-timeline open":        "the keys of rows that are open; others are skipped",
}

// named says whether a field names an object, so that a request with an object of somebody else
// must not succeed.
func (op *operation) named(f field) bool {
	at := op.ID + " " + f.name
	if mild[at] != "" || len(f.at) > 1 {
		return false
	}
	switch op.kind(f) {
	case "", "session", "cursor", "digest", "effect": // each workspace has an e1
		return false
	case "pin":
		return op.ID == "unpin" || op.ID == "release"
	}
	return true
}

// writes says whether an operation changes something for good.
func (op *operation) writes() bool {
	return op.Method != http.MethodGet && !slices.Contains([]string{"plan", "view-plan", "plan-purge", "scrub", "sweep", "thin", "rebuild"}, op.ID)
}

// below says whether an operation is about one workspace, so that a key that is limited to this
// workspace may use it.
func (op *operation) below() bool {
	return strings.HasPrefix(op.template, "/v1/workspaces/{ws}") || op.extra()
}

const (
	noRemotes    = "not on a server"
	noHost       = "a backup goes to a machine with ssh, and a test has none"
	noTranscript = "the transcripts of agents are on other machines"
)

// never lists operations that nobody succeeds with here, with the reason.
var never = map[string]string{
	"forget":     "a server deletes nothing at once",
	"purge":      "not on a server",
	"plan-purge": "not on a server",
	"erase":      "not on a server",
	"resume":     "the agent is on another machine",
	"attach":     noRemotes,
	"add-remote": noRemotes, "remove-remote": noRemotes, "sync-remotes": noRemotes, "check-remote": noRemotes,
	"set-backup":   noHost,
	"drop-backup":  noHost,
	"backup":       noHost,
	"back-up":      noHost,
	"conversation": noTranscript,
	"spoken":       noTranscript,
	"approve":      "no call was stopped",
}

// unbegun are operations that a role succeeds with only if it began something itself.
var unbegun = []string{"operation", "cancel-operation"}

// reach tells who never succeeded with an operation that the table allows, and the reverse.
func (b *Bed) reach(done map[string]int) []string {
	var out []string
	for _, op := range b.spec.ops {
		for _, role := range slices.Sorted(maps.Keys(b.table)) {
			n := done[op.ID+" "+string(role)]
			switch excuse := never[op.ID]; {
			case n > 0 && excuse != "":
				out = append(out, fmt.Sprintf("%s succeeded %d times as %s, and %s", op.ID, n, role, excuse))
			case n == 0 && excuse == "" && b.table[role][op.Power] && (b.table[role][retake.PowerRecord] || !slices.Contains(unbegun, op.ID)):
				out = append(out, fmt.Sprintf("%s never succeeded as %s", op.ID, role))
			}
		}
	}
	return out
}
