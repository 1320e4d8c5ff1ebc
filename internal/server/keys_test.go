package server_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/internal/server"
	"github.com/retake-dev/retake/internal/server/rewrap"
	"github.com/retake-dev/retake/internal/server/transit/transittest"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
)

func withKeys(keys ...[]byte) func(*server.Options) {
	return func(o *server.Options) { o.EncryptionKeys = keys }
}

// rewrapAs does what `retake admin rewrap` does, beside the servers that run.
func (b *testServer) rewrapAs(change func(*server.Options)) (rewrap.Result, error) {
	b.t.Helper()
	o := testOptions(b.data)
	change(&o)
	srv, err := server.Open(b.t.Context(), o)
	must(b.t, err)
	defer func() { must(b.t, srv.Close()) }()
	return srv.Rewrap(b.t.Context())
}

// sealedWith returns where something is that was sealed with a key: in any column of any table, and
// in any file of the data directory. It knows nothing of what is sealed.
func (b *testServer) sealedWith(key []byte) []string {
	b.t.Helper()
	k, err := secretbox.NewLocalKeeper(key)
	must(b.t, err)
	ids, err := k.KeyIDs(b.t.Context())
	must(b.t, err)
	head, err := secretbox.Header(ids[0])
	must(b.t, err)
	var found []string
	look := func(where string, text []byte) {
		if bytes.Contains(text, head) || bytes.Contains(text, []byte(base64.StdEncoding.EncodeToString(head))) {
			found = append(found, where)
		}
	}
	db, err := sqlite.OpenDB(b.t.Context(), filepath.Join(b.data, "server.db"), sqlite.Options{})
	must(b.t, err)
	defer db.Close()
	tables, err := db.QueryContext(b.t.Context(), `SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'`)
	must(b.t, err)
	defer tables.Close()
	var columns [][2]string
	for tables.Next() {
		var c [2]string
		must(b.t, tables.Scan(&c[0], &c[1]))
		columns = append(columns, c)
	}
	must(b.t, tables.Err())
	lookAt := func(table, column string) {
		rows, err := db.QueryContext(b.t.Context(), fmt.Sprintf(`SELECT CAST(%q AS BLOB) FROM %q`, column, table)) //nolint:gosec // names of our tables
		must(b.t, err)
		defer rows.Close()
		for rows.Next() {
			var text []byte
			must(b.t, rows.Scan(&text))
			look(table+"."+column, text)
		}
		must(b.t, rows.Err())
	}
	for _, c := range columns {
		lookAt(c[0], c[1])
	}
	must(b.t, filepath.WalkDir(b.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(d.Name(), "server.db") {
			return err
		}
		text, err := os.ReadFile(path)
		look("file "+d.Name(), text)
		return err
	}))
	slices.Sort(found)
	return slices.Compact(found)
}

// sealEverything makes the server seal something of every kind.
func (b *testServer) sealEverything() (replay func()) {
	b.t.Helper()
	admin, operator := b.clientAs(retake.KeyAdmin), b.clientAs(retake.KeyOperator)
	w, err := admin.MakeWebhook(b.t.Context(), retake.WebhookRequest{URL: "https://example.com/hook"})
	must(b.t, err)
	_, err = admin.RotateWebhook(b.t.Context(), w.Webhook.ID)
	must(b.t, err)
	blob := append(append(binary.BigEndian.AppendUint32(nil, 11), "ssh-ed25519"...), make([]byte, 36)...)
	_, err = operator.SetBackup(b.t.Context(), retake.BackupRequest{
		Workspace: b.initial.Namespace.Default, URL: "git@127.0.0.1:team/shop.git", Host: "ssh-ed25519 " + base64.StdEncoding.EncodeToString(blob),
	})
	must(b.t, err)
	send := func(replayed string) {
		b.t.Helper()
		res, text := b.sendRequest(http.MethodPost, "/v1/snapshots", b.keySecret(retake.KeyAgent), `{"label":"once"}`, map[string]string{"Idempotency-Key": "k1"})
		if res.StatusCode != http.StatusCreated || res.Header.Get("Idempotent-Replayed") != replayed || !strings.Contains(text, "once") {
			b.t.Errorf("%d %v %s", res.StatusCode, res.Header, text)
		}
	}
	send("")
	return func() { b.t.Helper(); send("true") }
}

