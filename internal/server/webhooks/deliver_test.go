package webhooks_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/webhook"
	"github.com/retake-dev/retake/internal/server/webhooks"
)

// A message arrives, and its receiver can verify it by the standard, in both schemes.
func TestArrivesSigned(t *testing.T) {
	t.Parallel()
	for _, scheme := range []retake.Scheme{retake.SchemeShared, retake.SchemePair} {
		t.Run(string(scheme), func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			in := newReceiver(t, nil)
			shown := d.addWebhook("wh_1", in.url, scheme)
			d.saveCheckpoint(nil)
			d.runDue(d.newDispatcher())
			got := in.messages()
			if len(got) != 1 {
				t.Fatalf("%d messages arrived", len(got))
			}
			m := got[0]
			if err := webhook.Verify(shown, m.header, m.body, d.clock.Now()); err != nil {
				t.Error(err)
			}
			_, stranger, _ := webhook.NewSecret(scheme)
			if webhook.Verify(stranger, m.header, m.body, d.clock.Now()) == nil {
				t.Error("another secret fits too")
			}
			if ct, ua := m.header.Get("content-type"), m.header.Get("user-agent"); ct != "application/json" || !strings.HasPrefix(ua, "Retake") {
				t.Errorf("content-type %q, user-agent %q", ct, ua)
			}
			var body struct {
				Type retake.EventType
				Data retake.EventData
			}
			d.must(json.Unmarshal(m.body, &body))
			if body.Type != retake.EventCreated || body.Data.Checkpoint != checkpointID(1) || body.Data.Address != "/v1/"+string(checkpointID(1)) || body.Data.Head == "" {
				t.Errorf("%+v", body)
			}
			v := d.onlyDelivery()
			if v.ID != m.id || v.State != retake.DeliveryDelivered || v.Next != nil || len(v.Tries) != 1 || v.Tries[0].Status != 204 {
				t.Errorf("%+v", v)
			}
		})
	}
}

// A webhook for the alias of a type gets the alias; a webhook for both gets both.
func TestOtherNames(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	in := newReceiver(t, nil)
	d.addWebhook("wh_1", in.url, retake.SchemeShared, retake.EventCreated, retake.EventSnapshotCreated)
	d.saveCheckpoint(nil)
	d.runDue(d.newDispatcher())
	names := map[string]bool{}
	ids := map[string]bool{}
	for _, m := range in.messages() {
		var body struct{ Type string }
		d.must(json.Unmarshal(m.body, &body))
		names[body.Type], ids[m.id] = true, true
	}
	if !names["checkpoint.created"] || !names["snapshot.created"] || len(names) != 2 || len(ids) != 2 {
		t.Errorf("%v %v", names, ids)
	}
}

// For a day after a rotation both secrets verify, then only the new one.
func TestRotation(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	in := newReceiver(t, nil)
	was := d.addWebhook("wh_1", in.url, retake.SchemeShared)
	h, err := d.book.Hook(t.Context(), "wh_1")
	d.must(err)
	private, shown, _ := webhook.NewSecret(retake.SchemeShared)
	at := d.clock.Now()
	h.Old, h.Secret, h.Rotated = h.Secret, d.sealSecret("wh_1", private), &at
	d.must(d.book.PutHook(t.Context(), h))
	c := d.newDispatcher()
	for _, step := range []struct {
		move time.Duration
		both bool
	}{{0, true}, {24*time.Hour - time.Second, true}, {time.Second, false}} {
		d.heldClock.Advance(step.move)
		d.saveCheckpoint(nil)
		d.runDue(c)
		all := in.messages()
		m := all[len(all)-1]
		if err := webhook.Verify(shown, m.header, m.body, d.clock.Now()); err != nil {
			t.Errorf("new secret after %v: %v", d.clock.Now().Sub(at), err)
		}
		if fits := webhook.Verify(was, m.header, m.body, d.clock.Now()) == nil; fits != step.both {
			t.Errorf("old secret after %v fits: %v", d.clock.Now().Sub(at), fits)
		}
	}
}

// After a 410 response the webhook is disabled, and its waiting messages are dead.
func TestGone(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	in := newReceiver(t, respondWith(http.StatusGone))
	d.addWebhook("wh_1", in.url, retake.SchemeShared)
	o := d.options()
	o.Concurrency = 1 // the second message is not sent together with the first
	c := webhooks.New(o)
	d.saveCheckpoint(nil)
	d.saveCheckpoint(nil)
	d.runDue(c)
	for range 10 { // items that wait for their lane
		d.heldClock.Advance(time.Second)
		d.runDue(c)
	}
	if n := len(in.messages()); n != 1 {
		t.Errorf("%d messages arrived", n)
	}
	h, err := d.book.Hook(t.Context(), "wh_1")
	d.must(err)
	if h.Disabled == nil || !strings.Contains(h.Why, "410") {
		t.Errorf("%+v", h.Webhook)
	}
	dead, err := d.book.Deliveries(t.Context(), retake.DeliveryQuery{State: retake.DeliveryDead})
	d.must(err)
	if len(dead) != 2 {
		t.Fatalf("%d dead letters: %+v", len(dead), dead)
	}
	if first := dead[1].Tries[0]; first.Status != http.StatusGone {
		t.Errorf("%+v", first)
	}
	if second := dead[0].Tries[0]; second.Status != 0 || !strings.Contains(second.Why, "disabled") {
		t.Errorf("%+v", second)
	}
	d.saveCheckpoint(nil)
	d.runDue(c)
	if n := len(in.messages()); n != 1 {
		t.Error("a disabled webhook was told")
	}
}

