//go:build linux

// Package cage saves files that are made to cost time and memory: the cage must hold, and
// the checkpoint be whole.
package cage

import (
	"fmt"
	"time"

	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() { harness.Register("CAGE", caged) }

// What a hostile file may cost.
const (
	cageSaveTimes  = 3 // beside a save of as many plain bytes
	cageSaveSlack  = time.Second
	cageStatusTime = time.Second
	cageStoryTime  = 30 * time.Second
	cageDaemonMost = 300 << 20  // more than the daemon held before it
	cageReaderMost = 1500 << 20 // of all that it starts
)

// caged: whatever a file holds, the checkpoint that has it is whole and there in its usual
// time, the daemon lives and answers, and what the file means is told or said to be
// unread, in bounded time and memory.
func caged(r *harness.Run) []harness.Verdict {
	v := harness.Verdict{Guarantee: "CAGE", What: "hostile files cost bounded time and memory, and the checkpoint is whole", Control: "readers without a cage", Detail: map[string]any{}}
	start := time.Now()
	if err := tryCages(r, &v); err != nil {
		v.Fail("%v", err)
	}
	v.Caught = uncaged(r, &v)
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

func tryCages(r *harness.Run, v *harness.Verdict) error {
	b, err := newCageBed(r)
	if err != nil {
		return err
	}
	defer b.close(v)
	for _, h := range hostileFiles(r) {
		v.Tried++
		if err := b.try(h); err != nil {
			v.Fail("%s: %v", h.name, err)
		}
	}
	if own, plain := harness.Middle(b.own), harness.Middle(b.plain); own > max(daemonbed.ContextTimes*plain, plain+daemonbed.ContextSlack) {
		v.Fail("in the middle a save takes %s, one of plain bytes %s", own, plain)
	}
	if err := b.left(); err != nil {
		v.Fail("%v", err)
	}
	b.tell(v)
	return nil
}

// tell writes down the worst of all.
func (b *cageBed) tell(v *harness.Verdict) {
	round := func(d time.Duration) string { return d.Round(100 * time.Microsecond).String() }
	v.Detail["save"], v.Detail["save_plain"], v.Detail["save_meanwhile_slowest"] = round(harness.Middle(b.own)), round(harness.Middle(b.plain)), round(b.worst.meanwhile)
	v.Detail["status_slowest"], v.Detail["statuses"] = round(b.worst.status), b.worst.statuses
	v.Detail["story_slowest"], v.Detail["story_slowest_of"] = round(b.worst.story), b.worst.storyOf
	v.Detail["daemon_grew_mb"], v.Detail["daemon_grew_at"], v.Detail["daemon_left_mb"] = b.worst.daemon>>20, b.worst.daemonAt, b.worst.left>>20
	v.Detail["readers_held_mb"], v.Detail["readers_held_at"] = b.worst.reader>>20, b.worst.readerAt
	v.Detail["confined_seen"], v.Detail["with_facts"], v.Detail["unread"], v.Detail["silent"] = b.worst.confined, b.worst.facts, b.worst.unread, b.worst.silent
}

// uncaged is the control: the same harness, and readers that nothing holds. One follows
// references wherever they lead, one starts a program that computes on.
func uncaged(r *harness.Run, v *harness.Verdict) (caught int64) {
	bomb := hostileFile{name: "a bomb of references", path: "config.yaml", bytes: text1(aliasBomb(12, 10)), silent: true}
	for _, reader := range []string{"naive", "starter"} {
		b, err := newUncaged(r, reader)
		if err != nil {
			v.Fail("control: %v", err)
			continue
		}
		err = b.try(bomb)
		v.Detail["control_"+reader] = fmt.Sprint(err)
		if err != nil {
			caught++
		}
		b.endAll()
		b.close(v)
	}
	return caught
}
