//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/retake-dev/retake"
)

const (
	messageTime = 75 * time.Second // in which every message must have arrived: the claim of a server that was killed ends after a minute
	messageMore = 4 * time.Minute  // for which we go on to look, to tell late from never
	judgeHands  = 4
)

// judge holds the fleet to all that it acknowledged.
func (b *bed) judge(ctx context.Context, res *result) error {
	calm := time.Now()
	told := b.judgeMessages(ctx, res.Chaos, calm)
	note("judge: messages %d of %d missing", told.Failed, told.Tried)
	exist, twice := b.judgeTimelines(ctx)
	note("judge: checkpoints %d of %d missing, %d twice", exist.Failed, exist.Tried, twice.Failed)
	equal := b.judgeBytes(ctx, b.sample())
	note("judge: %d of %d read back otherwise", equal.Failed, equal.Tried)
	back := b.judgeRestores(ctx)
	audit := b.judgeAudits(ctx)
	rows := []*verdict{&exist, &twice, &equal, &back, &told, &audit}
	if err := ctx.Err(); err != nil {
		return err
	}
	b.chaosControls(ctx, &exist, &twice, &equal, &told, &audit)
	for _, v := range rows {
		res.Rows = append(res.Rows, *v)
	}
	return ctx.Err()
}

func row(what, control string) (verdict, func(*verdict)) {
	began := time.Now()
	return verdict{Guarantee: "CHAOS", What: what, Control: control}, func(v *verdict) { v.Seconds = time.Since(began).Seconds() }
}

// missing answers acknowledged checkpoints that no message told of.
func (b *bed) missing(desks []*desk) (out []string, tried int64) {
	for _, d := range desks {
		for _, a := range d.all() {
			tried++
			if b.hooks.has(d.t.ns, a.id) == 0 {
				out = append(out, fmt.Sprintf("%s/%s: no message of %s", d.t.ns, d.ws, a.id))
			}
		}
	}
	return out, tried
}

func (b *bed) judgeMessages(ctx context.Context, r *chaosResult, calm time.Time) (v verdict) {
	v, end := row("each checkpoint is told to the webhook, signed, in 75 s", "an outbox that forgets one notice")
	defer end(&v)
	var late []string
	for {
		var gone []string
		gone, v.Tried = b.missing(b.desks)
		since := time.Since(calm)
		if len(gone) == 0 || since > messageTime+messageMore || ctx.Err() != nil {
			r.Late = since.Seconds()
			late = append(late, gone...)
			break
		}
		if since > messageTime && len(late) == 0 {
			late = gone
			note("messages: %d are late", len(late))
		}
		wait(ctx, 200*time.Millisecond)
	}
	for _, text := range late {
		v.fail("%s", text)
	}
	messages, forged, why := b.hooks.told()
	r.Messages = messages
	if forged > 0 {
		v.fail("%d messages with a wrong signature or body: %s", forged, why)
	}
	v.Detail = map[string]any{"messages": messages, "last_after_seconds": r.Late}
	return v
}

// line is the timeline of a workspace, by what must be there once.
type line struct {
	ids     map[retake.CheckpointID]int64
	intents map[string]int
	numbers map[int64]int
}

func (d *desk) timeline(ctx context.Context) (line, error) {
	l := line{map[retake.CheckpointID]int64{}, map[string]int{}, map[int64]int{}}
	before := ""
	for {
		a, err := d.b.caller.do(ctx, d.get("", d.path("checkpoints?limit=500"+before)))
		if err != nil {
			return l, err
		}
		var t retake.Timeline
		if err := json.Unmarshal(a.body, &t); err != nil {
			return l, err
		}
		for i := range t.Checkpoints {
			cp := &t.Checkpoints[i]
			l.ids[cp.ID] = cp.Number
			l.numbers[cp.Number]++
			if cp.Intent != "" && cp.Trigger == retake.TriggerManual {
				l.intents[cp.Intent]++
			}
		}
		if len(t.Checkpoints) < 500 {
			return l, nil
		}
		before = fmt.Sprintf("&before=%d", t.Checkpoints[len(t.Checkpoints)-1].Number)
	}
}

// each does something for every one of many, by some hands.
func each[T any](all []T, do func(T)) {
	next := make(chan T)
	var hands sync.WaitGroup
	for range judgeHands {
		hands.Go(func() {
			for x := range next {
				do(x)
			}
		})
	}
	for _, x := range all {
		next <- x
	}
	close(next)
	hands.Wait()
}