// After a rotation nothing anywhere is sealed with the old key, and it can be removed.
func TestRewrap(t *testing.T) {
	t.Parallel()
	oldKey, newKey := secretbox.NewKey(), secretbox.NewKey()
	b := newTestServer(t, "", withKeys(oldKey))
	replay := b.sealEverything()
	want := []string{"file key", "hook.body", "password.sealed", "reply.body"}
	if got := b.sealedWith(oldKey); !slices.Equal(got, want) { // the control: what is sealed is found
		t.Fatalf("sealed with the old key: %v", got)
	}
	b.stop()
	b.start("", withKeys(newKey, oldKey))
	r, err := b.rewrapAs(withKeys(newKey, oldKey))
	if err != nil || r.Secrets != 4 || r.Resealed != 4 || r.Responses == 0 || len(r.Others)+len(r.Servers) != 0 {
		t.Fatalf("%+v %v", r, err)
	}
	if got := b.sealedWith(oldKey); len(got) != 0 {
		t.Errorf("still sealed with the old key: %v", got)
	}
	if got := b.sealedWith(newKey); !slices.Equal(got, want) {
		t.Errorf("sealed with the new key: %v", got)
	}
	b.stop()
	b.start("", withKeys(newKey))
	replay()
	b.saveCheckpoint("under the new key alone")
}

// Nothing is sealed again while a server runs that could not open it.
func TestRewrapBesideServers(t *testing.T) {
	t.Parallel()
	oldKey, newKey := secretbox.NewKey(), secretbox.NewKey()
	b := newTestServer(t, "", withKeys(oldKey))
	b.sealEverything()
	before := b.sealedWith(oldKey)
	refused := func(why string) {
		t.Helper()
		_, err := b.rewrapAs(withKeys(newKey, oldKey))
		if !retake.IsKind(err, retake.Busy) || !strings.Contains(err.Error(), why) {
			t.Fatalf("%q: %v", why, err)
		}
		if got := b.sealedWith(newKey); len(got) != 0 || !slices.Equal(b.sealedWith(oldKey), before) {
			t.Fatalf("%q: sealed all the same: %v", why, got)
		}
	}
	refused("doesn't have the new key")
	b.stop()

	// A server of an older version has a socket, too, and asks for a key there.
	at := filepath.Join(b.data, "run", "1-older.sock")
	l, err := net.Listen("unix", at)
	must(t, err)
	older := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })}
	go func() { _ = older.Serve(l) }()
	refused("process 1 doesn't say which keys it has")
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	must(t, older.Close()) // as if it was killed: the socket stays
	if _, err := os.Lstat(at); err != nil {
		t.Fatal(err)
	}

	b.start("", withKeys(oldKey, newKey)) // it can open both, but seals with the old one
	r, err := b.rewrapAs(withKeys(newKey, oldKey))
	if err != nil || len(r.Others) != 0 || len(r.Servers) != 1 || !strings.Contains(r.Servers[0], "seals with another key") {
		t.Fatalf("%+v %v", r, err)
	}
	b.saveCheckpoint("it still works")
	b.stop()
	if r, err = b.rewrapAs(withKeys(newKey, oldKey)); err != nil || len(r.Others)+len(r.Servers) != 0 {
		t.Errorf("%+v %v", r, err)
	}
}

// atKeyServer has the key at a key server.
func atKeyServer(t *testing.T, s *transittest.Server, keys ...[]byte) func(*server.Options) {
	token := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(token, []byte(transittest.Token), 0o600))
	return func(o *server.Options) {
		o.EncryptionKeys, o.KeyServer = keys, &server.KeyServer{URL: s.KeyURL(), TokenFile: token}
	}
}