// A message to a deleted webhook is a dead letter, not an error.
func TestDroppedWebhook(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.addWebhook("wh_1", "http://127.0.0.1:1/", retake.SchemeShared)
	d.saveCheckpoint(nil)
	c := d.newDispatcher()
	d.must(c.DrainOutbox(t.Context(), acme))
	d.must(d.book.DropHook(t.Context(), "wh_1"))
	d.runDue(c)
	if v := d.onlyDelivery(); v.State != retake.DeliveryDead || !strings.Contains(v.Tries[0].Why, "gone") {
		t.Errorf("%+v", v)
	}
}

// A Retry-After of the receiver is respected.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	in := newReceiver(t, func(n int, w http.ResponseWriter) {
		if n == 1 {
			w.Header().Set("Retry-After", "7200")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	d.addWebhook("wh_1", in.url, retake.SchemeShared)
	d.saveCheckpoint(nil)
	c := d.newDispatcher()
	d.runDue(c)
	d.heldClock.Advance(2*time.Hour - time.Second)
	d.runDue(c)
	if n := len(in.messages()); n != 1 {
		t.Fatalf("%d tries before its time", n)
	}
	d.heldClock.Advance(time.Second)
	d.runDue(c)
	if v := d.onlyDelivery(); len(in.messages()) != 2 || v.State != retake.DeliveryDelivered {
		t.Errorf("%d tries, %+v", len(in.messages()), v)
	}
}

// Ten attempts at the intervals of the table, then a dead letter, which can be replayed.
func TestTableThenDeadThenReplay(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	in := newReceiver(t, func(n int, w http.ResponseWriter) {
		if n <= 10 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	shown := d.addWebhook("wh_1", in.url, retake.SchemeShared)
	d.saveCheckpoint(nil)
	c := d.newDispatcher()
	for try := 1; ; try++ {
		d.runDue(c)
		v := d.onlyDelivery()
		if n := len(in.messages()); n != try || len(v.Tries) != try {
			t.Fatalf("%d arrived and %d are written down, want %d", n, len(v.Tries), try)
		}
		if v.Next == nil {
			break
		}
		pause := v.Next.Sub(d.clock.Now())
		if low := webhook.Delays[try]; pause < low || pause > low+low/5 {
			t.Errorf("pause %d is %v, the table says %v", try, pause, low)
		}
		d.heldClock.Advance(pause - time.Second)
		d.runDue(c)
		if len(in.messages()) != try {
			t.Errorf("try %d came before its time", try+1)
		}
		d.heldClock.Advance(time.Second)
	}
	v := d.onlyDelivery()
	if len(v.Tries) != len(webhook.Delays) || v.State != retake.DeliveryDead {
		t.Fatalf("%d tries, then %s", len(v.Tries), v.State)
	}
	d.heldClock.Advance(time.Hour)
	d.runDue(c)
	if n := len(in.messages()); n != 10 {
		t.Fatalf("a dead letter was sent: %d", n)
	}
	again, err := c.Replay(t.Context(), acme, v.ID)
	d.must(err)
	if again.State != retake.DeliveryWaiting {
		t.Errorf("%+v", again)
	}
	d.runDue(c)
	all := in.messages()
	first, last := all[0], all[len(all)-1]
	if len(all) != 11 || last.id != first.id || !bytes.Equal(last.body, first.body) {
		t.Fatalf("%d messages; %s then %s", len(all), first.id, last.id)
	}
	if webhook.Verify(shown, last.header, last.body, d.clock.Now()) != nil || webhook.Verify(shown, first.header, first.body, d.clock.Now()) == nil {
		t.Error("the replay is not signed anew")
	}
	if v := d.onlyDelivery(); v.State != retake.DeliveryDelivered || len(v.Tries) != 11 {
		t.Errorf("%s after %d tries", v.State, len(v.Tries))
	}
	if _, err := c.Replay(t.Context(), acme, "msg_none"); !retake.IsKind(err, retake.NotFound) {
		t.Errorf("replay of nothing: %v", err)
	}
}

// A secret that cannot be opened does not count as an attempt: the fault is ours.
func TestSealedByAnother(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	in := newReceiver(t, nil)
	d.addWebhook("wh_2", in.url, retake.SchemeShared)
	h, err := d.book.Hook(t.Context(), "wh_2")
	d.must(err)
	h.ID = "wh_1" // what was sealed for one webhook opens for no other
	d.must(d.book.PutHook(t.Context(), h))
	d.must(d.book.DropHook(t.Context(), "wh_2"))
	d.saveCheckpoint(nil)
	c := d.newDispatcher()
	d.runDue(c)
	if v := d.onlyDelivery(); len(in.messages()) != 0 || len(v.Tries) != 0 || v.State != retake.DeliveryWaiting {
		t.Fatalf("%d arrived, %+v", len(in.messages()), v)
	}
	private, _, _ := webhook.NewSecret(retake.SchemeShared)
	h.Secret = d.sealSecret("wh_1", private)
	d.must(d.book.PutHook(t.Context(), h))
	d.heldClock.Advance(2 * time.Minute)
	d.runDue(c)
	if len(in.messages()) != 1 {
		t.Error("it is not tried again")
	}
}