func (b *bed) judgeTimelines(ctx context.Context) (exist, twice verdict) {
	exist, endExist := row("acknowledged checkpoints are listed and found", "a row of the catalog that is deleted")
	twice, endTwice := row("no checkpoint twice for one idempotency key", "two requests for one intent")
	var mu sync.Mutex
	each(b.desks, func(d *desk) {
		l, err := d.timeline(ctx)
		mu.Lock()
		defer mu.Unlock()
		d.holdTo(l, err, &exist, &twice)
	})
	var found []asked
	for _, d := range b.desks {
		for _, a := range d.all() {
			found = append(found, asked{d, a})
		}
	}
	found = some(found, b.o.sample*4, b.o.seed)
	each(found, func(q asked) {
		a, err := b.caller.do(ctx, q.d.get("", q.d.path("find?ref="+string(q.a.id))))
		var cp retake.Checkpoint
		if err == nil {
			err = json.Unmarshal(a.body, &cp)
		}
		mu.Lock()
		defer mu.Unlock()
		if err != nil || cp.ID != q.a.id {
			exist.fail("%s/%s: %s is not found: %v", q.d.t.ns, q.d.ws, q.a.id, err)
		}
	})
	endExist(&exist)
	endTwice(&twice)
	return exist, twice
}

// asked is a checkpoint of a workspace.
type asked struct {
	d *desk
	a ack
}

// some answers at most n of many, at random.
func some[T any](all []T, n int, seed int64) []T {
	if len(all) <= n {
		return all
	}
	rand.New(rand.NewPCG(uint64(seed), 3)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:n]
}

func (d *desk) holdTo(l line, err error, exist, twice *verdict) {
	if err != nil {
		exist.fail("%s/%s: %v", d.t.ns, d.ws, err)
	}
	for _, a := range d.all() {
		exist.Tried++
		if _, ok := l.ids[a.id]; !ok {
			exist.fail("%s/%s: %s was acknowledged and is not listed: of %s, key %s", d.t.ns, d.ws, a.id, a.from, a.key)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for key := range d.keys {
		twice.Tried++
		if n := l.intents[key]; n > 1 {
			twice.fail("%s/%s: %d checkpoints for key %s", d.t.ns, d.ws, n, key)
		}
	}
	for number, n := range l.numbers {
		if n > 1 {
			twice.fail("%s/%s: number %d is there %d times", d.t.ns, d.ws, number, n)
		}
	}
}

// sample chooses what is read back.
func (b *bed) sample() []asked {
	var all []asked
	for _, d := range b.desks {
		for _, a := range d.all() {
			if a.whole {
				all = append(all, asked{d, a})
			}
		}
	}
	return some(all, b.o.sample, b.o.seed)
}

func (b *bed) judgeBytes(ctx context.Context, sample []asked) (v verdict) {
	v, end := row("checkpoints read back as archives equal what was saved", "an object of the bucket that is deleted")
	defer end(&v)
	var mu sync.Mutex
	each(sample, func(q asked) {
		is, err := q.d.archive(ctx, q.a)
		mu.Lock()
		defer mu.Unlock()
		v.Tried++
		switch {
		case err != nil:
			v.fail("%s/%s: %s of %s: %v", q.d.t.ns, q.d.ws, q.a.id, q.a.from, err)
		case is.digest() != q.a.digest:
			v.fail("%s/%s: %s of %s: %s", q.d.t.ns, q.d.ws, q.a.id, q.a.from, q.a.holds.diff(is))
		}
	})
	return v
}

// archive reads a checkpoint; one that breaks off is asked for again.
func (d *desk) archive(ctx context.Context, a ack) (is tree, err error) {
	for range 3 {
		var res *http.Response
		if res, err = d.b.caller.send(ctx, d.get("", d.path("checkpoints/"+string(a.id)+"/archive"))); err != nil {
			continue
		}
		if res.StatusCode != http.StatusOK {
			err = fmt.Errorf("its archive: %s", res.Status)
		} else {
			is, err = inArchive(res.Body)
		}
		err = join(err, res.Body.Close())
		if err == nil {
			return is, nil
		}
	}
	return nil, err
}

// judgeRestores goes back once in every workspace whose files are known.
func (b *bed) judgeRestores(ctx context.Context) verdict {
	began := time.Now()
	each(b.desks, func(d *desk) {
		if !d.lost {
			_ = d.goBack(ctx) // what is wrong with it is counted
		}
	})
	v := b.backRow("CHAOS", "files read and restored are those that were saved")
	v.Seconds = time.Since(began).Seconds()
	return v
}

func (b *bed) judgeAudits(ctx context.Context) (v verdict) {
	v, end := row("audit chains hold", "an entry that somebody changed")
	defer end(&v)
	for _, t := range b.tenants {
		p, err := b.audit(ctx, t)
		v.Tried += max(1, p.Entries)
		if err != nil || p.Broken != 0 {
			v.fail("%s: broken at %d: %s %v", t.ns, p.Broken, p.Why, err)
		}
	}
	return v
}

func (b *bed) audit(ctx context.Context, t *tenant) (p retake.AuditProof, err error) {
	a, err := b.caller.do(ctx, deed{method: http.MethodGet, path: "/v1/audit/check", key: t.keys[retake.KeyAdmin]})
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(a.body, &p)
}
