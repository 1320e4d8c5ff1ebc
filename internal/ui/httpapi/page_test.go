package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/token"
	"github.com/retake-dev/retake/internal/pure/wire"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

// listPage is one page of a list as JSON. Its elements are in data, or in a field named after them.
type listPage struct {
	Data []json.RawMessage
	Next string
}

func getPage(t *testing.T, h http.Handler, target string) (listPage, int) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", target, nil))
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(w.Body.Bytes(), &fields); err != nil {
		t.Fatalf("%s: %v in %s", target, err, w.Body)
	}
	var out listPage
	for _, name := range []string{"data", "workspaces", "forks", "entries", "standing", "effects", "hits", "mentions", "verifications", "checkpoints"} {
		if list, ok := fields[name]; ok {
			must(t, json.Unmarshal(list, &out.Data))
		}
	}
	if next, ok := fields["next_cursor"]; ok {
		must(t, json.Unmarshal(next, &out.Next))
	}
	return out, w.Code
}

// Every element is returned once, in the order of the office, even if earlier ones are deleted
// meanwhile.
func TestPagesAreWhole(t *testing.T) {
	t.Parallel()
	for _, drop := range []bool{false, true} {
		m := manyKeys(23)
		h := httpapi.New(m, httpapi.Options{Office: m})
		var got []string
		for cursor := ""; ; {
			p, code := getPage(t, h, "/v1/keys?limit=5&cursor="+url.QueryEscape(cursor))
			if code != http.StatusOK || len(p.Data) > 5 {
				t.Fatalf("%d: %+v", code, p)
			}
			for _, text := range p.Data {
				var k retake.Key
				must(t, json.Unmarshal(text, &k))
				got = append(got, string(k.ID))
			}
			if cursor = p.Next; cursor == "" {
				break
			}
			if drop { // the one that is in the cursor
				m.keys = slices.DeleteFunc(m.keys, func(k retake.Key) bool { return string(k.ID) == got[len(got)-1] })
			}
		}
		want := make([]string, 23)
		for i := range want {
			want[i] = fmt.Sprintf("key_%04d", i)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("dropping %v (-want +got):\n%s", drop, d)
		}
	}
}

