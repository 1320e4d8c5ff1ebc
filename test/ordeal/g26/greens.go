//go:build linux

package g26

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/ui/httpapi"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

// green is a result, or a state, that is shown as passed and is no claim.
type green struct {
	id, by, what string
	result       bool // it is a result itself
}

func (g green) String() string { return fmt.Sprintf("%s by %q (%s)", g.what, g.by, g.id) }

// greens are all that a server shows to who may read: results, rows of timelines, what
// good is. A state is by whoever vouched for the result that makes it good.
func greens(url, key string) ([]green, error) {
	var list struct {
		Workspaces []retake.WorkspaceState `json:"workspaces"`
	}
	if err := readJSON(url, key, "/v1/workspaces", &list); err != nil {
		return nil, err
	}
	var out []green
	for i := range list.Workspaces {
		ws := list.Workspaces[i].ID
		found, err := greensOf(url, key, ws)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

func greensOf(url, key string, ws retake.WorkspaceID) ([]green, error) {
	at := "/v1/workspaces/" + string(ws)
	var said struct {
		Verifications []retake.Verification `json:"verifications"`
	}
	var tl retake.Timeline
	var st retake.Status
	if err := errors.Join(readJSON(url, key, at+"/verifications", &said), readJSON(url, key, at+"/checkpoints", &tl)); err != nil {
		return nil, err
	}
	_ = readJSON(url, key, at+"/status", &st) // a workspace whose files are gone has none
	var out []green
	by := ""
	for _, v := range said.Verifications {
		if v.Claim || v.Verdict != retake.Passed {
			continue
		}
		out = append(out, green{string(v.ID), v.By, fmt.Sprintf("result %s of checkpoint %d", v.Name, v.Number), true})
		by = v.By
	}
	for _, cp := range tl.Checkpoints {
		f := tl.Findings[cp.ID]
		passed := slices.ContainsFunc(f.Answers, func(a retake.Answer) bool { return a.Verdict == retake.Passed && !a.Claim })
		if f.Good || passed {
			out = append(out, green{"row " + string(cp.ID), by, fmt.Sprintf("checkpoint %d is shown as good", cp.Number), false})
		}
	}
	for _, cp := range []*retake.Checkpoint{tl.Good, st.Good} {
		if cp != nil {
			out = append(out, green{"good " + string(cp.ID), by, fmt.Sprintf("good is %d", cp.Number), false})
		}
	}
	return out, nil
}

func readJSON(url, key, path string, v any) error {
	a := serverbed.AskAt(url, serverbed.Asked{Key: key, Method: http.MethodGet, Path: path})
	if !a.Good() {
		return fmt.Errorf("read %s: %s", path, a.Say())
	}
	return json.Unmarshal(a.Body, v)
}

// messages: what receivers were told is green only by the word of a person.
func (b *boaster) messages(sink *serverbed.Receiver, keys []boastKey) {
	b.h.Settled()
	told := 0
	for _, m := range sink.All() {
		var e struct {
			Type retake.EventType `json:"type"`
			Data retake.EventData `json:"data"`
		}
		if json.Unmarshal(m.Body, &e) != nil || e.Type != retake.EventVerified {
			continue
		}
		told++
		b.v.Tried++
		person := slices.ContainsFunc(keys, func(k boastKey) bool { return k.vouches != "" && k.vouches == e.Data.By })
		if e.Data.Answer == string(retake.Passed) && !e.Data.Claim && !person {
			b.v.Fail("a message says passed, by %q", e.Data.By)
		}
	}
	if told == 0 {
		b.v.Fail("no message told of a result")
	}
	b.v.Detail["messages of results"] = told
}

// tools calls all tools that the server offers to agents, with one key.
func (b *boaster) tools(k boastKey) error {
	at := "/mcp/" + string(b.m.Home)
	call := func(method, params string) serverbed.Answer {
		return b.ask(k, "tool", serverbed.Asked{Method: http.MethodPost, Path: at, Header: map[string]string{"Accept": "application/json, text/event-stream"},
			Body: []byte(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`)})
	}
	var list struct {
		Result struct {
			Tools []struct {
				Name  string           `json:"name"`
				Input serverbed.Schema `json:"inputSchema"`
			} `json:"tools"`
		} `json:"result"`
	}
	a := call("tools/list", `{}`)
	if err := json.Unmarshal(a.Body, &list); err != nil || len(list.Result.Tools) == 0 {
		return fmt.Errorf("list tools: %s: %w", a.Say(), err)
	}
	for _, t := range list.Result.Tools {
		base := map[string]any{}
		for _, field := range t.Input.Required {
			base[field] = map[string]string{"ref": "1", "path": "src/a.txt", "name": "n", "intent": allIsWell}[field]
		}
		for _, args := range append(boasts(b.dice, t.Input, base), base) {
			said, err := json.Marshal(map[string]any{"name": t.Name, "arguments": args})
			if err != nil {
				return err
			}
			if a := call("tools/call", string(said)); !strings.Contains(string(a.Body), `"isError":true`) && a.Good() {
				b.done["tool "+t.Name] = true
			}
		}
		if err := b.judge(k, "tool "+t.Name); err != nil {
			return err
		}
	}
	return nil
}

// boastAtHome is the control: the same bodies at an API without keys, where whoever asks
// owns the process and a result is a run of his. The harness must see those greens.
func boastAtHome(r *harness.Run) (caught int64, err error) {
	dir, root := r.Scratch("home"), r.Scratch("ws")
	set, err := config.Load(filepath.Join(dir, "config.json"))
	if err != nil {
		return 0, err
	}
	ctx := context.Background()
	s, err := assemble.OpenService(ctx, config.Config{DataDir: filepath.Join(dir, "data"), Home: "/nobody", BootID: "this run"}, set, assemble.Options{Derivation: harness.Derivation, Exclusive: true})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	res, err := s.Init(ctx, retake.InitRequest{Dir: root})
	if err != nil {
		return 0, err
	}
	web := httptest.NewServer(httpapi.New(s, httpapi.Options{}))
	defer web.Close()
	d, err := (&serverbed.Hall{URL: web.URL}).Describe("")
	if err != nil {
		return 0, err
	}
	c, err := serverbed.NewDice(1, d)
	if err != nil {
		return 0, err
	}
	for _, body := range boasts(c, c.Bodies["attest"], map[string]any{"name": "test", "command": "true"}) {
		said, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		serverbed.AskAt(web.URL, serverbed.Asked{Method: http.MethodPost, Path: "/v1/workspaces/" + string(res.Workspace.ID) + "/verifications", Body: said})
	}
	seen, err := greens(web.URL, "")
	return int64(len(seen)), err
}
