// Package rewraptest tests that secrets are sealed again, in the rows of any ledger.
package rewraptest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/internal/server/gateway"
	"github.com/retake-dev/retake/internal/server/rewrap"
	"github.com/retake-dev/retake/internal/server/tenant"
	"github.com/retake-dev/retake/internal/server/webhooks"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// Run runs the suite. open returns a ledger without rows, each time another one.
func Run(t *testing.T, open func(t *testing.T) serverdb.Ledger) {
	t.Helper()
	for name, test := range map[string]func(*bed){
		"everything is sealed again":   testEverything,
		"a run that is cut":            testCut,
		"two runs at once":             testTwoRuns,
		"a rotation meanwhile":         testRotation,
		"what cannot be opened":        testUnopenable,
		"nothing is there":             testNothing,
		"a change at every look":       testRestless,
		"responses that expire":        testExpired,
		"the current key is not known": testWithoutKey,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newBed(t, open(t)))
		})
	}
}

func testEverything(b *bed) {
	b.fill(b.old(), "a", "b", "c")
	before := b.read(b.old())
	for name, text := range b.read(b.new()) { // the control
		if !strings.HasPrefix(text, "ERROR") {
			b.Fatalf("%s opens with the new key", name)
		}
	}
	r, err := b.run(b.Context(), b.both())
	b.wantDone(r, err)
	if r.Resealed != b.expected || r.Responses != 3*repliesEach {
		b.Errorf("%+v", r)
	}
	b.wantSame(b.read(b.new()), before)
	r, err = b.run(b.Context(), b.both())
	b.wantDone(r, err)
	if r.Resealed != 0 || r.Responses != 0 {
		b.Errorf("again: %+v", r)
	}
	r, err = b.run(b.Context(), b.new()) // as after the old key was removed
	b.wantDone(r, err)
	for _, ns := range b.names {
		entries, err := b.ledger.Book(ns).Audit(b.Context(), retake.AuditQuery{})
		b.must(err)
		n := 0
		for _, e := range entries {
			if e.Actor.Name == "rewrap" {
				n++
			}
		}
		if n != 4 { // a password, and two webhooks of which one has two secrets
			b.Errorf("the audit log of %s has %d entries", ns, n)
		}
	}
}

// watched is a keeper that does something before it opens or seals.
type watched struct {
	secretbox.Keeper
	open func(purpose string) error
	seal func() error
}

func (w watched) Open(ctx context.Context, purpose string, sealed []byte) ([]byte, error) {
	if w.open != nil {
		if err := w.open(purpose); err != nil {
			return nil, err
		}
	}
	return w.Keeper.Open(ctx, purpose, sealed)
}

func (w watched) Seal(ctx context.Context, purpose string, plain []byte) ([]byte, error) {
	if w.seal != nil {
		if err := w.seal(); err != nil {
			return nil, err
		}
	}
	return w.Keeper.Seal(ctx, purpose, plain)
}

// testCut: a run that is cut after any number of secrets loses none, and later ones finish.
func testCut(b *bed) {
	b.fill(b.old(), "a", "b")
	before := b.read(b.old())
	cuts := 0
	for after := 0; ; after++ {
		ctx, cancel := context.WithCancel(b.Context())
		left := after
		r, err := b.run(ctx, watched{Keeper: b.both(), seal: func() error {
			if left--; left < 0 {
				cancel()
				return ctx.Err()
			}
			return nil
		}})
		cancel()
		b.wantSame(b.read(b.both()), before)
		if err == nil {
			b.wantDone(r, err)
			break
		}
		cuts++
	}
	if cuts < 8 {
		b.Errorf("only %d runs were cut", cuts)
	}
	b.wantSame(b.read(b.new()), before)
}

func testTwoRuns(b *bed) {
	b.fill(b.old(), "a", "b")
	before := b.read(b.old())
	var g errgroup.Group
	var all [3]rewrap.Result
	for i := range all {
		g.Go(func() (err error) {
			all[i], err = b.run(b.Context(), b.both())
			return err
		})
	}
	b.must(g.Wait())
	sum := 0
	for _, r := range all {
		b.wantDone(r, nil)
		sum += r.Resealed
	}
	if sum != b.expected {
		b.Errorf("%d secrets were sealed again, not %d", sum, b.expected)
	}
	b.wantSame(b.read(b.new()), before)
}