// The client returns all pages.
func TestAllPagesAreGathered(t *testing.T) {
	t.Parallel()
	m := manyKeys(2345)
	keys, err := serve(t, httpapi.New(m, httpapi.Options{Office: m})).Keys(t.Context())
	if d := cmp.Diff(m.keys, keys); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

// longLists has long lists that are paged by number or ID.
type longLists struct{ *fakeService }

func (longLists) Audit(_ context.Context, q retake.AuditQuery) (out []retake.AuditEntry, err error) {
	for n := int64(100); n > 0 && len(out) < q.Limit; n-- {
		if q.Before == 0 || n < q.Before {
			out = append(out, retake.AuditEntry{Seq: n})
		}
	}
	return out, nil
}

func (longLists) Deliveries(_ context.Context, q retake.DeliveryQuery) (out []retake.Delivery, err error) {
	for n := 100; n > 0 && len(out) < q.Limit; n-- {
		if id := fmt.Sprintf("%s%s%03d", q.Webhook, q.State, n); q.Before == "" || id < q.Before {
			out = append(out, retake.Delivery{ID: id})
		}
	}
	return out, nil
}

// firstOf returns the first n of 100 elements, or all if n is 0.
func firstOf[T any](n int, element func(i int) T) (out []T, err error) {
	for i := range 100 {
		if n == 0 || i < n {
			out = append(out, element(i+1))
		}
	}
	return out, nil
}

func (longLists) Workspaces(context.Context) ([]retake.WorkspaceState, error) {
	return firstOf(0, func(i int) (w retake.WorkspaceState) { w.Name = strconv.Itoa(i); return w })
}

func (l longLists) Forks(ctx context.Context, _ retake.WorkspaceID) ([]retake.WorkspaceState, error) {
	return l.Workspaces(ctx)
}

func (longLists) List(context.Context, retake.WorkspaceID, string, string) ([]retake.Entry, error) {
	return firstOf(0, func(i int) retake.Entry { return retake.Entry{Name: strconv.Itoa(i)} })
}

func (longLists) Standing(context.Context, retake.WorkspaceID) ([]retake.Standing, error) {
	return firstOf(0, func(i int) retake.Standing { return retake.Standing{Name: strconv.Itoa(i)} })
}

func (longLists) Effects(context.Context, retake.WorkspaceID, string) ([]retake.Effect, error) {
	return firstOf(0, func(i int) retake.Effect { return retake.Effect{ID: strconv.Itoa(i)} })
}

func (longLists) Search(_ context.Context, q retake.SearchQuery) ([]retake.Hit, error) {
	return firstOf(q.Limit, func(i int) retake.Hit { return retake.Hit{Text: strconv.Itoa(i)} })
}

func (longLists) Chronicle(_ context.Context, q retake.ChronicleQuery) ([]retake.Mention, error) {
	return firstOf(q.Limit, func(i int) (m retake.Mention) { m.Checkpoint.Number = int64(i); return m })
}

func (longLists) Verifications(_ context.Context, q retake.VerificationQuery) ([]retake.Verification, error) {
	return firstOf(q.Limit, func(i int) retake.Verification { return retake.Verification{Name: strconv.Itoa(i)} })
}

func (longLists) Log(_ context.Context, q retake.LogQuery) (tl retake.Timeline, err error) {
	for n := int64(100); n > 0 && len(tl.Checkpoints) < q.Limit; n-- {
		if q.Before == 0 || n < q.Before {
			tl.Checkpoints = append(tl.Checkpoints, retake.Checkpoint{Number: n, Workspace: q.Workspace})
		}
	}
	return tl, nil
}

func (longLists) Events(_ context.Context, q retake.EventQuery) (out []retake.Event, err error) {
	for n := q.After + 1; n <= 100 && len(out) < q.Limit; n++ {
		out = append(out, retake.Event{Seq: n, Type: retake.EventCreated, Data: json.RawMessage("{}")})
	}
	return out, nil
}

var pagedTargets = []string{"/v1/audit?", "/v1/deliveries?", "/v1/deliveries?webhook=a&", "/v1/deliveries?webhook=a&state=dead&", "/v1/snapshots?", "/v1/snapshots?workspace_id=a&", "/v1/events?",
	"/v1/workspaces?", "/v1/workspaces/a/forks?", "/v1/workspaces/b/forks?", "/v1/workspaces/a/list?", "/v1/workspaces/a/list?dir=b&", "/v1/workspaces/a/standing?", "/v1/workspaces/a/effects?",
	"/v1/workspaces/a/search?text=a&", "/v1/workspaces/a/search?text=b&", "/v1/workspaces/a/chronicle?name=a&", "/v1/workspaces/a/verifications?", "/v1/workspaces/a/checkpoints?", "/v1/workspaces/a/checkpoints?good=true&"}

// Every list is complete, with any page size.
func TestListsHavePages(t *testing.T) {
	t.Parallel()
	l := longLists{&fakeService{}}
	h := httpapi.New(l, httpapi.Options{Office: l, Cursors: token.NewCursors([]byte("one"))})
	for _, at := range pagedTargets {
		for _, limit := range []int{1, 7, 50, 99, 100, 101, 5000} {
			seen, parts := map[string]int{}, 0
			for cursor := ""; ; parts++ {
				p, code := getPage(t, h, fmt.Sprintf("%slimit=%d&cursor=%s", at, limit, url.QueryEscape(cursor)))
				if code != http.StatusOK || len(p.Data) > limit || parts > 101 {
					t.Fatalf("%s by %d: %d, part %d with %d", at, limit, code, parts, len(p.Data))
				}
				for _, x := range p.Data {
					seen[string(x)]++
				}
				if cursor = p.Next; cursor == "" {
					break
				}
			}
			if len(seen) != 100 {
				t.Errorf("%s by %d: %d of 100", at, limit, len(seen))
			}
			for k, n := range seen {
				if n != 1 {
					t.Errorf("%s by %d: %s came %d times", at, limit, k, n)
				}
			}
		}
	}
}

// A cursor is valid only for the list and the filter it was made for, at servers with the same
// secret.
func TestCursorsAreBoundToTheirList(t *testing.T) {
	t.Parallel()
	l := longLists{&fakeService{}}
	h := httpapi.New(l, httpapi.Options{Office: l, Cursors: token.NewCursors([]byte("one"))})
	twin := httpapi.New(l, httpapi.Options{Office: l, Cursors: token.NewCursors([]byte("one"))})
	other := httpapi.New(l, httpapi.Options{Office: l, Cursors: token.NewCursors([]byte("two"))})
	for _, from := range pagedTargets {
		p, _ := getPage(t, h, from+"limit=3")
		if p.Next == "" {
			t.Fatalf("%s: no cursor", from)
		}
		for _, at := range append([]string{"/v1/keys?", "/v1/webhooks?", "/v1/schedules?", "/v1/deletions?"}, pagedTargets...) {
			for name, x := range map[string]struct {
				h      http.Handler
				cursor string
				good   bool
			}{
				"it":           {h, p.Next, at == from},
				"a twin":       {twin, p.Next, at == from},
				"another":      {other, p.Next, false},
				"a bit":        {h, flipLastChar(p.Next), false},
				"no cursor":    {h, "17", false},
				"a long one":   {h, strings.Repeat("A", 5000), false},
				"other letter": {h, p.Next + "=", false},
			} {
				_, code := getPage(t, x.h, at+"cursor="+url.QueryEscape(x.cursor))
				if (code == http.StatusOK) != x.good || !x.good && code != http.StatusUnprocessableEntity {
					t.Errorf("a cursor of %s at %s, %s: %d", from, at, name, code)
				}
			}
		}
	}
}

func flipLastChar(s string) string {
	b := []byte(s)
	b[0] ^= 1
	return string(b)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// growingLists gets a new element in front of the others each time it is asked.
type growingLists struct {
	*fakeService
	newest int
	oldest int
	grow   int
}

// ids returns the first ids, newest first.
func (g *growingLists) ids(limit int) (out []string) {
	for n := g.newest; n >= g.oldest && (limit == 0 || len(out) < limit); n-- {
		out = append(out, fmt.Sprintf("id_%04d", n))
	}
	g.newest += g.grow
	return out
}

func (g *growingLists) Verifications(_ context.Context, q retake.VerificationQuery) (out []retake.Verification, err error) {
	for _, id := range g.ids(q.Limit) {
		out = append(out, retake.Verification{ID: retake.VerificationID(id)})
	}
	return out, nil
}

func (g *growingLists) Search(_ context.Context, q retake.SearchQuery) (out []retake.Hit, err error) {
	for _, id := range g.ids(q.Limit) {
		out = append(out, retake.Hit{Checkpoint: retake.Checkpoint{ID: retake.CheckpointID(id)}})
	}
	return out, nil
}

func (g *growingLists) Chronicle(_ context.Context, q retake.ChronicleQuery) (out []retake.Mention, err error) {
	for _, id := range g.ids(q.Limit) {
		out = append(out, retake.Mention{Checkpoint: retake.Checkpoint{ID: retake.CheckpointID(id)}})
	}
	return out, nil
}

// growingID finds the ids of such a list in JSON.
var growingID = regexp.MustCompile(`"id":"(id_\d+)"`)

// A list that grows in front of the pages shows each element that was there once.
func TestPagesOfAGrowingList(t *testing.T) {
	t.Parallel()
	var want []string
	for n := 30; n >= 1; n-- {
		want = append(want, fmt.Sprintf("id_%04d", n))
	}
	for _, target := range []string{"verifications?", "search?text=x&", "chronicle?"} {
		for _, grow := range []int{0, 1, 7, 40} {
			g := &growingLists{fakeService: &fakeService{}, newest: 30, oldest: 1, grow: grow}
			h := httpapi.New(g, httpapi.Options{})
			var got []string
			for cursor := ""; ; {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest("GET", "/v1/workspaces/ws_1/"+target+"limit=4&cursor="+url.QueryEscape(cursor), nil))
				var p wire.More
				must(t, json.Unmarshal(w.Body.Bytes(), &p))
				ids := growingID.FindAllStringSubmatch(w.Body.String(), -1)
				if w.Code != http.StatusOK || len(ids) > 4 {
					t.Fatalf("%s: %d: %s", target, w.Code, w.Body)
				}
				for _, id := range ids {
					got = append(got, id[1])
				}
				if cursor = p.NextCursor; cursor == "" || len(got) > 2*len(want) { // it grows faster than it is read
					break
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s growing by %d (-want +got):\n%s", target, grow, d)
			}
		}
	}
}

// longComparison says from where it was asked, and that there is more.
type longComparison struct{ *fakeService }

func (longComparison) Diff(_ context.Context, q retake.DiffQuery) (retake.Comparison, error) {
	return retake.Comparison{Next: q.After + "x"}, nil
}

// The cursor of a comparison is accepted by that comparison only.
func TestCursorOfAComparison(t *testing.T) {
	t.Parallel()
	h := httpapi.New(longComparison{&fakeService{}}, httpapi.Options{})
	first, code := getPage(t, h, "/v1/workspaces/ws_1/diff?from=1&to=2")
	if code != http.StatusOK || first.Next == "" {
		t.Fatalf("%d: %+v", code, first)
	}
	for target, want := range map[string]int{"from=1&to=2": http.StatusOK, "from=1&to=3": http.StatusUnprocessableEntity, "from=1&to=2&path=a": http.StatusUnprocessableEntity} {
		if _, code := getPage(t, h, "/v1/workspaces/ws_1/diff?"+target+"&cursor="+url.QueryEscape(first.Next)); code != want {
			t.Errorf("%s: %d, want %d", target, code, want)
		}
	}
	if _, code := getPage(t, h, "/v1/workspaces/ws_1/diff?from=1&to=2&cursor=a.txt"); code != http.StatusUnprocessableEntity {
		t.Errorf("any text: %d", code)
	}
}
