package rewraptest

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/backup"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/internal/server/gateway"
	"github.com/retake-dev/retake/internal/server/rewrap"
	"github.com/retake-dev/retake/internal/server/tenant"
	"github.com/retake-dev/retake/internal/server/webhooks"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// bed is a ledger and a directory of backups, whose secrets are sealed with an old key.
type bed struct {
	*testing.T
	ledger   serverdb.Ledger
	dir      string
	locks    fsx.Locks
	oldKey   []byte
	newKey   []byte
	clock    *clock.Manual
	names    []retake.NamespaceID
	replies  map[retake.NamespaceID][]string
	expected int // secrets in all
}

const repliesEach = 23 // more than a page

var begin = time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC)

func newBed(t *testing.T, l serverdb.Ledger) *bed {
	return &bed{T: t, ledger: l, dir: t.TempDir(), locks: fsx.NewLocks(t.TempDir()), oldKey: secretbox.NewKey(), newKey: secretbox.NewKey(), clock: clock.NewManual(begin), replies: map[retake.NamespaceID][]string{}}
}

func (b *bed) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bed) keeper(keys ...[]byte) *secretbox.LocalKeeper {
	b.Helper()
	k, err := secretbox.NewLocalKeeper(keys...)
	b.must(err)
	return k
}

func (b *bed) old() secretbox.Keeper  { return b.keeper(b.oldKey) }
func (b *bed) both() secretbox.Keeper { return b.keeper(b.newKey, b.oldKey) }
func (b *bed) new() secretbox.Keeper  { return b.keeper(b.newKey) }

func (b *bed) seal(k secretbox.Keeper, purpose, plain string) []byte {
	b.Helper()
	sealed, err := k.Seal(b.Context(), purpose, []byte(plain))
	b.must(err)
	return sealed
}

func (b *bed) worker(k secretbox.Keeper) func(retake.NamespaceID) *backup.Worker {
	return func(ns retake.NamespaceID) *backup.Worker {
		return backup.New(backup.Options{Dir: filepath.Join(b.dir, string(ns)), Seal: k, Locks: b.locks, Clock: b.clock})
	}
}

func (b *bed) run(ctx context.Context, k secretbox.Keeper) (rewrap.Result, error) {
	return rewrap.Run(ctx, rewrap.Options{Ledger: b.ledger, Keeper: k, Backups: b.worker(k), Clock: b.clock})
}

// hostKey is the key of no host.
var hostKey = "ssh-ed25519 " + base64.StdEncoding.EncodeToString(append(append(binary.BigEndian.AppendUint32(nil, 11), "ssh-ed25519"...), make([]byte, 36)...))

// fill puts secrets of every kind into namespaces.
func (b *bed) fill(k secretbox.Keeper, names ...retake.NamespaceID) {
	b.Helper()
	ctx := b.Context()
	for _, ns := range names {
		book := b.ledger.Book(ns)
		b.must(b.ledger.AddNamespace(ctx, retake.Namespace{ID: ns, Created: begin, Limits: retake.DefaultLimits()}, b.seal(k, tenant.PasswordPurpose(ns), "password of "+string(ns))))
		for _, id := range []retake.WebhookID{"wh_1", "wh_2"} {
			h := serverdb.Hook{Webhook: retake.Webhook{ID: id, URL: "https://example.com", Scheme: retake.SchemeShared, Created: begin}}
			h.Secret = b.seal(k, webhooks.SecretPurpose(ns, id), "secret of "+string(ns+"/")+string(id))
			if id == "wh_2" {
				h.Old = b.seal(k, webhooks.SecretPurpose(ns, id), "old secret of "+string(ns+"/")+string(id))
			}
			b.must(book.PutHook(ctx, h))
		}
		for n := range repliesEach {
			b.addReply(k, ns, fmt.Sprintf("key_1 %02d", n), begin.Add(24*time.Hour))
		}
		for range 2 {
			b.setBackup(k, ns, retake.WorkspaceID(retake.WorkspacePrefix+uuid.NewString()), "a")
		}
		b.names = append(b.names, ns)
		b.expected += 6
	}
}

func (b *bed) addReply(k secretbox.Keeper, ns retake.NamespaceID, key string, until time.Time) {
	b.Helper()
	book := b.ledger.Book(ns)
	r, _, err := book.BeginReply(b.Context(), key, [32]byte{1}, begin, time.Minute)
	b.must(err)
	r.Status, r.Body = 200, b.seal(k, gateway.ReplyPurpose(ns, key), "reply to "+key)
	b.must(book.EndReply(b.Context(), key, r, until))
	b.replies[ns] = append(b.replies[ns], key)
}

func (b *bed) setBackup(k secretbox.Keeper, ns retake.NamespaceID, ws retake.WorkspaceID, name string) {
	b.Helper()
	_, err := b.worker(k)(ns).Set(b.Context(), retake.Workspace{ID: ws, Name: "shop"}, retake.BackupRequest{URL: "git@example.com:team/" + name + ".git", Host: hostKey})
	b.must(err)
}

// read opens every secret with a keeper, and returns what is in it or why it does not open.
func (b *bed) read(k secretbox.Keeper) map[string]string {
	b.Helper()
	ctx, out := b.Context(), map[string]string{}
	open := func(name, purpose string, sealed []byte) {
		if len(sealed) == 0 {
			return
		}
		plain, err := k.Open(ctx, purpose, sealed)
		out[name] = string(plain)
		if err != nil {
			out[name] = "ERROR " + err.Error()
		}
	}
	for _, ns := range b.names {
		sealed, err := b.ledger.Password(ctx, ns)
		b.must(err)
		open("password "+string(ns), tenant.PasswordPurpose(ns), sealed)
		all, err := b.ledger.Book(ns).Hooks(ctx)
		b.must(err)
		for _, h := range all {
			open("hook "+string(ns)+string(h.ID), webhooks.SecretPurpose(ns, h.ID), h.Secret)
			open("old hook "+string(ns)+string(h.ID), webhooks.SecretPurpose(ns, h.ID), h.Old)
		}
		for _, key := range b.replies[ns] {
			r, state, err := b.ledger.Book(ns).BeginReply(ctx, key, [32]byte{1}, begin, time.Minute)
			b.must(err)
			if state != serverdb.ReplyKnown || r.Status != 200 {
				b.Fatalf("reply %s: %v", key, state)
			}
			open("reply "+string(ns)+key, gateway.ReplyPurpose(ns, key), r.Body)
		}
		keys, err := b.worker(k)(ns).SealedKeys()
		b.must(err)
		for _, key := range keys {
			open("backup "+string(ns)+string(key.Workspace), key.Purpose, key.Sealed)
		}
	}
	return out
}

// wantSame wants the same secrets, all of which open.
func (b *bed) wantSame(got, want map[string]string) {
	b.Helper()
	for name, text := range want {
		if got[name] != text || strings.HasPrefix(text, "ERROR") {
			b.Errorf("%s is %.60q, want %.60q", name, got[name], text)
		}
	}
	if len(got) != len(want) || len(want) == 0 {
		b.Errorf("%d secrets, want %d", len(got), len(want))
	}
}

// wantDone wants that the old key is not needed any more.
func (b *bed) wantDone(r rewrap.Result, err error) {
	b.Helper()
	b.must(err)
	ids, err := b.new().KeyIDs(b.Context())
	b.must(err)
	if r.Key != ids[0] || r.Secrets != b.expected || len(r.Others) != 0 {
		b.Fatalf("%+v, want %d secrets", r, b.expected)
	}
}
