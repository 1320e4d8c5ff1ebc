package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
)

// What happens often is one entry with a count, with the first request and the client's address.
func TestNotesAreCounted(t *testing.T) {
	t.Parallel()
	db, err := sqlite.OpenDB(t.Context(), sqlite.Memory, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ledger, err := sqldb.New(t.Context(), db, sqldb.Options{Clock: clock.Wall})
	if err != nil {
		t.Fatal(err)
	}
	n := newAuditNotes(ledger, slog.New(slog.DiscardHandler))
	who := caller{"a", retake.Key{ID: "key_1", Kind: retake.KeyAgent, Name: "bot"}}
	r := httptest.NewRequest("GET", "/v1/workspaces/ws_01a1ee33-6e7d-75e9-bd89-f694b4bee8e9/file?path=x", nil)
	r.RemoteAddr = "192.0.2.7:1234"
	for _, id := range []string{"req_1", "req_2", "req_3"} {
		n.add(r, who, id, "read content", subjectOf(r, "file"))
	}
	n.add(r, who, "req_4", "refused: no permission", "make-key")
	for i := range 10 * maxKeyNotes { // one key cannot fill the log
		n.add(r, caller{"a", retake.Key{ID: "key_2"}}, "req", "refused: no permission", fmt.Sprint("thing ", i))
	}
	n.flush()
	n.flush() // nothing waits
	all, err := ledger.Book("a").Audit(context.Background(), retake.AuditQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	flood := 0
	for _, e := range all {
		if e.Actor.Key == "key_2" {
			flood++
			continue
		}
		got = append(got, strings.Join([]string{e.Verb, e.Subject, e.Address, e.Request, string(e.Actor.Key)}, "|"))
	}
	slices.Sort(got)
	want := []string{"read content|file of ws_01a1ee33-6e7d-75e9-bd89-f694b4bee8e9, 3 times|192.0.2.7|req_1|key_1", "refused: no permission|make-key|192.0.2.7|req_4|key_1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if flood != maxKeyNotes+1 {
		t.Errorf("%d entries of one key", flood)
	}
	if p, err := sqldb.Check(t.Context(), "a", ledger.Book("a"), nil); err != nil || p.Broken != 0 {
		t.Errorf("%+v %v", p, err)
	}
}

// A namespace whose notes are too many does not take the place of another's.
func TestNotesOfNamespacesAreApart(t *testing.T) {
	t.Parallel()
	db, err := sqlite.OpenDB(t.Context(), sqlite.Memory, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ledger, err := sqldb.New(t.Context(), db, sqldb.Options{Clock: clock.Wall})
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	n := newAuditNotes(ledger, slog.New(slog.NewTextHandler(&log, nil)))
	r := httptest.NewRequest("GET", "/", nil)
	for i := range 10_100 {
		key := retake.Key{ID: retake.KeyID(fmt.Sprint("key_", i/maxKeyNotes))}
		n.add(r, caller{"loud", key}, "req", "refused: no permission", fmt.Sprint("thing ", i))
	}
	n.add(r, caller{"quiet", retake.Key{ID: "key_q"}}, "req_q", "sign in", "console")
	n.flush()
	for ns, want := range map[retake.NamespaceID]int{"loud": maxNotes, "quiet": 1} {
		all, err := ledger.Book(ns).Audit(t.Context(), retake.AuditQuery{Limit: 2 * maxNotes})
		if err != nil || len(all) != want {
			t.Errorf("%s: %d entries, want %d; %v", ns, len(all), want, err)
		}
	}
	if want := fmt.Sprintf("namespace=loud count=%d", 10_100-maxNotes); !strings.Contains(log.String(), want) {
		t.Errorf("the log has no %q: %s", want, log.String())
	}
}

// The address of a client counts if another server says it over its socket, not if the client does.
func TestClientAddress(t *testing.T) {
	t.Parallel()
	for _, x := range [][3]string{
		{"192.0.2.7:1234", "", "192.0.2.7"}, {"192.0.2.7:1234", "203.0.113.9", "192.0.2.7"}, {"[::ffff:192.0.2.7]:1", "", "192.0.2.7"},
		{"@", "203.0.113.9", "203.0.113.9"}, {"@", "no address", ""}, {"", "", ""},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = x[0]
		r.Header.Set(addressHeader, x[1])
		if got := clientAddress(r); got != x[2] {
			t.Errorf("%q with %q: %q", x[0], x[1], got)
		}
	}
}
