//go:build linux

package main

import (
	"fmt"
	"time"
)

func init() { register("CAGE", caged) }

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
func caged(r *run) []verdict {
	v := verdict{Guarantee: "CAGE", What: "hostile files cost bounded time and memory, and the checkpoint is whole", Control: "readers without a cage", Detail: map[string]any{}}
	start := time.Now()
	if err := tryCages(r, &v); err != nil {
		v.fail("%v", err)
	}
	v.Caught = uncaged(r, &v)
	v.Seconds = time.Since(start).Seconds()
	return []verdict{v}
}

func tryCages(r *run, v *verdict) error {
	b, err := newCageBed(r)
	if err != nil {
		return err
	}
	defer b.close(v)
	for _, h := range hostileFiles(r) {
		v.Tried++
		if err := b.try(h); err != nil {
			v.fail("%s: %v", h.name, err)
		}
	}
	if own, plain := middle(b.own), middle(b.plain); own > max(contextTimes*plain, plain+contextSlack) {
		v.fail("in the middle a save takes %s, one of plain bytes %s", own, plain)
	}
	if err := b.left(); err != nil {
		v.fail("%v", err)
	}
	b.tell(v)
	return nil
}

// tell writes down the worst of all.
func (b *cageBed) tell(v *verdict) {
	round := func(d time.Duration) string { return d.Round(100 * time.Microsecond).String() }
	v.Detail["save"], v.Detail["save_plain"], v.Detail["save_meanwhile_slowest"] = round(middle(b.own)), round(middle(b.plain)), round(b.worst.meanwhile)
	v.Detail["status_slowest"], v.Detail["statuses"] = round(b.worst.status), b.worst.statuses
	v.Detail["story_slowest"], v.Detail["story_slowest_of"] = round(b.worst.story), b.worst.storyOf
	v.Detail["daemon_grew_mb"], v.Detail["daemon_grew_at"], v.Detail["daemon_left_mb"] = b.worst.daemon>>20, b.worst.daemonAt, b.worst.left>>20
	v.Detail["readers_held_mb"], v.Detail["readers_held_at"] = b.worst.reader>>20, b.worst.readerAt
	v.Detail["confined_seen"], v.Detail["with_facts"], v.Detail["unread"], v.Detail["silent"] = b.worst.confined, b.worst.facts, b.worst.unread, b.worst.silent
}

// uncaged is the control: the same harness, and readers that nothing holds. One follows
// references wherever they lead, one starts a program that computes on.
func uncaged(r *run, v *verdict) (caught int64) {
	bomb := hostileFile{name: "a bomb of references", path: "config.yaml", bytes: text1(aliasBomb(12, 10)), silent: true}
	for _, reader := range []string{"naive", "starter"} {
		b, err := newUncaged(r, reader)
		if err != nil {
			v.fail("control: %v", err)
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
