//go:build linux

package matrix

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// hole is a gateway with a fault in front of the server. The judge must see it.
type hole struct {
	name string
	ops  []string // that are asked through it
	want string   // what the judge says
	swap func(b *Bed, r *http.Request, sent string)
	spy  func(b *Bed, r *http.Response) error
}

// holes are the faults that a server could have.
var holes = []hole{
	{name: "a reader gets the rights of an operator on one route", ops: []string{"save"}, want: "a forbidden success", swap: func(b *Bed, r *http.Request, _ string) {
		b.become(r, func(c *caller) bool { return c.role == retake.KeyReader && !c.dead && !c.limited }, b.own.Keys[retake.KeyOperator])
	}},
	{name: "a revoked key opens", ops: []string{"list-keys"}, want: "a forbidden success", swap: func(b *Bed, r *http.Request, _ string) {
		b.become(r, func(c *caller) bool { return c.role == retake.KeyAdmin && c.dead && ending(c) == "revoked" }, b.own.Keys[retake.KeyAdmin])
	}},
	{name: "no key is as good as one", ops: []string{"list-workspaces"}, want: "a forbidden success", swap: func(b *Bed, r *http.Request, _ string) {
		if r.Header.Get("Authorization") == "" {
			r.Header.Set("Authorization", "Bearer "+b.own.Keys[retake.KeyReader])
		}
	}},
	{name: "a key of one workspace is good for all", ops: []string{"log"}, want: "a success with what is not the caller's", swap: func(b *Bed, r *http.Request, _ string) {
		b.become(r, func(c *caller) bool { return c.limited }, b.own.Keys[retake.KeyReader])
	}},
	{name: "an id of another namespace opens it", ops: []string{"status", "snapshot", "set-tasks"}, want: "a success with what is not the caller's", swap: func(b *Bed, r *http.Request, sent string) {
		if strings.Contains(sent, b.theirs["ws"]) || strings.Contains(sent, b.theirs["cp"]) {
			b.become(r, func(c *caller) bool { return !c.dead }, b.other.Keys[retake.KeyOperator])
		}
	}},
	{name: "a field of the body opens another namespace", ops: []string{"make-snapshot"}, want: "a success with what is not the caller's", swap: func(b *Bed, r *http.Request, sent string) {
		if strings.Contains(sent, b.theirs["ws"]) {
			b.become(r, func(c *caller) bool { return !c.dead }, b.other.Keys[retake.KeyAgent])
		}
	}},
	{name: "a list has a row of another namespace", ops: []string{"list-snapshots"}, want: "it shows", spy: func(b *Bed, r *http.Response) error {
		return replace(r, `"data":[`, `"data":[{"snapshot_id":"`+b.theirs["cp"]+`"},`)
	}},
	{name: "a word of another namespace is in a refusal", ops: []string{"status"}, want: "it shows " + otherName, spy: func(_ *Bed, r *http.Response) error {
		return replace(r, `"code":"not_found"`, `"code":"not_found","cause":"it belongs to `+otherName+`"`)
	}},
	{name: "a refusal tells what exists", ops: []string{"status"}, want: "tells that it exists", spy: func(b *Bed, r *http.Response) error {
		if strings.Contains(r.Request.URL.Path, b.theirs["ws"]) {
			return replace(r, `"code":"not_found"`, `"code":"forbidden"`)
		}
		return nil
	}},
	{name: "an internal error", ops: []string{"status"}, want: "a fault of the server", spy: func(_ *Bed, r *http.Response) error {
		if r.StatusCode == http.StatusNotFound {
			r.StatusCode = http.StatusInternalServerError
		}
		return nil
	}},
	{name: "everything is refused", ops: []string{"status"}, want: "refused, and the table allows it", swap: func(b *Bed, r *http.Request, _ string) {
		r.Header.Set("Authorization", "Bearer nobody")
	}},
}

// become replaces the key of a request if it belongs to one of these callers.
func (b *Bed) become(r *http.Request, who func(*caller) bool, secret string) {
	sent := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if slices.ContainsFunc(b.callers, func(c caller) bool { return sent != "" && c.secret == sent && who(&c) }) {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
}

// replace changes the text of a response.
func replace(r *http.Response, old, text string) error {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	b = bytes.Replace(b, []byte(old), []byte(text), 1)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
	r.Header.Set("Content-Length", fmt.Sprint(len(b)))
	return nil
}

// serve starts the gateway with the hole.
func (h hole) serve(b *Bed) (*httptest.Server, error) {
	target, err := url.Parse(b.hall.URL)
	if err != nil {
		return nil, err
	}
	return httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(target)
			body, _ := io.ReadAll(p.In.Body) // what is lost is refused
			p.Out.Body = io.NopCloser(bytes.NewReader(body))
			if h.swap != nil {
				h.swap(b, p.Out, p.In.URL.String()+string(body))
			}
		},
		ModifyResponse: func(r *http.Response) error {
			if h.spy == nil {
				return nil
			}
			return h.spy(b, r)
		},
	}), nil
}

// Holes puts gateways with faults in front of the server, and answers for each how often the judge
// saw it. The last one is a change of the other namespace, which the others make.
func (b *Bed) Holes() (map[string]int, error) {
	before, err := b.protected()
	if err != nil {
		return nil, err
	}
	seen := map[string]int{}
	for _, h := range holes {
		caught, err := h.try(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", h.name, err)
		}
		seen[h.name] = len(caught)
	}
	after, err := b.protected()
	seen["the other namespace changes"] = len(before.unlike(after))
	return seen, err
}

// try asks through the hole and returns what the judge said that is right.
func (h hole) try(b *Bed) ([]string, error) {
	web, err := h.serve(b)
	if err != nil {
		return nil, err
	}
	defer web.Close()
	s := b.newSweep(web.URL, 1, false)
	s.only = func(op *operation) bool { return slices.Contains(h.ops, op.ID) }
	if err := s.run(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(s.Failures, func(f string) bool { return !strings.Contains(f, h.want) }), nil
}
