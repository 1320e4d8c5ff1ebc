package server_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// grown is a list that gets new entries in front, and what its entries are known by.
type grown struct {
	path string
	ids  func(t *testing.T, body string) ([]string, string)
}

func idsOf[L any](ids func(*L) []string, next func(*L) string) func(*testing.T, string) ([]string, string) {
	return func(t *testing.T, body string) ([]string, string) {
		t.Helper()
		var l L
		if err := json.Unmarshal([]byte(body), &l); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		return ids(&l), next(&l)
	}
}

var grownLists = map[string]grown{
	"search": {"/search?text=login", idsOf(func(l *wire.HitList) (out []string) {
		for i := range l.Hits {
			out = append(out, string(l.Hits[i].Checkpoint.ID))
		}
		return out
	}, func(l *wire.HitList) string { return l.NextCursor })},
	"verifications": {"/verifications?name=test", idsOf(func(l *wire.VerificationList) (out []string) {
		for i := range l.Verifications {
			out = append(out, string(l.Verifications[i].ID))
		}
		return out
	}, func(l *wire.VerificationList) string { return l.NextCursor })},
}

// Entries that come between two pages move none of the others.
func TestPagesWhileEntriesCome(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	ws := "/v1/workspaces/" + string(b.initial.Namespace.Default)
	n := 0
	add := func() {
		n++
		b.writeFile("login.ts", fmt.Sprint(n))
		b.saveCheckpoint(fmt.Sprintf("fix the login %d", n))
		if r, text := b.sendRequest("POST", ws+"/verifications", b.keySecret(retake.KeyAgent), `{"ref":"latest","name":"test","command":"true","verdict":"passed"}`, nil); r.StatusCode != 200 {
			t.Fatal(text)
		}
	}
	for range 7 {
		add()
	}
	page := func(l grown, query string) ([]string, string) {
		r, text := b.sendRequest("GET", ws+l.path+query, b.keySecret(retake.KeyReader), "", nil)
		if r.StatusCode != 200 {
			t.Fatalf("%s: %d %s", l.path, r.StatusCode, text)
		}
		return l.ids(t, text)
	}
	for name, l := range grownLists {
		want, _ := page(l, "&limit=100")
		if len(want) < 7 {
			t.Fatalf("%s has %d entries", name, len(want))
		}
		var got []string
		for cursor := "start"; cursor != "" && len(got) <= 2*len(want); {
			query := "&limit=2"
			if cursor != "start" {
				query += "&cursor=" + url.QueryEscape(cursor)
			}
			var some []string
			some, cursor = page(l, query)
			got = append(got, some...)
			add()
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: pages %v, the list before them %v", name, got, want)
		}
	}
}
