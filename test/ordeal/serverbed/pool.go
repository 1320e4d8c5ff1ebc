//go:build linux

package serverbed

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake/internal/agents/queue"
)

// Pool answers names that mean something here.
func (m *Realm) Pool(rnd *rand.Rand) func(op, field string) (string, bool) {
	names, files := maps.Clone(m.Names), m.H.Files(m.Ns)
	wss, refs, paths := []string{names["ws"], names["ws"], string(m.Other)}, []string{"1", "2", "3", "4", "latest", "start", names["snapshot"], names["name"]}, []string{"src/a.txt", "src", "b.txt"}
	usual := map[string][]string{
		"ws": wss, "workspace": wss, "workspace_id": wss, "fork": wss, "ref": refs, "from": refs, "to": refs, "since": refs, "before": refs, "after": refs,
		"path": paths, "kind": {"agent", "admin", "maintainer"}, "url": {m.sink.URL}, "course": {"restore", "undo", "redo", "adopt", "finish", "unwind"},
		"trigger": {"manual", "return", "fork", "init", "prompt", "complete"}, "accept": {"changed", "deleted", "held"},
	}
	return func(op, field string) (string, bool) {
		n := fmt.Sprintf("z%d", rnd.Uint64())
		now := map[string][]string{
			"observe id": {string(queue.NewID())}, "observe dir": {m.Root(), filepath.Join(files, "second"), m.H.Dir},
			"observe time": {time.Now().Format(time.RFC3339Nano), "2001-01-01T00:00:00Z", "2099-01-01T00:00:00Z"},
			"dir":          {m.Root(), filepath.Join(files, n), filepath.Join(files, "second", n), "src"}, "name": {names["name"], names["hold"], n},
		}
		for _, op := range []string{"save", "restore", "apply-restore", "restore-snapshot"} {
			now[op+" id"] = []string{names["snapshot"], fmt.Sprintf("cp_0197a000-0000-7000-8000-%012x", rnd.Uint64()>>16), ""}
		}
		for _, all := range [][]string{now[op+" "+field], now[field], usual[field]} {
			if len(all) > 0 {
				return all[rnd.IntN(len(all))], true
			}
		}
		v, ok := names[field]
		return v, ok
	}
}
