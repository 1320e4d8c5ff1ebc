//go:build linux

package g12

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

// agentFuzz: whatever an agent asks for, the checkpoints that were there stay as they were,
// and so does all that decides how long.
func agentFuzz(r *harness.Run, dsn string) harness.Verdict {
	v := harness.Verdict{
		Guarantee: "G12", What: "random requests of an agent: every checkpoint stays, pins and settings too", Detail: map[string]any{},
		Control: "keys that may more, and rows changed behind its back: each is seen",
	}
	start := time.Now()
	h, m, err := fuzzRealm(r, dsn)
	if err != nil {
		v.Fail("%v", err)
		return v
	}
	was, err := record(m)
	if err != nil {
		v.Fail("%v", err)
		return v
	}
	codes, err := storm(m, r.Seed, r.Figure(2_000, 50_000))
	if err != nil {
		v.Fail("%v", err)
	}
	for _, n := range codes {
		v.Tried += n
	}
	v.Detail["answers"], v.Detail["checkpoints before"] = codes, len(was.checkpoints)
	is, err := record(m)
	if err != nil {
		v.Fail("%v", err)
	}
	for _, what := range was.broken(is, start) {
		v.Fail("%s", what)
	}
	v.Detail["checkpoints after"] = len(is.checkpoints)
	if len(m.Faults) > 0 {
		v.Detail["faults"] = m.Faults
	}
	v.Caught, err = controls(m, is)
	if err = errors.Join(err, h.Close()); err != nil {
		v.Fail("%v", err)
	}
	v.Seconds = time.Since(start).Seconds()
	return v
}

func fuzzRealm(r *harness.Run, dsn string) (*serverbed.Hall, *serverbed.Realm, error) {
	h, err := serverbed.OpenHall(r, serverbed.HallOptions{Postgres: dsn})
	if err != nil {
		return nil, nil, err
	}
	sink, err := serverbed.NewReceiver(nil)
	if err != nil {
		return nil, nil, err
	}
	m, err := serverbed.FurnishRealm(h, "alpha", sink)
	return h, m, err
}

// storm lets several agents with one key ask at random.
func storm(m *serverbed.Realm, seed int64, n int) (map[string]int64, error) {
	d, err := m.H.Describe(m.Keys[retake.KeyAgent])
	if err != nil {
		return nil, err
	}
	codes := map[string]int64{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	const agents = 4
	for i := range agents {
		c, err := serverbed.NewDice(uint64(seed)<<8+uint64(i), d)
		if err != nil {
			return nil, err
		}
		c.Name = m.Pool(c.Rand)
		wg.Go(func() {
			for j := range n / agents {
				if j%25 == 0 {
					_ = serverbed.PlantFile(filepath.Join(m.Root(), "src", fmt.Sprintf("f%d.txt", i)), fmt.Sprint(c.Uint64())) // so that saves have something to do
				}
				q := c.Request(d.Ops[c.IntN(len(d.Ops))])
				q.Key = m.Keys[retake.KeyAgent]
				a := m.H.Ask(q)
				mu.Lock()
				codes[fmt.Sprintf("%dxx", a.Status/100)]++
				if (a.Status/100 == 5 || a.Status == 0) && len(m.Faults) < 5 {
					m.Faults = append(m.Faults, fmt.Sprintf("%s %s %.300s: %s", q.Method, q.Path, q.Body, a.Say()))
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if !m.H.Settled() {
		return codes, errors.New("the server does not come to rest")
	}
	return codes, nil
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

func record(m *serverbed.Realm) (recorded, error) {
	out := recorded{checkpoints: map[retake.CheckpointID]retake.Checkpoint{}, bytes: map[string]string{}, fixed: map[string][]string{}}
	for _, ws := range []string{string(m.Home), string(m.Other)} {
		a, err := m.H.Must(m.Keys[retake.KeyReader], http.MethodGet, "/v1/workspaces/"+ws+"/checkpoints", "")
		if err != nil {
			return out, err
		}
		var t retake.Timeline
		if err := json.Unmarshal(a.Body, &t); err != nil {
			return out, err
		}
		for _, cp := range t.Checkpoints {
			out.checkpoints[cp.ID] = cp
		}
		a, err = m.H.Must(m.Keys[retake.KeyReader], http.MethodGet, "/v1/workspaces/"+url.PathEscape(ws)+"/checkpoints/1/archive", "")
		if err != nil {
			return out, err
		}
		out.bytes[ws] = fmt.Sprintf("%x", sha256.Sum256(a.Body))
	}
	rows, err := m.H.Rows.Dump(m.Ns)
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
		if gone, come := serverbed.Apart(rows, is.fixed[table]); len(gone)+len(come) > 0 {
			out = append(out, fmt.Sprintf("table %s: gone %.300q, come %.300q", table, gone, come))
		}
	}
	if gone, _ := serverbed.Apart(was.rows, is.rows); len(gone) > 0 {
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
func controls(m *serverbed.Realm, was recorded) (int64, error) {
	var caught int64
	admin, operator := m.Keys[retake.KeyAdmin], m.Keys[retake.KeyOperator]
	request := func(key, method, path, body string) func() error {
		return func() error {
			_, err := m.H.Must(key, method, path, body)
			return err
		}
	}
	rows := func(text string) func() error {
		return func() error {
			_, err := m.H.Rows.Conn.ExecContext(context.Background(), text)
			return err
		}
	}
	steps := []func() error{
		request(operator, http.MethodDelete, "/v1/workspaces/"+m.Names["ws"]+"/pins/"+m.Names["name"], ""),
		request(admin, http.MethodDelete, "/v1/webhooks/"+m.Names["hook"], ""),
		request(admin, http.MethodDelete, "/v1/keys/"+m.Names["key"], ""),
		request(admin, http.MethodPut, "/v1/namespace/limits", `{"within":3600000000000}`),
		request(admin, http.MethodPost, "/v1/deletions", `{"workspace":"`+m.Names["ws"]+`","refs":["2"]}`),
		rows(`UPDATE checkpoint SET time_us = time_us - 1000000 WHERE ns = 'alpha' AND number = 2 AND workspace = '` + m.Names["ws"] + `'`),
		rows(`UPDATE checkpoint SET tree = 'k00' WHERE ns = 'alpha' AND number = 3 AND workspace = '` + m.Names["ws"] + `'`),
		rows(`DELETE FROM checkpoint WHERE ns = 'alpha' AND number = 2 AND workspace = '` + m.Names["ws"] + `'`),
	}
	for i, step := range steps {
		if err := step(); err != nil {
			return caught, fmt.Errorf("control %d: %w", i, err)
		}
		is, err := record(m)
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
