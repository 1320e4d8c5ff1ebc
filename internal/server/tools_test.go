package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
)

// toolResult is the part of a tool's result that these tests read.
type toolResult struct {
	Result struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result"`
}

// findMatch returns the first group of a pattern in the result.
func (c toolResult) findMatch(pattern string) string {
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

func (c toolResult) text() string {
	if len(c.Result.Content) == 0 {
		return ""
	}
	return c.Result.Content[0].Text
}

var toolHeaders = headers{"Accept": "application/json, text/event-stream"}

// callTool calls a tool as an agent does.
func (b *testServer) callTool(at, secret, name, arguments string) toolResult {
	b.t.Helper()
	res, text := b.sendRequest(http.MethodPost, at, secret, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, arguments), toolHeaders)
	if res.StatusCode != http.StatusOK {
		b.t.Fatalf("%s %s: %d %s", at, name, res.StatusCode, text)
	}
	var out toolResult
	must(b.t, json.Unmarshal([]byte(text), &out))
	return out
}

// An agent with a key has the tools of the workspace in its URL, with the permissions of the key.
func TestToolsOfAServer(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	ws, agent := b.initial.Namespace.Default, b.keySecret(retake.KeyAgent)
	b.writeFile("a.txt", "one\n")
	if c := b.callTool("/mcp", agent, "checkpoint", `{"intent":"by a tool"}`); c.Result.IsError || c.findMatch(`^(\d+) is recorded`) != "2" {
		t.Fatalf("%+v", c)
	}
	for _, at := range []string{"/mcp", "/mcp/", "/mcp/default", "/mcp/" + string(ws)} {
		if c := b.callTool(at, b.keySecret(retake.KeyReader), "timeline", `{}`); c.findMatch(`of (\d+) checkpoints`) != "2" || !strings.Contains(c.text(), "by a tool") {
			t.Errorf("%s: %+v", at, c)
		}
	}
	if c := b.callTool("/mcp/nobody", agent, "timeline", `{}`); !c.Result.IsError || !strings.Contains(c.text(), `"kind":"not-found"`) {
		t.Errorf("%+v", c)
	}
	b.writeFile("a.txt", "two\n")
	b.callTool("/mcp", agent, "checkpoint", `{"intent":"edited"}`)
	plan := b.callTool("/mcp", agent, "restore", `{"ref":"2"}`)
	digest := plan.findMatch(planDigest)
	if digest == "" {
		t.Fatalf("%+v", plan)
	}
	if c := b.callTool("/mcp", agent, "restore", `{"ref":"2","digest":"`+digest+`"}`); c.Result.IsError {
		t.Errorf("%+v", c)
	}
	if c := b.callTool("/mcp", agent, "show_file", `{"ref":"latest","path":"a.txt"}`); !strings.Contains(c.text(), "one") {
		t.Errorf("%+v", c)
	}
	for _, want := range []string{"default-fork", "default-fork-2"} {
		if c := b.callTool("/mcp", agent, "fork", `{"ref":"3"}`); c.Result.IsError || c.findMatch(forkName) != want {
			t.Errorf("%+v", c)
		}
	}
	all, err := b.clientAs(retake.KeyAdmin).Audit(t.Context(), retake.AuditQuery{Limit: 100})
	must(t, err)
	tooled := slices.IndexFunc(all, func(e retake.AuditEntry) bool { return e.Actor.Kind == retake.KeyAgent && e.Address == "127.0.0.1" })
	if tooled < 0 { // the agent did all by tools
		t.Errorf("nothing has an address: %+v", all)
	}
}

// A read-only key changes nothing through a tool, a key for other workspaces sees nothing, and
// without a valid key there is not even a list of tools.
func TestToolsNeedAKey(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	if c := b.callTool("/mcp", b.keySecret(retake.KeyReader), "checkpoint", `{"intent":"not allowed"}`); !c.Result.IsError || !strings.Contains(c.text(), `"kind":"denied"`) {
		t.Errorf("%+v", c)
	}
	fork := b.callTool("/mcp", b.keySecret(retake.KeyAgent), "fork", `{"ref":"1"}`)
	k, err := b.clientAs(retake.KeyAdmin).MakeKey(t.Context(), retake.KeyRequest{Kind: retake.KeyAgent, Name: "other", Workspaces: []string{fork.findMatch(forkID)}})
	must(t, err)
	for _, at := range []string{"/mcp", "/mcp/default", "/mcp/" + string(b.initial.Namespace.Default)} {
		if c := b.callTool(at, k.Secret, "timeline", `{}`); !c.Result.IsError || strings.Contains(c.text(), "moments") {
			t.Errorf("%s: %+v", at, c)
		}
	}
	if c := b.callTool("/mcp/"+fork.findMatch(forkID), k.Secret, "timeline", `{}`); c.Result.IsError {
		t.Errorf("its own: %+v", c)
	}
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for name, secret := range map[string]string{"none": "", "nonsense": "rtk_nonsense", "changed": b.keySecret(retake.KeyAgent) + "x"} {
		if res, text := b.sendRequest(http.MethodPost, "/mcp", secret, list, toolHeaders); res.StatusCode != http.StatusUnauthorized || strings.Contains(text, "timeline") {
			t.Errorf("%s: %d %s", name, res.StatusCode, text)
		}
	}
	if res, text := b.sendRequest(http.MethodPost, "/mcp", b.keySecret(retake.KeyAgent), list, headers{"Accept": toolHeaders["Accept"], "Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}); res.StatusCode != http.StatusForbidden {
		t.Errorf("a page of another place: %d %s", res.StatusCode, text)
	}
	if tl, err := b.clientAs(retake.KeyReader).Log(t.Context(), retake.LogQuery{Workspace: b.initial.Namespace.Default}); err != nil || tl.Total != 1 {
		t.Errorf("%d checkpoints, %v", tl.Total, err)
	}
}
