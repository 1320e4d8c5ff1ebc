package webhooks_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/server/webhooks"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

func (d *fixture) decodeData(e retake.Event) retake.EventData {
	d.Helper()
	var v retake.EventData
	d.must(json.Unmarshal(e.Data, &v))
	return v
}

func eventTypes(events []retake.Event) []retake.EventType {
	var out []retake.EventType
	for _, e := range events {
		out = append(out, e.Type)
	}
	return out
}

// Each notice becomes its events, in order, and none is published twice.
func TestWhatNoticesTell(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.saveCheckpoint(nil)
	d.saveCheckpoint(func(cp *retake.Checkpoint) { cp.Trigger = retake.TriggerReturn })
	d.saveCheckpoint(func(cp *retake.Checkpoint) { cp.Trigger = retake.TriggerFork })
	cp := d.saveCheckpoint(func(cp *retake.Checkpoint) { cp.Effects = make([]retake.Effect, 3) })
	d.must(d.catalog.PutVerification(t.Context(), retake.Verification{
		ID: "vf_1", Workspace: workspaceID, Checkpoint: cp.ID, Number: cp.Number, Content: cp.Content, Name: "test", Verdict: retake.Failed, Started: startTime.Add(time.Minute),
	}))
	d.must(d.catalog.PutVerification(t.Context(), retake.Verification{
		ID: "vf_2", Workspace: workspaceID, Checkpoint: cp.ID, Number: cp.Number, Content: cp.Content, Name: "lint", Verdict: retake.Passed, Started: startTime.Add(2 * time.Minute),
	}))
	c := d.newDispatcher()
	d.runDue(c)
	d.forgetCheckpoints(1)
	d.runDue(c)
	events := d.events()
	want := []retake.EventType{
		retake.EventCreated, retake.EventCreated, retake.EventRestored, retake.EventCreated, retake.EventForked,
		retake.EventCreated, retake.EventEffect, retake.EventVerified, retake.EventVerified, retake.EventExpired,
	}
	if diff := cmp.Diff(want, eventTypes(events)); diff != "" {
		t.Fatalf("events (-want +got):\n%s", diff)
	}
	created, effect, failed, passed, expired := d.decodeData(events[5]), d.decodeData(events[6]), d.decodeData(events[7]), d.decodeData(events[8]), d.decodeData(events[9])
	if created.Number != 4 || created.Intent != "work 4" || created.Bytes != 1004 || created.Coverage != retake.Complete || created.Namespace != acme || created.Workspace != workspaceID {
		t.Errorf("%+v", created)
	}
	if effect.Count != 3 || failed.Answer != "failed" || failed.Name != "test" || passed.Answer != "passed" || passed.Name != "lint" {
		t.Errorf("%+v\n%+v\n%+v", effect, failed, passed)
	}
	if expired.Number != 1 || expired.Checkpoint != checkpointID(1) {
		t.Errorf("%+v", expired)
	}
	if left, err := d.catalog.Pending(t.Context(), 0); err != nil || len(left) != 0 {
		t.Errorf("%d notices are left: %v", len(left), err)
	}
	d.rebuildCatalog(c, cp)
	if n := len(d.events()); n != len(want) {
		t.Errorf("a catalog that was made again told %d events more", n-len(want))
	}
}

// rebuildCatalog rebuilds the catalog with the same content.
func (d *fixture) rebuildCatalog(c *webhooks.Dispatcher, last retake.Checkpoint) {
	d.Helper()
	var all []retake.Checkpoint
	for n := int64(2); n <= d.lastNumber; n++ {
		cp, err := d.catalog.Checkpoint(d.Context(), checkpointID(n))
		d.must(err)
		all = append(all, cp)
	}
	d.must(d.catalog.Reset(d.Context()))
	for _, cp := range all {
		d.must(d.catalog.Append(d.Context(), cp))
	}
	d.must(d.catalog.PutVerification(d.Context(), retake.Verification{
		ID: "vf_1", Workspace: workspaceID, Checkpoint: last.ID, Number: last.Number, Content: last.Content, Name: "test", Verdict: retake.Failed, Started: startTime.Add(time.Minute),
	}))
	if left, err := d.catalog.Pending(d.Context(), 0); err != nil || len(left) != len(all)+1 {
		d.Fatalf("%d notices: %v", len(left), err)
	}
	d.runDue(c)
}

// A checkpoint that was deleted before its event was published gets an event with what is known.
func TestForgottenMeanwhile(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	cp := d.saveCheckpoint(nil)
	d.must(d.catalog.PutVerification(t.Context(), retake.Verification{ID: "vf_1", Workspace: workspaceID, Checkpoint: cp.ID, Content: cp.Content, Verdict: retake.Passed, Started: startTime}))
	d.saveCheckpoint(nil)
	d.forgetCheckpoints(1)
	d.runDue(d.newDispatcher())
	events := d.events()
	if diff := cmp.Diff([]retake.EventType{retake.EventCreated, retake.EventCreated, retake.EventExpired}, eventTypes(events)); diff != "" {
		t.Fatalf("events (-want +got):\n%s", diff)
	}
	gone := d.decodeData(events[0])
	if gone.Checkpoint != checkpointID(1) || gone.Number != 1 || gone.Workspace != workspaceID || gone.Why == "" || !events[0].Time.Equal(startTime) {
		t.Errorf("%+v", gone)
	}
}