// A server moves its secrets to a key server and back, and has them at each step.
func TestMoveToKeyServer(t *testing.T) {
	t.Parallel()
	key, s := secretbox.NewKey(), transittest.Start(t, false)
	b := newTestServer(t, "", withKeys(key))
	replay := b.sealEverything()
	b.stop()
	there := atKeyServer(t, s, key)
	b.start("", there)
	s.Rotate()
	r, err := b.rewrapAs(there)
	if err != nil || r.Secrets != 4 || r.KeyVersion != "v2" || len(r.Others)+len(r.Servers) != 0 {
		t.Fatalf("%+v %v", r, err)
	}
	if got := b.sealedWith(key); len(got) != 0 {
		t.Errorf("still sealed with the key from before: %v", got)
	}
	b.stop()
	s.RetireOldVersions()
	b.start("", atKeyServer(t, s))
	replay()
	b.saveCheckpoint("at the key server alone")
	b.stop()

	next := secretbox.NewKey()
	back := func(o *server.Options) {
		atKeyServer(t, s, next)(o)
		o.KeyServer.OnlyOpens = true
	}
	b.start("", back)
	if r, err := b.rewrapAs(back); err != nil || r.Resealed != 4 || r.KeyVersion != "" || len(r.Others)+len(r.Servers) != 0 {
		t.Fatalf("back: %+v %v", r, err)
	}
	b.stop()
	s.Close()
	b.start("", withKeys(next))
	replay()
	b.saveCheckpoint("back again")
}

// A server starts without its key server, refuses what needs the key as unavailable, and works as
// soon as the key is there. After that it needs no key server.
func TestServerWithoutKeyServer(t *testing.T) {
	t.Parallel()
	held := clock.NewManual(time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC))
	s := transittest.Start(t, false)
	with := func(o *server.Options) { atKeyServer(t, s)(o); o.Clock = held }
	b := newTestServer(t, "", with)
	first := b.saveCheckpoint("with its key server")
	b.stop()
	s.Seal(true)
	b.start("", with)
	save := func() (response, string) {
		return b.sendRequest(http.MethodPost, "/v1/snapshots", b.keySecret(retake.KeyAgent), `{"label":"a"}`, nil)
	}
	res, text := save()
	if res.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, `"code":"unavailable"`) || !strings.Contains(text, "key server") || strings.Contains(text, s.URL) {
		t.Errorf("a save: %d %s", res.StatusCode, text)
	}
	if res, text := b.sendRequest(http.MethodGet, "/readyz?verbose", "", "", nil); res.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, "key") {
		t.Errorf("ready: %d %s", res.StatusCode, text)
	}
	if _, err := b.rewrapAs(with); !retake.IsKind(err, retake.Away) {
		t.Errorf("sealing again: %v", err)
	}
	s.Seal(false)
	held.Advance(time.Second)
	if res, text := b.sendRequest(http.MethodGet, "/readyz", "", "", nil); res.StatusCode != http.StatusOK {
		t.Errorf("ready with the key: %d %s", res.StatusCode, text)
	}
	s.Close()
	second := b.saveCheckpoint("without its key server")
	if second.Number <= first.Number {
		t.Errorf("checkpoint %d after %d", second.Number, first.Number)
	}
	b.stop()
}

// A key server that refuses is a mistake of the configuration: the server does not start.
func TestKeyServerRefuses(t *testing.T) {
	t.Parallel()
	s := transittest.Start(t, false)
	s.SetTokens("another")
	o := testOptions(shortDir(t))
	atKeyServer(t, s)(&o)
	srv, err := server.Open(t.Context(), o)
	if !retake.IsKind(err, retake.Denied) || srv != nil || strings.Contains(err.Error(), transittest.Token) {
		t.Errorf("%v %v", srv, err)
	}
	if _, err := os.Stat(filepath.Join(o.DataDir, "kek.sealed")); err == nil {
		t.Error("a data key was made")
	}
}