// testRotation: what is replaced between reading and writing keeps its new value.
func testRotation(b *bed) {
	b.fill(b.old(), "a")
	before := b.read(b.old())
	server, book := b.both(), b.ledger.Book("a")
	ctx := retake.WithActor(b.Context(), retake.Actor{Name: "somebody"})
	keys, err := b.worker(server)("a").SealedKeys()
	b.must(err)
	done := map[string]bool{}
	r, err := b.run(b.Context(), watched{Keeper: b.both(), open: func(purpose string) error {
		if done[purpose] {
			return nil
		}
		done[purpose] = true
		switch purpose {
		case webhooks.SecretPurpose("a", "wh_2"):
			_, err := book.ChangeHook(ctx, "wh_2", func(h *serverdb.Hook) error {
				h.Old, h.Secret = h.Secret, b.seal(server, purpose, "rotated")
				return nil
			})
			return err
		case keys[0].Purpose:
			b.setBackup(server, "a", keys[0].Workspace, "elsewhere")
		case gateway.ReplyPurpose("a", "key_1 07"):
			return book.PutReplyBody(ctx, "key_1 07", b.replyBody("a", "key_1 07"), b.seal(server, purpose, "another reply"))
		}
		return nil
	}})
	b.wantDone(r, err)
	after := b.read(b.new())
	backupName := "backup a" + string(keys[0].Workspace)
	if len(done) < 3 || after[backupName] == before[backupName] || !strings.Contains(after[backupName], "PRIVATE KEY") {
		b.Errorf("the new key of the backup is lost: %.60q", after[backupName])
	}
	before["hook awh_2"], before["old hook awh_2"], before["reply akey_1 07"], before[backupName] = "rotated", before["hook awh_2"], "another reply", after[backupName]
	b.wantSame(after, before)
}

func (b *bed) replyBody(ns retake.NamespaceID, key string) []byte {
	b.Helper()
	r, _, err := b.ledger.Book(ns).BeginReply(b.Context(), key, [32]byte{1}, begin, time.Minute)
	b.must(err)
	return r.Body
}

// testUnopenable: what no key opens is named and left as it is, and the others are sealed again.
func testUnopenable(b *bed) {
	b.fill(b.old(), "a", "b")
	before := b.read(b.old())
	lost, ctx := b.keeper(secretbox.NewKey()), b.Context()
	was, err := b.ledger.Password(ctx, "b")
	b.must(err)
	b.must(b.ledger.PutPassword(ctx, "b", was, b.seal(lost, tenant.PasswordPurpose("b"), "password of b")))
	_, err = b.ledger.Book("a").ChangeHook(ctx, "wh_1", func(h *serverdb.Hook) error {
		h.Secret, h.Old = b.seal(b.new(), "another purpose", "moved here"), []byte("no box")
		return nil
	})
	b.must(err)
	b.addReply(lost, "a", "key_1 lost", begin.Add(time.Hour))
	b.replies["a"] = slices.DeleteFunc(b.replies["a"], func(key string) bool { return key == "key_1 lost" })
	r, err := b.run(ctx, b.both())
	b.must(err)
	want := []string{
		"secret of webhook wh_1 of namespace a: ", "previous secret of webhook wh_1 of namespace a: ", "stored response of namespace a, which expires within a day: ", "store password of namespace b: ",
	}
	if r.Secrets != b.expected-2 || len(r.Others) != len(want) {
		b.Fatalf("%+v", r)
	}
	for i := range want {
		if !strings.HasPrefix(r.Others[i], want[i]) {
			b.Errorf("%q is not named: %q", want[i], r.Others[i])
		}
	}
	if ids, err := lost.KeyIDs(ctx); err != nil || !strings.Contains(r.Others[3], ids[0]) {
		b.Errorf("the key that is missing is not named: %q", r.Others[3])
	}
	for _, text := range r.Others {
		for _, secret := range before {
			if strings.Contains(text, secret) {
				b.Errorf("%q has a secret", text)
			}
		}
	}
	r, err = b.run(ctx, b.keeper(append([][]byte{b.newKey}, b.oldKey)...))
	b.must(err)
	if r.Resealed != 0 || len(r.Others) != len(want) {
		b.Errorf("again: %+v", r)
	}
}

func testNothing(b *bed) {
	r, err := b.run(b.Context(), b.both())
	b.wantDone(r, err)
}

// testRestless: a secret that somebody replaces whenever it is looked at is not called done.
func testRestless(b *bed) {
	b.fill(b.old(), "a")
	purpose, n := webhooks.SecretPurpose("a", "wh_1"), 0
	r, err := b.run(b.Context(), watched{Keeper: b.both(), open: func(opened string) error {
		if opened != purpose {
			return nil
		}
		n++
		_, err := b.ledger.Book("a").ChangeHook(b.Context(), "wh_1", func(h *serverdb.Hook) error {
			h.Secret = b.seal(b.old(), purpose, fmt.Sprint("rotated ", n))
			return nil
		})
		return err
	}})
	b.must(err)
	if len(r.Others) != 1 || !strings.Contains(r.Others[0], "webhook wh_1") {
		b.Errorf("%+v", r)
	}
	if got := b.read(b.both())["hook awh_1"]; got != fmt.Sprint("rotated ", n) {
		b.Errorf("the newest secret is lost: %q", got)
	}
}

// testExpired: responses whose day is over need no key.
func testExpired(b *bed) {
	b.fill(b.old(), "a")
	b.clock.Advance(24 * time.Hour)
	r, err := b.run(b.Context(), b.both())
	b.wantDone(r, err)
	if r.Responses != 0 {
		b.Errorf("%+v", r)
	}
}

// testWithoutKey: without the old key nothing is changed, and everything is named.
func testWithoutKey(b *bed) {
	b.fill(b.old(), "a")
	before := b.read(b.old())
	r, err := b.run(b.Context(), b.new())
	b.must(err)
	if r.Secrets != 0 || r.Resealed != 0 || len(r.Others) != b.expected+repliesEach {
		b.Errorf("%+v", r)
	}
	b.wantSame(b.read(b.old()), before)
}
