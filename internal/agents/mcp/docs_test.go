package mcp_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/mcp"
)

var update = flag.Bool("update", false, "write the table and the example of docs/use/mcp.md anew")

const docPage = "../../../docs/use/mcp.md"

var tools = []string{"checkpoint", "diff", "fork", "pin", "restore", "resume", "show_file", "tasks", "timeline"}

// What clients are told of each tool: which only look, which may take something away,
// and which may be asked twice. No tool removes history, so none is called so.
func TestHints(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	got := map[string]string{}
	for _, tool := range d.told() {
		a := tool.Annotations
		got[tool.Name] = fmt.Sprintf("readOnly=%v destructive=%v idempotent=%v openWorld=%v", a.ReadOnlyHint, destroys(a), a.IdempotentHint || a.ReadOnlyHint, *a.OpenWorldHint)
		if !strings.HasSuffix(tool.Description, mcp.DataNotice) {
			t.Errorf("%s: %+v", tool.Name, tool)
		}
	}
	const looks, adds, again = "readOnly=true destructive=false idempotent=true openWorld=false", "readOnly=false destructive=false idempotent=false openWorld=false", "readOnly=false destructive=false idempotent=true openWorld=false"
	want := map[string]string{
		"timeline": looks, "diff": looks, "show_file": looks, "resume": looks, "checkpoint": adds, "fork": adds, "pin": again, "tasks": again,
		"restore": "readOnly=false destructive=true idempotent=true openWorld=false",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("hints (-want +got):\n%s", d)
	}
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, tools) {
		t.Errorf("tools: %v", names)
	}
}

// destroys is what a client assumes: a tool that only looks takes nothing away.
func destroys(a *sdk.ToolAnnotations) bool {
	return !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint)
}

// mostTokens is what the list of tools may cost an agent at each of its requests. A token
// of such JSON is about four bytes.
const mostTokens = 1500

func TestA4_ToolListIsSmall(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	list, err := json.Marshal(map[string]any{"tools": d.told()})
	must(t, err)
	if tokens := len(list) / 4; tokens > mostTokens {
		t.Errorf("the list of tools is about %d tokens, %d bytes", tokens, len(list))
	}
	for _, tool := range d.told() {
		if tool.OutputSchema != nil {
			t.Errorf("%s has an output schema, and answers text", tool.Name)
		}
	}
	t.Logf("the list of tools: %d bytes", len(list))
}

// An answer has one form: the same thing in two forms is read twice.
func TestA4_AnswersAreTextAlone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	srv := httptest.NewServer(mcp.Handler(d.s, mcp.Options{Dir: d.root(), Clock: d.clock}))
	t.Cleanup(srv.Close)
	c, err := newClient().Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: srv.URL, DisableStandaloneSSE: true}, nil)
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	d.write("a.txt", "edited\n")
	for tool, in := range map[string]args{"timeline": {}, "diff": {}, "show_file": {"ref": "1", "path": "a.txt"}, "restore": {"ref": "1"}, "tasks": {}} {
		if a := askOver(t, c, tool, in); a.failed || a.data != nil || a.text == "" {
			t.Errorf("%s: %q and %v", tool, a.text, a.data)
		}
	}
}

func (d *desk) told() []*sdk.Tool {
	d.Helper()
	res, err := d.client.ListTools(d.Context(), nil)
	must(d.T, err)
	return res.Tools
}

// The page tells what the code does.
func TestPage(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	src, err := os.ReadFile(docPage)
	must(t, err)
	made := between(t, string(src), "tools", table(t, d.told()))
	made = between(t, made, "example", "```\n"+d.transcript()+"```\n")
	if *update {
		must(t, os.WriteFile(docPage, []byte(made), 0o644))
		return
	}
	if d := cmp.Diff(string(src), made); d != "" {
		t.Errorf("docs/use/mcp.md is old; look at the difference, then run with -update (-kept +made):\n%s", d)
	}
	for _, class := range retake.ObstacleClasses {
		if who := "agent"; strings.Contains(mcp.Personal(), class) {
			who = "person"
			if !strings.Contains(string(src), "`"+class+"` | "+who) {
				t.Errorf("the page does not say that a %s decides about %s", who, class)
			}
		} else if !strings.Contains(string(src), "`"+class+"` | "+who) {
			t.Errorf("the page does not say that an %s may accept %s", who, class)
		}
	}
}

// between puts text between two marks of a page.
func between(t *testing.T, src, name, text string) string {
	t.Helper()
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
	head, rest, ok := strings.Cut(src, begin)
	_, tail, also := strings.Cut(rest, end)
	if !ok || !also {
		t.Fatalf("the page has no place for %s", name)
	}
	return head + begin + text + end + tail
}

func table(t *testing.T, all []*sdk.Tool) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| tool | takes | read-only | destructive | idempotent | does |\n|---|---|---|---|---|---|\n")
	yes := map[bool]string{true: "yes", false: "no"}
	for _, tool := range all {
		s := tool.InputSchema.(map[string]any)
		required, _ := s["required"].([]any)
		var takes []string
		for _, name := range slices.Sorted(maps.Keys(at[map[string]any](t, s, "properties"))) {
			if !slices.Contains(required, any(name)) {
				name += "?"
			}
			takes = append(takes, name)
		}
		a := tool.Annotations
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", tool.Name, strings.Join(takes, ", "), yes[a.ReadOnlyHint], yes[destroys(a)], yes[a.IdempotentHint || a.ReadOnlyHint],
			strings.TrimSuffix(tool.Description, " "+mcp.DataNotice))
	}
	return b.String()
}

var (
	digests = regexp.MustCompile(`[0-9a-f]{64}`)
	shorts  = regexp.MustCompile(`plan [0-9a-f]{4}-[0-9a-f]{4}`)
)

// transcript is a short session as it happens.
func (d *desk) transcript() string {
	d.Helper()
	var b strings.Builder
	say := func(tool string, in args) toolAnswer {
		d.Helper()
		a := d.ask(tool, in)
		text, err := json.Marshal(in)
		must(d.T, err)
		fmt.Fprintf(&b, "> %s %s\n%s\n\n", tool, text, a.text)
		return a
	}
	say("checkpoint", args{"intent": "before the new parser"})
	d.write("a.txt", "one\n2\n")
	d.write("src/parser.txt", "p\n")
	say("diff", args{})
	say("diff", args{"paths": []string{"a.txt"}})
	say("checkpoint", args{"intent": "new parser, tests fail", "pin": "parser"})
	say("timeline", args{"limit": 2})
	plan := say("restore", args{"ref": "2"})
	say("restore", args{"ref": "2", "digest": at[string](d.T, plan.data, "plan", "digest")})
	say("restore", args{"ref": "3", "digest": "00000000", "accept": []string{"mass-delete"}})
	out := digests.ReplaceAllString(b.String(), "4f1d…")
	return strings.TrimSuffix(shorts.ReplaceAllString(out, "plan 4f1d-22c7"), "\n")
}
