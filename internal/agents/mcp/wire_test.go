package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-dev/retake/internal/agents/mcp"
)

// Clients of every protocol are understood.
func TestOlderClients(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, version := range sdk.SupportedProtocolVersions() {
		c := d.connect(d.s, mcp.Options{Dir: d.root(), Version: "1.2.3"}, version)
		if got := c.InitializeResult(); got.ProtocolVersion != version || got.ServerInfo.Version != "1.2.3" || !strings.Contains(got.Instructions, mcp.DataNotice) {
			t.Errorf("%s: %+v", version, got)
		}
		if a := askOver(t, c, "show_file", args{"ref": "1", "path": "a.txt"}); a.failed || !strings.HasSuffix(a.text, "| one\n| two") {
			t.Errorf("%s: %s", version, a.text)
		}
		if p := troubleOf(t, askOver(t, c, "diff", args{"from": "9"})); p.Kind != "not-found" {
			t.Errorf("%s: %+v", version, p)
		}
	}
}

// Two clients share nothing but the workspace: a plan of one is applied by the other,
// and none of them has a session.
func TestHandlerKeepsNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sessions := 0
	h := mcp.Handler(d.s, mcp.Options{Dir: d.root(), Clock: d.clock, Data: true})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		if w.Header().Get("Mcp-Session-Id") != "" {
			sessions++
		}
	}))
	t.Cleanup(srv.Close)
	dial := func(version string) *sdk.ClientSession {
		c, err := newClient().Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: srv.URL, DisableStandaloneSSE: true}, &sdk.ClientSessionOptions{ProtocolVersion: version})
		must(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	one, other := dial(""), dial("2025-06-18")
	d.write("a.txt", "edited\n")
	if a := askOver(t, one, "checkpoint", args{"intent": "by one"}); a.failed {
		t.Fatal(a.text)
	}
	plan := askOver(t, one, "restore", args{"ref": "1"})
	must(t, one.Close())
	res := askOver(t, other, "restore", args{"ref": "1", "digest": at[string](t, plan.data, "plan", "digest")})
	if res.failed || d.read("a.txt") != "one\ntwo\n" || sessions != 0 {
		t.Errorf("%d sessions: %s", sessions, res.text)
	}
}

// A page of another place, another host or a body without end gets nowhere.
func TestHandlerRefusesStrangers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	srv := httptest.NewServer(mcp.Handler(d.s, mcp.Options{Dir: d.root(), Clock: d.clock}))
	t.Cleanup(srv.Close)
	const ask = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"checkpoint","arguments":{"intent":"from a page"}}}`
	for name, x := range map[string]struct {
		head map[string]string
		host string
		body string
		want int
	}{
		"known":   {nil, "", ask, http.StatusOK},
		"page":    {map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}, "", ask, http.StatusForbidden},
		"host":    {nil, "evil.example", ask, http.StatusForbidden},
		"endless": {nil, "", ask + strings.Repeat(" ", 2<<20), http.StatusRequestEntityTooLarge},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL, strings.NewReader(x.body))
		must(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for k, v := range x.head {
			r.Header.Set(k, v)
		}
		r.Host = x.host
		res, err := http.DefaultClient.Do(r)
		must(t, err)
		body, err := io.ReadAll(res.Body)
		must(t, errors.Join(err, res.Body.Close()))
		if res.StatusCode != x.want {
			t.Errorf("%s: %d %s", name, res.StatusCode, body)
		}
	}
	if tl := d.good("timeline", args{}); at[float64](t, tl, "total") != 2 {
		t.Errorf("a stranger was heard: %v", tl)
	}
}

// The end of the input is a good end, the end of the context is told, and a message
// that is too long does not fill the memory.
func TestServeEnds(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	o := mcp.Options{Dir: d.root(), Clock: d.clock}
	if err := mcp.Serve(t.Context(), d.s, io.NopCloser(strings.NewReader("")), quiet{}, o); err != nil {
		t.Errorf("the end of the input: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	in, out := io.Pipe()
	defer out.Close()
	ended := make(chan error, 1)
	go func() { ended <- mcp.Serve(ctx, d.s, in, quiet{}, o) }()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the end of the context: %v", err)
	}
	if err := mcp.Serve(t.Context(), d.s, io.NopCloser(io.MultiReader(strings.NewReader(`"`), endless{})), quiet{}, o); err == nil {
		t.Error("a message without end was read")
	}
}

type quiet struct{}

func (quiet) Write(p []byte) (int, error) { return len(p), nil }
func (quiet) Close() error                { return nil }

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// Whatever comes in, an answer comes out: bounded, and of one of two forms.
func FuzzInput(f *testing.F) {
	for _, tool := range tools {
		f.Add(tool, `{}`)
	}
	for _, seed := range [][2]string{
		{"checkpoint", `{"intent":"x","pin":"\u0000"}`}, {"timeline", `{"limit":1e99}`}, {"timeline", `{"before":9223372036854775807,"limit":1}`},
		{"diff", `{"from":"latest~999999999999999999999","paths":["a/../..","\u0000","**"]}`}, {"diff", `{"to":"now","paths":["a.txt"]}`},
		{"show_file", `{"ref":"now","path":"a.txt","offset":9223372036854775807}`}, {"show_file", `{"ref":"1","path":"//"}`},
		{"restore", `{"ref":"1","digest":"0000-0000","accept":["changed"]}`}, {"restore", `{"course":"undo","paths":["["]}`},
		{"tasks", `{"tasks":[]}`}, {"tasks", `{"tasks":null}`}, {"resume", `{"ref":"0"}`}, {"pin", `{"ref":"1","name":"-"}`}, {"pin", `[]`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, tool, in string) {
		if tool == "fork" || !json.Valid([]byte(in)) { // a fork may go anywhere on the machine
			t.Skip()
		}
		d := newDesk(t)
		res, err := d.client.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(in)})
		if err != nil {
			return // no such tool, or no object
		}
		whole, err := json.Marshal(res)
		must(t, err)
		if len(whole) > 100<<10 || len(res.Content) != 1 || res.IsError == (res.StructuredContent != nil) {
			t.Errorf("%s %s: %s", tool, in, whole)
		}
	})
}

// Some clients say null where there are no arguments.
func TestNullIsNoArguments(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	res, err := d.client.CallTool(t.Context(), &sdk.CallToolParams{Name: "timeline", Arguments: json.RawMessage("null")})
	if err != nil || res.IsError {
		t.Errorf("timeline with null: %+v, %v", res, err)
	}
}
