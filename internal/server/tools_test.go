package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
)

// called is what a tool answers, as far as these tests look.
type called struct {
	Result struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result"`
}

// find is what a pattern marks in the answer.
func (c called) find(pattern string) string {
	if m := regexp.MustCompile(pattern).FindStringSubmatch(c.text()); m != nil {
		return m[1]
	}
	return ""
}

const (
	planDigest = `apply it with digest ([0-9a-f-]+)`
	forkName   = `its workspace is "([^"]*)"`
	forkID     = `, id (\S+)`
)

func (c called) text() string {
	if len(c.Result.Content) == 0 {
		return ""
	}
	return c.Result.Content[0].Text
}

var toolHeaders = headers{"Accept": "application/json, text/event-stream"}

// tool calls one as an agent does.
func (b *bed) tool(at, secret, name, arguments string) called {
	b.t.Helper()
	res, text := b.ask(http.MethodPost, at, secret, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, arguments), toolHeaders)
	if res.StatusCode != http.StatusOK {
		b.t.Fatalf("%s %s: %d %s", at, name, res.StatusCode, text)
	}
	var out called
	must(b.t, json.Unmarshal([]byte(text), &out))
	return out
}

// An agent that has a key has the tools of the workspace that its address names, and can do
// with them what the key can.
func TestToolsOfAServer(t *testing.T) {
	t.Parallel()
	b := newBed(t, "", nil)
	ws, agent := b.begun.Namespace.Default, b.secret(retake.KeyAgent)
	b.file("a.txt", "one\n")
	if c := b.tool("/mcp", agent, "checkpoint", `{"intent":"by a tool"}`); c.Result.IsError || c.find(`^(\d+) is recorded`) != "2" {
		t.Fatalf("%+v", c)
	}
	for _, at := range []string{"/mcp", "/mcp/", "/mcp/default", "/mcp/" + string(ws)} {
		if c := b.tool(at, b.secret(retake.KeyReader), "timeline", `{}`); c.find(`of (\d+) checkpoints`) != "2" || !strings.Contains(c.text(), "by a tool") {
			t.Errorf("%s: %+v", at, c)
		}
	}
	if c := b.tool("/mcp/nobody", agent, "timeline", `{}`); !c.Result.IsError || !strings.Contains(c.text(), `"kind":"not-found"`) {
		t.Errorf("%+v", c)
	}
	b.file("a.txt", "two\n")
	b.tool("/mcp", agent, "checkpoint", `{"intent":"edited"}`)
	plan := b.tool("/mcp", agent, "restore", `{"ref":"2"}`)
	digest := plan.find(planDigest)
	if digest == "" {
		t.Fatalf("%+v", plan)
	}
	if c := b.tool("/mcp", agent, "restore", `{"ref":"2","digest":"`+digest+`"}`); c.Result.IsError {
		t.Errorf("%+v", c)
	}
	if c := b.tool("/mcp", agent, "show_file", `{"ref":"latest","path":"a.txt"}`); !strings.Contains(c.text(), "one") {
		t.Errorf("%+v", c)
	}
	for _, want := range []string{"default-fork", "default-fork-2"} {
		if c := b.tool("/mcp", agent, "fork", `{"ref":"3"}`); c.Result.IsError || c.find(forkName) != want {
			t.Errorf("%+v", c)
		}
	}
}

// A key that may only look changes nothing by a tool, one for other workspaces sees nothing,
// and without a good key there is not even a list of tools.
func TestToolsNeedAKey(t *testing.T) {
	t.Parallel()
	b := newBed(t, "", nil)
	if c := b.tool("/mcp", b.secret(retake.KeyReader), "checkpoint", `{"intent":"not allowed"}`); !c.Result.IsError || !strings.Contains(c.text(), `"kind":"denied"`) {
		t.Errorf("%+v", c)
	}
	fork := b.tool("/mcp", b.secret(retake.KeyAgent), "fork", `{"ref":"1"}`)
	k, err := b.as(retake.KeyAdmin).MakeKey(t.Context(), retake.KeyRequest{Kind: retake.KeyAgent, Name: "other", Workspaces: []string{fork.find(forkID)}})
	must(t, err)
	for _, at := range []string{"/mcp", "/mcp/default", "/mcp/" + string(b.begun.Namespace.Default)} {
		if c := b.tool(at, k.Secret, "timeline", `{}`); !c.Result.IsError || strings.Contains(c.text(), "moments") {
			t.Errorf("%s: %+v", at, c)
		}
	}
	if c := b.tool("/mcp/"+fork.find(forkID), k.Secret, "timeline", `{}`); c.Result.IsError {
		t.Errorf("its own: %+v", c)
	}
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for name, secret := range map[string]string{"none": "", "nonsense": "rtk_nonsense", "changed": b.secret(retake.KeyAgent) + "x"} {
		if res, text := b.ask(http.MethodPost, "/mcp", secret, list, toolHeaders); res.StatusCode != http.StatusUnauthorized || strings.Contains(text, "timeline") {
			t.Errorf("%s: %d %s", name, res.StatusCode, text)
		}
	}
	if res, text := b.ask(http.MethodPost, "/mcp", b.secret(retake.KeyAgent), list, headers{"Accept": toolHeaders["Accept"], "Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}); res.StatusCode != http.StatusForbidden {
		t.Errorf("a page of another place: %d %s", res.StatusCode, text)
	}
	if tl, err := b.as(retake.KeyReader).Log(t.Context(), retake.LogQuery{Workspace: b.begun.Namespace.Default}); err != nil || tl.Total != 1 {
		t.Errorf("%d checkpoints, %v", tl.Total, err)
	}
}
