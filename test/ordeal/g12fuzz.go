//go:build linux

package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
)

// agentFuzz: whatever an agent asks for, the checkpoints that were there stay as they were,
// and so does all that decides how long.
func agentFuzz(r *run, dsn string) verdict {
	v := verdict{
		Guarantee: "G12", What: "random requests of an agent: every checkpoint stays, pins and settings too", Detail: map[string]any{},
		Control: "keys that may more, and rows changed behind its back: each is seen",
	}
	start := time.Now()
	h, m, err := fuzzRealm(r, dsn)
	if err != nil {
		v.fail("%v", err)
		return v
	}
	was, err := m.record()
	if err != nil {
		v.fail("%v", err)
		return v
	}
	codes, err := m.storm(r.seed, r.figure(2_000, 50_000))
	if err != nil {
		v.fail("%v", err)
	}
	for _, n := range codes {
		v.Tried += n
	}
	v.Detail["answers"], v.Detail["checkpoints before"] = codes, len(was.checkpoints)
	is, err := m.record()
	if err != nil {
		v.fail("%v", err)
	}
	for _, what := range was.broken(is, start) {
		v.fail("%s", what)
	}
	v.Detail["checkpoints after"] = len(is.checkpoints)
	if len(m.faults) > 0 {
		v.Detail["faults"] = m.faults
	}
	v.Caught, err = m.controls(is)
	if err = errors.Join(err, h.close()); err != nil {
		v.fail("%v", err)
	}
	v.Seconds = time.Since(start).Seconds()
	return v
}

func fuzzRealm(r *run, dsn string) (*hall, *realm, error) {
	h, err := openHall(r, hallOptions{postgres: dsn})
	if err != nil {
		return nil, nil, err
	}
	sink, err := newReceiver(nil)
	if err != nil {
		return nil, nil, err
	}
	m, err := furnishRealm(h, "alpha", sink)
	return h, m, err
}

