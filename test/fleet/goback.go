//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
)

// goBack restores a checkpoint in one call and compares the files with what it must hold.
// After a restore without a good end the client tidies up by hand.
func (d *desk) goBack(ctx context.Context) error {
	one, ok := d.any()
	if !ok || !one.whole {
		return nil
	}
	return d.restore(ctx, one)
}

// most is how often a restore that was cut off is ended and asked for anew.
const most = 5

func (d *desk) restore(ctx context.Context, one ack) error {
	var a answer
	var err error
	tries := 0
	for range most {
		a, err = d.ask(ctx, one)
		if tries += a.tries; !a.partly() {
			break
		}
		d.mu.Lock()
		d.torn++
		d.mu.Unlock()
		d.settle(ctx)
	}
	var res retake.RestoreResult
	if err == nil {
		err = json.Unmarshal(a.body, &res)
	}
	if err != nil && !wantsRoom(a) {
		d.lost = true // who asked does not know what becomes of it
		return err
	}
	if err != nil || len(res.Failed) > 0 {
		return join(err, d.become(ctx, d.now))
	}
	return d.compare(ctx, one, &res, tries)
}

func (d *desk) ask(ctx context.Context, one ack) (answer, error) {
	return d.b.caller.do(ctx, deed{
		name: "restore", method: http.MethodPost, path: d.path("restore"), key: d.t.keys[retake.KeyAgent], once: uuid.NewString(),
		body: map[string]any{"ref": one.id, "accept": []string{retake.ObstacleMassDelete}},
		may:  func(a answer) bool { return wantsRoom(a) || a.partly() },
	})
}

// compare holds the files against what the checkpoint must hold.
func (d *desk) compare(ctx context.Context, one ack, res *retake.RestoreResult, tries int) error {
	is, err := onDisk(d.root)
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.backed++
	d.mu.Unlock()
	if is.digest() != one.digest {
		d.mistaken("after a restore of %s (%d tries): %s", one.id, tries, one.holds.diff(is))
		return d.become(ctx, d.now)
	}
	// A try before this one may have changed files: what was there then nobody knows.
	from := fmt.Sprintf("a restore, %d tries", tries)
	d.acknowledged(res.Safety.ID, "", "the safety of "+from, d.now, tries == 1 && res.Safety.Coverage.Grade == retake.Complete)
	d.now = one.holds
	d.acknowledged(res.Checkpoint.ID, "", from, d.now, res.Checkpoint.Coverage.Grade == retake.Complete)
	return nil
}

// wantsRoom: on a full disk a restore is refused, and nothing else is wrong.
func wantsRoom(a answer) bool {
	p := a.problem()
	return p.Code == "needs_confirmation" && strings.HasPrefix(p.What, retake.ObstacleSpace+":")
}

// settle ends a restore that was cut off, if one was.
func (d *desk) settle(ctx context.Context) {
	for _, course := range []retake.Course{retake.CourseFinish, retake.CourseUnwind} {
		a, err := d.b.caller.once(ctx, deed{method: http.MethodPost, path: d.path("plans"), key: d.t.keys[retake.KeyAgent], body: map[string]any{"course": course}})
		var p retake.Plan
		if err != nil || a.status != http.StatusOK || json.Unmarshal(a.body, &p) != nil {
			continue
		}
		var accept []string
		for _, o := range p.Obstacles {
			accept = append(accept, o.Class)
		}
		body := map[string]any{"course": course, "digest": p.Digest}
		if len(accept) > 0 {
			body["accept"] = accept
		}
		a, err = d.b.caller.once(ctx, deed{method: http.MethodPost, path: d.path("restores"), key: d.t.keys[retake.KeyAgent], body: body})
		if err == nil && a.status == http.StatusOK {
			return
		}
	}
}