// More notices than one batch has are published in order.
func TestManyNotices(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	const n = 250
	for range n {
		d.saveCheckpoint(nil)
	}
	d.must(d.newDispatcher().DrainOutbox(t.Context(), acme))
	events := d.events()
	if len(events) != n {
		t.Fatalf("%d events", len(events))
	}
	for i, e := range events {
		if v := d.decodeData(e); v.Number != int64(i+1) || e.Seq != int64(i+1) {
			t.Fatalf("event %d, number %d, in place %d", e.Seq, v.Number, i+1)
		}
	}
}

// Texts are truncated between characters, and invalid UTF-8 is replaced.
func TestLongWords(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	in := newReceiver(t, nil)
	d.addWebhook("wh_1", in.url, retake.SchemeShared)
	d.saveCheckpoint(func(cp *retake.Checkpoint) { cp.Intent = "x" + strings.Repeat("ä", 60_000) })
	d.saveCheckpoint(func(cp *retake.Checkpoint) { cp.Intent = "bad \xff byte" })
	d.saveCheckpoint(func(cp *retake.Checkpoint) { cp.Intent = strings.Repeat("\x80", 5000) })
	d.runDue(d.newDispatcher())
	for _, e := range d.events() {
		if v := d.decodeData(e); !utf8.ValidString(v.Intent) || len(v.Intent) > 1100 || strings.Contains(strings.TrimSuffix(v.Intent, "…"), "\uFFFD") && v.Number == 1 {
			t.Errorf("%d bytes: %.40q", len(v.Intent), v.Intent)
		}
	}
	for _, m := range in.messages() {
		if len(m.body) >= 20_000 || !json.Valid(m.body) {
			t.Errorf("a body of %d bytes", len(m.body))
		}
	}
	if len(in.messages()) != 3 {
		t.Errorf("%d messages", len(in.messages()))
	}
}

// A namespace that cannot be opened, or causes a panic, does not affect others.
func TestTroubleStaysInItsNamespace(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.saveCheckpoint(nil)
	for _, ns := range []retake.NamespaceID{"panics", "fails", "elsewhere"} {
		d.must(d.ledger.Put(t.Context(), serverdb.Due{Queue: serverdb.QueueOutbox, Namespace: ns, At: startTime.Add(-time.Hour)}))
	}
	errAway, tries := errors.New("away"), map[retake.NamespaceID]int{}
	o := d.options()
	fine := o.OpenOutbox
	o.OpenOutbox = func(ctx context.Context, ns retake.NamespaceID) (webhooks.CatalogReader, func(), error) {
		if tries[ns]++; ns == "panics" {
			panic("as planned")
		}
		if ns != acme {
			return nil, nil, errAway
		}
		return fine(ctx, ns)
	}
	c := webhooks.New(o)
	for range 5 {
		for _, ns := range []retake.NamespaceID{acme, "panics", "fails"} {
			err := recoverPanic(func() error { return c.DrainOutbox(t.Context(), ns) })
			if (err == nil) != (ns == acme) {
				t.Errorf("%s: %v", ns, err)
			}
		}
	}
	clear(tries)
	d.runDue(webhooks.New(oneAtATime(o)))
	if len(d.events()) != 1 || tries["panics"] != 1 || tries["fails"] != 1 {
		t.Errorf("%d events, %v", len(d.events()), tries)
	}
	d.heldClock.Advance(2 * time.Minute)
	d.runDue(webhooks.New(oneAtATime(o)))
	if tries["panics"] != 2 || tries["fails"] != 2 {
		t.Errorf("they are not tried again: %v", tries)
	}
}

// oneAtATime makes a dispatcher open one outbox at a time.
func oneAtATime(o webhooks.Options) webhooks.Options {
	inner, turn := o.OpenOutbox, make(chan struct{}, 1)
	o.OpenOutbox = func(ctx context.Context, ns retake.NamespaceID) (webhooks.CatalogReader, func(), error) {
		turn <- struct{}{}
		defer func() { <-turn }()
		return inner(ctx, ns)
	}
	return o
}

func recoverPanic(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("panic")
		}
	}()
	return f()
}

// An outbox that another server has open is retried soon and is not logged as an error.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.saveCheckpoint(nil)
	errElsewhere, away := errors.New("another server has it"), true
	o := d.options()
	fine := o.OpenOutbox
	o.IsElsewhere = func(err error) bool { return errors.Is(err, errElsewhere) }
	o.OpenOutbox = func(ctx context.Context, ns retake.NamespaceID) (webhooks.CatalogReader, func(), error) {
		if away {
			return nil, nil, errElsewhere
		}
		return fine(ctx, ns)
	}
	c := webhooks.New(o)
	d.runDue(c)
	away = false
	d.heldClock.Advance(3 * time.Second)
	d.runDue(c)
	if len(d.events()) != 1 {
		t.Error("it was not looked for again")
	}
}

// Bytes that are not text do not prevent an event.
func TestComposeOfNoText(t *testing.T) {
	t.Parallel()
	e, err := webhooks.NewEvent(retake.EventMissed, startTime, retake.EventData{Namespace: acme, Why: strings.Repeat("\x80", 5000)}, "key")
	if err != nil || !json.Valid(e.Data) || len(e.Data) > 5000 {
		t.Errorf("%d bytes: %v", len(e.Data), err)
	}
	if other := webhooks.EventID(acme, retake.EventMissed, "k", "ey"); other == e.ID || webhooks.EventID(acme, retake.EventMissed, "key") != e.ID {
		t.Errorf("%s and %s", e.ID, other)
	}
}
