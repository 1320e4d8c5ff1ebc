package httpapi_test

import (
	"encoding/json"
	"flag"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

var update = flag.Bool("update", false, "write api/openapi.yaml anew")

const specFile = "../../../api/openapi.yaml"

// The committed description is what the code generates. After an intended change:
// go test ./internal/ui/httpapi -run TestSpec -update
func TestSpecIsCurrent(t *testing.T) {
	t.Parallel()
	made, err := httpapi.Spec()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(specFile, made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(specFile)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(kept), string(made)); d != "" {
		t.Errorf("api/openapi.yaml is old; look at the difference, then run with -update (-kept +made):\n%s", d)
	}
}

// demands are what a request must contain. A new line here breaks existing clients: give new
// fields a meaning for when they are absent.
var demands = []string{
	"DELETE /v1/workspaces/{ws}/file path",
	"DELETE /v1/workspaces/{ws}/holds name",
	"GET /v1/estimate dir",
	"GET /v1/locate dir",
	"GET /v1/view/cadence cron",
	"POST /v1/attach body",
	"POST /v1/attach body.recovery_key",
	"POST /v1/attach body.url",
	"POST /v1/deletions body",
	"POST /v1/deletions body.refs",
	"POST /v1/deletions body.workspace",
	"POST /v1/import body",
	"POST /v1/keys body",
	"POST /v1/keys body.kind",
	"POST /v1/namespaces body",
	"POST /v1/namespaces body.id",
	"POST /v1/namespaces/{namespace}/keys body",
	"POST /v1/namespaces/{namespace}/keys body.kind",
	"POST /v1/remotes body",
	"POST /v1/remotes body.url",
	"POST /v1/remotes/check body",
	"POST /v1/remotes/check body.name",
	"POST /v1/remotes/sync body",
	"POST /v1/schedules body",
	"POST /v1/schedules body.cron",
	"POST /v1/schedules body.work",
	"POST /v1/signals body",
	"POST /v1/signals body.agent",
	"POST /v1/signals body.dir",
	"POST /v1/signals body.id",
	"POST /v1/signals body.kind",
	"POST /v1/signals body.session",
	"POST /v1/signals body.time",
	"POST /v1/webhooks body",
	"POST /v1/webhooks body.url",
	"POST /v1/workspaces body",
	"POST /v1/workspaces/{ws}/forget body",
	"POST /v1/workspaces/{ws}/forget body.refs",
	"POST /v1/workspaces/{ws}/forks body",
	"POST /v1/workspaces/{ws}/holds body",
	"POST /v1/workspaces/{ws}/holds body.name",
	"POST /v1/workspaces/{ws}/holds body.ref",
	"POST /v1/workspaces/{ws}/plans body",
	"POST /v1/workspaces/{ws}/plans body.course",
	"POST /v1/workspaces/{ws}/purge body",
	"POST /v1/workspaces/{ws}/purge/plan body",
	"POST /v1/workspaces/{ws}/restore body",
	"POST /v1/workspaces/{ws}/restores body",
	"POST /v1/workspaces/{ws}/restores body.course",
	"POST /v1/workspaces/{ws}/restores body.digest",
	"POST /v1/workspaces/{ws}/verifications body",
	"POST /v1/workspaces/{ws}/view/plan body",
	"POST /v1/workspaces/{ws}/view/plan body.course",
	"PUT /v1/namespace/limits body",
	"PUT /v1/namespaces/{namespace}/limits body",
	"PUT /v1/webhooks/{hook} body",
	"PUT /v1/webhooks/{hook} body.url",
	"PUT /v1/workspaces/{ws}/backup body",
	"PUT /v1/workspaces/{ws}/backup body.url",
	"PUT /v1/workspaces/{ws}/file body",
	"PUT /v1/workspaces/{ws}/file path",
	"PUT /v1/workspaces/{ws}/pins/{name} body",
	"PUT /v1/workspaces/{ws}/pins/{name} body.ref",
	"PUT /v1/workspaces/{ws}/tasks body",
	"PUT /v1/workspaces/{ws}/tasks body.tasks",
}

func TestRequestsDemandNoMore(t *testing.T) {
	t.Parallel()
	spec := servedSpec(t)
	var got []string
	for path, methods := range spec.Paths {
		for method, o := range methods {
			got = append(got, spec.demands(strings.ToUpper(method)+" "+path, o)...)
		}
	}
	slices.Sort(got)
	if d := cmp.Diff(demands, got); d != "" {
		t.Errorf("-kept +made:\n%s", d)
	}
	for name, s := range spec.Components.Schemas {
		if !s.AdditionalProperties && !strings.HasSuffix(name, "Body") {
			t.Errorf("%s is closed: unknown fields of responses are to be ignored", name)
		}
	}
}

type description struct {
	Info struct {
		Description string
		License     struct{ Name string }
		Contact     struct{ URL string }
	}
	Servers    []struct{ URL, Description string }
	Tags       []struct{ Name, Description string }
	Paths      map[string]map[string]operation
	Components struct {
		Schemas   map[string]schema
		Responses map[string]response
	}
}

type operation struct {
	OperationID, Summary, Description string
	Tags                              []string
	Power                             string `json:"x-power"`
	Parameters                        []parameter
	RequestBody                       *struct {
		Required bool
		Content  map[string]content
	}
	Responses map[string]response
}

type parameter struct {
	Name, In, Description string
	Required              bool
}

type response struct {
	Ref         string `json:"$ref"`
	Description string
	Headers     map[string]struct{ Description string }
	Content     map[string]content
}

type content struct {
	Schema struct {
		Ref string `json:"$ref"`
	}
	Example  any
	Examples map[string]any
}

type schema struct {
	Description          string
	Properties           map[string]struct{ Description string }
	Required             []string
	AdditionalProperties bool
}

func servedSpec(t *testing.T) (spec description) {
	t.Helper()
	w := httptest.NewRecorder()
	httpapi.New(&fakeService{}, httpapi.Options{}).ServeHTTP(w, httptest.NewRequest("GET", "/v1/openapi.json", nil))
	if err := json.Unmarshal(w.Body.Bytes(), &spec); err != nil {
		t.Fatal(err)
	}
	return spec
}

// The texts are in describe/*.txt, in the doc tags of the bodies, and in the calls of newOperation.
func TestSpecDescribesEverySchema(t *testing.T) {
	t.Parallel()
	spec := servedSpec(t)
	if spec.Info.Description == "" || spec.Info.License.Name == "" || spec.Info.Contact.URL == "" || len(spec.Servers) == 0 || len(spec.Components.Schemas) < 100 {
		t.Errorf("info %+v, servers %v, %d schemas", spec.Info, spec.Servers, len(spec.Components.Schemas))
	}
	for name, s := range spec.Components.Schemas {
		checkSentence(t, name, s.Description)
		for field, p := range s.Properties {
			checkSentence(t, name+"."+field, p.Description)
		}
	}
}

func TestSpecDescribesEveryOperation(t *testing.T) {
	t.Parallel()
	spec, tags := servedSpec(t), map[string]int{}
	for _, tag := range spec.Tags {
		checkSentence(t, "tag "+tag.Name, tag.Description)
		tags[tag.Name] = 0
	}
	for name, r := range spec.Components.Responses {
		r.check(t, name)
		if r.Ref != "" || len(r.Content) == 0 {
			t.Errorf("%s has no body", name)
		}
	}
	for _, methods := range spec.Paths {
		for method, o := range methods {
			if len(o.Tags) != 1 {
				t.Errorf("%s: one tag, not %q", o.OperationID, o.Tags)
				continue
			}
			if _, ok := tags[o.Tags[0]]; !ok {
				t.Errorf("%s: the tag %s is not in describe/tags.txt", o.OperationID, o.Tags[0])
			}
			tags[o.Tags[0]]++
			o.check(t, method)
		}
	}
	for name, n := range tags {
		if n == 0 {
			t.Errorf("no operation has the tag %s", name)
		}
	}
}

func (o *operation) check(t *testing.T, method string) {
	t.Helper()
	if o.Summary == "" || len(o.Summary) >= 60 || strings.HasSuffix(o.Summary, ".") {
		t.Errorf("%s: a summary has less than 60 characters and no full stop: %q", o.OperationID, o.Summary)
	}
	checkSentence(t, o.OperationID, o.Description)
	for _, p := range o.Parameters {
		checkSentence(t, o.OperationID+" "+p.Name, p.Description)
	}
	if o.RequestBody != nil {
		checkExamples(t, o.OperationID, o.RequestBody.Content)
	}
	for status, r := range o.Responses {
		if r.Ref == "" {
			r.check(t, o.OperationID+" "+status)
		}
	}
	o.checkErrors(t, method)
}

func (r response) check(t *testing.T, of string) {
	t.Helper()
	if r.Description == "" {
		t.Errorf("%s has no description", of)
	}
	for name, h := range r.Headers {
		checkSentence(t, of+" "+name, h.Description)
	}
	checkExamples(t, of, r.Content)
}

func checkExamples(t *testing.T, of string, content map[string]content) {
	t.Helper()
	for kind, c := range content {
		if c.Example == nil && len(c.Examples) == 0 {
			t.Errorf("%s: %s %s has no example; see examples.go", of, kind, c.Schema.Ref)
		}
	}
}

// checkErrors checks that an operation lists the errors that follow from what it takes.
func (o *operation) checkErrors(t *testing.T, method string) {
	t.Helper()
	want := map[string]bool{"401": true, "403": o.Power != "none", "422": o.RequestBody != nil || len(o.Parameters) > 0}
	if o.RequestBody != nil && method == "put" && o.OperationID != "pin" && o.OperationID != "write-file" && !slices.ContainsFunc(o.Parameters, func(p parameter) bool { return p.Name == "If-Match" }) {
		t.Errorf("%s: what others may change meanwhile is replaced without If-Match; see etag.go", o.OperationID)
	}
	for _, p := range o.Parameters {
		want["404"] = want["404"] || p.In == "path"
		want["412"] = want["412"] || p.Name == "If-Match"
		want["416"] = want["416"] || p.Name == "Range"
	}
	for status, needed := range want {
		if _, listed := o.Responses[status]; needed && !listed {
			t.Errorf("%s: %s is not listed; see errors.go", o.OperationID, status)
		}
	}
}

// A description is whole sentences, or at least a noun with a full stop.
func checkSentence(t *testing.T, of, text string) {
	t.Helper()
	if len(text) < 8 || !strings.HasSuffix(text, ".") {
		t.Errorf("%s: describe it in a sentence, not %q", of, text)
	}
}

func (d description) demands(at string, o operation) (out []string) {
	for _, p := range o.Parameters {
		if p.Required && p.In != "path" {
			out = append(out, at+" "+p.Name)
		}
	}
	if o.RequestBody == nil {
		return out
	}
	if o.RequestBody.Required {
		out = append(out, at+" body")
	}
	for _, c := range o.RequestBody.Content {
		for _, f := range d.Components.Schemas[strings.TrimPrefix(c.Schema.Ref, "#/components/schemas/")].Required {
			out = append(out, at+" body."+f)
		}
	}
	return out
}

const page = "../../../docs/API.md"

var (
	pathLine   = regexp.MustCompile(`^  (/v1\S*):$`)
	methodLine = regexp.MustCompile(`^    (get|post|put|delete):$`)
	routeRow   = regexp.MustCompile("^\\| `(GET|POST|PUT|DELETE) (/v1[^`?]*)")
	kindRow    = regexp.MustCompile("^\\| <a id=\"[a-z_]+\"></a>`([a-z_]+)` \\| ([0-9]+) ")
)

// The page lists every route of the description once.
func TestPageListsEveryRoute(t *testing.T) {
	t.Parallel()
	var described, listed []string
	path := ""
	for line := range lines(t, specFile) {
		if m := pathLine.FindStringSubmatch(line); m != nil {
			path = m[1]
		} else if m := methodLine.FindStringSubmatch(line); m != nil {
			described = append(described, strings.ToUpper(m[1])+" "+path)
		}
	}
	for line := range lines(t, page) {
		if m := routeRow.FindStringSubmatch(line); m != nil {
			listed = append(listed, m[1]+" "+m[2])
		}
	}
	slices.Sort(described)
	slices.Sort(listed)
	if d := cmp.Diff(described, listed); d != "" || len(listed) == 0 {
		t.Errorf("docs/API.md lists other routes (-described +listed):\n%s", d)
	}
}

// The page explains every error kind, with its status, at the URL that a problem has.
func TestPageExplainsEveryKind(t *testing.T) {
	t.Parallel()
	explained := map[string]string{}
	for line := range lines(t, page) {
		if m := kindRow.FindStringSubmatch(line); m != nil {
			explained[m[1]] = m[2]
		}
	}
	sent := map[string]string{}
	for _, k := range errorKinds {
		w := httptest.NewRecorder()
		httpapi.RefuseAll(&retake.Error{Kind: k}).ServeHTTP(w, httptest.NewRequest("GET", "/v1/about", nil))
		var p struct {
			Type   string
			Status json.Number
		}
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		_, anchor, _ := strings.Cut(p.Type, "docs/API.md#")
		sent[anchor] = p.Status.String()
	}
	for code, status := range sent {
		if explained[code] != status {
			t.Errorf("docs/API.md explains %s with the status %q instead of %s", code, explained[code], status)
		}
	}
}

func lines(t *testing.T, file string) func(func(string) bool) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitSeq(string(text), "\n")
}

// A daemon is started on first use, so its start must not be slowed down by creating the handler.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		httpapi.New(&fakeService{}, httpapi.Options{})
	}
}