// storm lets several agents with one key ask at random.
func (m *realm) storm(seed int64, n int) (map[string]int64, error) {
	d, err := m.h.describe(m.keys[retake.KeyAgent])
	if err != nil {
		return nil, err
	}
	codes := map[string]int64{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	const agents = 4
	for i := range agents {
		c, err := newDice(uint64(seed)<<8+uint64(i), d)
		if err != nil {
			return nil, err
		}
		c.name = m.pool(c.Rand)
		wg.Go(func() {
			for j := range n / agents {
				if j%25 == 0 {
					_ = plantFile(filepath.Join(m.root(), "src", fmt.Sprintf("f%d.txt", i)), fmt.Sprint(c.Uint64())) // so that saves have something to do
				}
				q := c.request(d.ops[c.IntN(len(d.ops))])
				q.key = m.keys[retake.KeyAgent]
				a := m.h.ask(q)
				mu.Lock()
				codes[fmt.Sprintf("%dxx", a.status/100)]++
				if (a.status/100 == 5 || a.status == 0) && len(m.faults) < 5 {
					m.faults = append(m.faults, fmt.Sprintf("%s %s %.300s: %s", q.method, q.path, q.body, a.say()))
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if !m.h.settled() {
		return codes, errors.New("the server does not come to rest")
	}
	return codes, nil
}

// pool answers names that mean something here.
func (m *realm) pool(rnd *rand.Rand) func(op, field string) (string, bool) {
	names, files := maps.Clone(m.names), m.h.files(m.ns)
	wss, refs, paths := []string{names["ws"], names["ws"], string(m.other)}, []string{"1", "2", "3", "4", "latest", "start", names["snapshot"], names["name"]}, []string{"src/a.txt", "src", "b.txt"}
	usual := map[string][]string{
		"ws": wss, "workspace": wss, "workspace_id": wss, "fork": wss, "ref": refs, "from": refs, "to": refs, "since": refs, "before": refs, "after": refs,
		"path": paths, "kind": {"agent", "admin", "maintainer"}, "url": {m.sink.url}, "course": {"restore", "undo", "redo", "adopt", "finish", "unwind"},
		"trigger": {"manual", "return", "fork", "init", "prompt", "complete"}, "accept": {"changed", "deleted", "held"},
	}
	return func(op, field string) (string, bool) {
		n := fmt.Sprintf("z%d", rnd.Uint64())
		now := map[string][]string{
			"observe id": {string(queue.NewID())}, "observe dir": {m.root(), filepath.Join(files, "second"), m.h.dir},
			"observe time": {time.Now().Format(time.RFC3339Nano), "2001-01-01T00:00:00Z", "2099-01-01T00:00:00Z"},
			"dir":          {m.root(), filepath.Join(files, n), filepath.Join(files, "second", n), "src"}, "name": {names["name"], names["hold"], n},
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

// recorded is what must not change.
type recorded struct {
	checkpoints map[retake.CheckpointID]retake.Checkpoint
	bytes       map[string]string   // digests of archives
	fixed       map[string][]string // rows of tables in which an agent has no part
	rows        []string            // of checkpoints, to which some may come
}

// fixedTables decide who may do what, and how long checkpoints are kept.
var fixedTables = []string{"pin", "tombstone", "api_key", "key_digest", "hook", "schedule", "deletion", "namespace", "terms", "password"}

func (m *realm) record() (recorded, error) {
	out := recorded{checkpoints: map[retake.CheckpointID]retake.Checkpoint{}, bytes: map[string]string{}, fixed: map[string][]string{}}
	for _, ws := range []string{string(m.home), string(m.other)} {
		a, err := m.h.must(m.keys[retake.KeyReader], http.MethodGet, "/v1/workspaces/"+ws+"/checkpoints", "")
		if err != nil {
			return out, err
		}
		var t retake.Timeline
		if err := json.Unmarshal(a.body, &t); err != nil {
			return out, err
		}
		for _, cp := range t.Checkpoints {
			out.checkpoints[cp.ID] = cp
		}
		a, err = m.h.must(m.keys[retake.KeyReader], http.MethodGet, "/v1/workspaces/"+url.PathEscape(ws)+"/checkpoints/1/archive", "")
		if err != nil {
			return out, err
		}
		out.bytes[ws] = fmt.Sprintf("%x", sha256.Sum256(a.body))
	}
	rows, err := m.h.rows.dump(m.ns)
	out.rows = rows["checkpoint"]
	for _, table := range fixedTables {
		out.fixed[table] = rows[table]
	}
	return out, err
}

// broken tells what is not as it was.
func (was recorded) broken(is recorded, since time.Time) []string {
	out := was.moved(is, since)
	for table, rows := range was.fixed {
		if gone, come := apart(rows, is.fixed[table]); len(gone)+len(come) > 0 {
			out = append(out, fmt.Sprintf("table %s: gone %.300q, come %.300q", table, gone, come))
		}
	}
	if gone, _ := apart(was.rows, is.rows); len(gone) > 0 {
		out = append(out, fmt.Sprintf("rows of checkpoints are gone: %.300q", gone))
	}
	for ws, digest := range was.bytes {
		if is.bytes[ws] != digest {
			out = append(out, "the first checkpoint of "+ws+" has other bytes")
		}
	}
	slices.Sort(out)
	return out
}

// moved tells which checkpoints are gone or are others. What came must be of its time.
func (was recorded) moved(is recorded, since time.Time) []string {
	var out []string
	facts := func(cp retake.Checkpoint) string {
		return fmt.Sprint(cp.Workspace, cp.Number, cp.Time.UnixNano(), cp.Tree, cp.Content, cp.Parent, cp.Intent, cp.Trigger)
	}
	for id, cp := range was.checkpoints {
		if now, ok := is.checkpoints[id]; !ok {
			out = append(out, fmt.Sprintf("checkpoint %d is gone", cp.Number))
		} else if facts(now) != facts(cp) {
			out = append(out, fmt.Sprintf("checkpoint %d is another: %s, was %s", cp.Number, facts(now), facts(cp)))
		}
	}
	for id, cp := range is.checkpoints {
		if _, old := was.checkpoints[id]; !old && (cp.Time.Before(since) || cp.Time.After(time.Now())) {
			out = append(out, fmt.Sprintf("checkpoint %d says that it is of %s", cp.Number, cp.Time))
		}
	}
	return out
}

// controls do what an agent must not be able to, and count how much of it is seen.
func (m *realm) controls(was recorded) (int64, error) {
	var caught int64
	admin, operator := m.keys[retake.KeyAdmin], m.keys[retake.KeyOperator]
	request := func(key, method, path, body string) func() error {
		return func() error {
			_, err := m.h.must(key, method, path, body)
			return err
		}
	}
	rows := func(text string) func() error {
		return func() error {
			_, err := m.h.rows.conn.ExecContext(context.Background(), text)
			return err
		}
	}
	steps := []func() error{
		request(operator, http.MethodDelete, "/v1/workspaces/"+m.names["ws"]+"/pins/"+m.names["name"], ""),
		request(admin, http.MethodDelete, "/v1/webhooks/"+m.names["hook"], ""),
		request(admin, http.MethodDelete, "/v1/keys/"+m.names["key"], ""),
		request(admin, http.MethodPut, "/v1/namespace/limits", `{"within":3600000000000}`),
		request(admin, http.MethodPost, "/v1/deletions", `{"workspace":"`+m.names["ws"]+`","refs":["2"]}`),
		rows(`UPDATE checkpoint SET time_us = time_us - 1000000 WHERE ns = 'alpha' AND number = 2 AND workspace = '` + m.names["ws"] + `'`),
		rows(`UPDATE checkpoint SET tree = 'k00' WHERE ns = 'alpha' AND number = 3 AND workspace = '` + m.names["ws"] + `'`),
		rows(`DELETE FROM checkpoint WHERE ns = 'alpha' AND number = 2 AND workspace = '` + m.names["ws"] + `'`),
	}
	for i, step := range steps {
		if err := step(); err != nil {
			return caught, fmt.Errorf("control %d: %w", i, err)
		}
		is, err := m.record()
		if err != nil {
			return caught, err
		}
		if len(was.broken(is, time.Time{})) == 0 {
			return caught, fmt.Errorf("control %d is not seen", i)
		}
		caught, was = caught+1, is
	}
	return caught, nil
}
