//go:build linux

package g16

import (
	"fmt"
	"slices"
	"time"

	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

// kinds are the kinds of ids that stand in fields.
var kinds = map[string]string{
	"ws": "ws", "workspace": "ws", "workspace_id": "ws", "fork": "ws", "snapshot": "cp", "snapshot_id": "cp", "id": "cp", "hook": "wh", "webhook": "wh",
	"key": "key", "delivery": "msg", "schedule": "sch", "deletion": "del", "cursor": "cursor", "digest": "digest", "object id": "hash",
	"ref": "cp", "from": "cp", "to": "cp", "since": "cp", "before": "cp", "after": "cp",
}

// spared are the first of each kind: without them most requests would only answer not-found.
var spared = map[string]int{"deinit ws": 2, "revoke-key key": 7, "drop-webhook hook": 1, "change-webhook hook": 1}

// plain are words for fields.
var plain = map[string][]string{
	"cron": {"0 0 1 1 *"}, "expires": {"2099-01-01T00:00:00Z"}, "url": {"Q9sinkQ9"}, "path": {"f1.txt", "f2.txt", "b.txt", "../f1.txt"},
	"course": {"restore", "undo", "redo", "adopt"}, "kind": {"agent", "reader", "operator", "prompt", "call", "turn-end"}, "accept": {"changed"},
}

var (
	refWords = []string{"1", "2", "3", "latest", "start", "latest~1"}
	refs     = []string{"ref", "from", "to", "since", "before", "after"}
	texts    = []string{"intent", "label", "prompt", "why", "title", "name", "text", "message", "output"}
)

// pool answers what may stand in a request: the asker's own, and what is the other's.
func (t *worlds) pool(c *serverbed.Dice, own *reader, ns string) func(op, field string) (string, bool) {
	return func(op, field string) (string, bool) {
		n := fmt.Sprintf("z%d", c.IntN(1_000_000))
		if ns == "beta" {
			n = t.mark() + n
		}
		switch {
		case op == "observe" && field == "id":
			return string(queue.NewID()), true
		case op == "observe" && field == "pid":
			return "", false
		case field == "time" || field == "started":
			return time.Now().UTC().Format(time.RFC3339), true
		case field == "dir":
			return "Q9dirQ9/ns/" + c.OneOf("alpha", "alpha", "alpha", "beta") + "/files/" + c.OneOf("default", "second", "default/src", n, ".."), true
		case slices.Contains(texts, field):
			return c.OneOf(n, "same words", "default", "second"), true
		case slices.Contains(refs, field) && c.Chance(60):
			return c.OneOf(refWords...), true
		case len(plain[field]) > 0:
			return c.OneOf(plain[field]...), true
		}
		kind, ok := kinds[op+" "+field]
		if !ok {
			kind, ok = kinds[field]
		}
		if !ok {
			return "", false
		}
		return t.either(c, own, kind, spared[op+" "+field])
	}
}
