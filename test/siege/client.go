//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/retake-dev/retake"
)

// caller sends single requests to one server.
type caller struct {
	base string
	http *http.Client
}

func newCaller(s *server, patience time.Duration) *caller {
	return &caller{base: s.url(), http: &http.Client{Timeout: patience, Transport: s.transport()}}
}

// ask sends a request and returns the answer, whatever its status. A body that is no reader is
// sent as JSON.
func (c *caller) ask(ctx context.Context, method, path, key string, body any) (status int, answer []byte, err error) {
	r, isReader := body.(io.Reader)
	if !isReader && body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		r = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, r)
	if err != nil {
		return 0, nil, err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if body != nil && !isReader {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close() //nolint:errcheck // only read
	answer, err = io.ReadAll(res.Body)
	return res.StatusCode, answer, err
}

// must is ask, for what has to succeed.
func (c *caller) must(ctx context.Context, method, path, key string, body any) ([]byte, error) {
	status, answer, err := c.ask(ctx, method, path, key, body)
	if err == nil && status >= http.StatusBadRequest {
		err = fmt.Errorf("%d %.300s", status, answer)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return answer, nil
}

// widen gives a namespace limits that a harness does not reach, and then the ones given.
func (c *caller) widen(ctx context.Context, t *tenant, limits map[string]any) error {
	all := map[string]any{"per_second": 1_000_000, "restore_hour": 1_000_000, "workspaces": 1_000_000}
	for name, n := range limits {
		all[name] = n
	}
	_, err := c.must(ctx, http.MethodPut, "/v1/namespace/limits", t.keys[retake.KeyAdmin], all)
	return err
}

// addWorkspace makes an empty workspace.
func (c *caller) addWorkspace(ctx context.Context, t *tenant, name string) (retake.Workspace, error) {
	text, err := c.must(ctx, http.MethodPost, "/v1/workspaces", t.keys[retake.KeyOperator], map[string]any{"name": name})
	if err != nil {
		return retake.Workspace{}, err
	}
	var made retake.SaveResult
	err = json.Unmarshal(text, &made)
	return made.Workspace, err
}

// operation is something that a normal client does, and whose time is measured.
type operation struct {
	name string
	do   func(ctx context.Context) error
}

// everyday is what a normal client does in its workspace: list, save one file, read a file.
func (c *caller) everyday(t *tenant, ws retake.Workspace) []operation {
	key, path := t.keys[retake.KeyAgent], "/v1/workspaces/"+string(ws.ID)+"/"
	get := func(rest string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := c.must(ctx, http.MethodGet, path+rest, key, nil)
			return err
		}
	}
	n := 0
	save := func(ctx context.Context) error {
		n++
		text := fmt.Sprintf("%d\n", n)
		if err := os.WriteFile(filepath.Join(string(ws.Root), "note.txt"), []byte(text), 0o644); err != nil {
			return err
		}
		_, err := c.must(ctx, http.MethodPost, path+"checkpoints", key, map[string]any{"intent": "note " + text})
		return err
	}
	return []operation{{"save", save}, {"list", get("checkpoints?limit=20")}, {"get", get("file?ref=latest&path=note.txt")}}
}

// figures are the times of one operation, quiet and besieged.
type figures struct {
	Name     string   `json:"operation"`
	Quiet    spread   `json:"quiet"`
	Besieged spread   `json:"besieged"`
	Ratio    float64  `json:"ratio_of_medians"`
	Failures []string `json:"failures,omitempty"` // the first few
	Failed   int      `json:"failed"`

	quiet, besieged []time.Duration
}

// spread sums up times, in milliseconds.
type spread struct {
	Count  int     `json:"count"`
	Median float64 `json:"median_ms"`
	P95    float64 `json:"p95_ms"`
	Max    float64 `json:"max_ms"`
}

func spreadOf(all []time.Duration) spread {
	if len(all) == 0 {
		return spread{}
	}
	all = slices.Clone(all)
	slices.Sort(all)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return spread{Count: len(all), Median: ms(all[len(all)/2]), P95: ms(all[len(all)*95/100]), Max: ms(all[len(all)-1])}
}

// measure does each operation so often and keeps the times of those that succeed.
func measure(ctx context.Context, ops []operation, all []*figures, times int, besieged bool) {
	for range times {
		for i, op := range ops {
			begun := time.Now()
			err := op.do(ctx)
			took := time.Since(begun)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				all[i].Failed++
				if len(all[i].Failures) < 5 {
					all[i].Failures = append(all[i].Failures, err.Error())
				}
			case besieged:
				all[i].besieged = append(all[i].besieged, took)
			default:
				all[i].quiet = append(all[i].quiet, took)
			}
		}
	}
}

func (f *figures) sumUp() {
	f.Quiet, f.Besieged = spreadOf(f.quiet), spreadOf(f.besieged)
	if f.Quiet.Median > 0 {
		f.Ratio = f.Besieged.Median / f.Quiet.Median
	}
}
