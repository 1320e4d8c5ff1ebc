package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake/bench/grow"
	"github.com/retake-dev/retake/bench/record"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/platform/config"
)

// Each round asks the hook this often, so that a tail can be told.
const hooksARound = 4

const (
	hookSession = "0b8f7a52-3c1d-4e6f-8a90-5d4c3b2a1f00"
	hookCalm    = 500 * time.Millisecond // after the last checkpoint: the store is tended by then
	hookWait    = 30 * time.Second       // for what a hook left to be done later
)

// hooked is an agent at work in one workspace: what it tells, and what it writes of
// the conversation.
type hooked struct {
	b          *bench
	h          *home
	f          *field
	bare       string
	foreign    string
	transcript string
	turn       int
}

// hook measures what an agent pays for telling us: the whole process of the line that
// it runs at each event, while the daemon is up.
func (b *bench) hook(ctx context.Context) error {
	if !b.can.daemon {
		b.miss(record.Daemon, "this build has none")
		return nil
	}
	plan := grow.Project(b.size.files, b.size.seed)
	f, err := b.tracked(ctx, "project", record.Retake, plan)
	if err != nil {
		return err
	}
	peer, err := b.gitField(ctx, plan)
	if err != nil {
		return err
	}
	k := &hooked{b: b, h: b.newHome(f.home, f.ws), f: f, transcript: filepath.Join(b.tmp, "transcript.jsonl"), foreign: filepath.Join(b.tmp, "foreign")}
	if err := k.prepare(ctx, peer); err != nil {
		return err
	}
	for i := range b.size.rounds {
		if err := k.round(ctx, i, peer); err != nil {
			return err
		}
	}
	k.tell()
	return f.end()
}

// gitField is shadow git beside us, nil when it is not there.
func (b *bench) gitField(ctx context.Context, plan *grow.Plan) (*field, error) {
	for _, k := range b.kits {
		if k.name != record.Git {
			continue
		}
		tree := *k
		save := k.save
		tree.save = func(home, ws string) [][]string { return save(home, ws)[:2] } // add -A, write-tree
		return b.peer(ctx, "project", &tree, plan, 0)
	}
	b.miss(record.Git, "not on the path")
	return nil, nil
}

func (k *hooked) prepare(ctx context.Context, peer *field) error {
	b := k.b
	if err := b.describe(k.f.ws); err != nil {
		return err
	}
	b.fact("retake hook claude-code, from start to exit, with the event on its input and the daemon up; %d times a round. git: add -A and write-tree. bare: a Go program that only ends.", hooksARound)
	source := filepath.Join(b.tmp, "bare", "main.go")
	k.bare = filepath.Join(b.tmp, "bare", "bare")
	err := errors.Join(os.MkdirAll(filepath.Dir(source), 0o755), os.MkdirAll(k.foreign, 0o755), os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o644))
	if err != nil {
		return fmt.Errorf("make bare program: %w", err)
	}
	if err := goRun(ctx, ".", "build", "-buildvcs=false", "-o", k.bare, source); err != nil {
		return err
	}
	for _, f := range []*field{k.f, peer} {
		if f == nil {
			continue
		}
		if _, err := f.capture(ctx); err != nil {
			return err
		}
	}
	if err := k.h.settled(ctx); err != nil {
		return err
	}
	if _, _, err := k.h.tracks(ctx); err != nil {
		return err
	}
	if _, err := k.prompts(ctx); err != nil { // what is done only once is done here
		return err
	}
	_, err = k.ends(ctx)
	return err
}

// round measures each event some times, and the peers once.
func (k *hooked) round(ctx context.Context, i int, peer *field) error {
	b := k.b
	for j := range hooksARound {
		at := uint64(roundsHook + i*hooksARound + j)
		for _, e := range turns([]edits{
			{key: record.HookSame, title: "nothing changed"},
			{key: record.HookShared, title: "10 files changed, shared directories", choose: k.f.plan.Shared, from: 0},
			{key: record.HookRandom, title: "10 files changed, random places", choose: k.f.plan.Random, from: 1000},
		}, i+j) {
			if err := k.event(ctx, e, at+uint64(e.from)); err != nil {
				return err
			}
			if j == 0 && peer != nil {
				if err := k.beside(ctx, peer, e, at+uint64(e.from)); err != nil {
					return err
				}
			}
		}
		if err := k.others(ctx); err != nil {
			return err
		}
	}
	say("round %d: %.1f ms at a prompt", i+1, last(b.rec.Find(record.HookSame)))
	return nil
}

func last(w *record.Row) float64 {
	if w == nil || len(w.Samples[record.Process]) == 0 {
		return 0
	}
	s := w.Samples[record.Process]
	return s[len(s)-1]
}

func (k *hooked) prompt(e edits) *record.Row {
	return k.b.row("k", e.key, record.Millis, "at a prompt, %s", e.title)
}

// event is one turn: a prompt after an edit, or after none, and its end.
func (k *hooked) event(ctx context.Context, e edits, at uint64) error {
	var files []int
	if e.choose != nil {
		files = e.choose(k.b.size.edits, at)
	}
	s, err := k.f.after(ctx, way{run: k.prompts}, files, at)
	if err != nil {
		return err
	}
	k.prompt(e).Add(record.Process, s.millis)
	u, err := k.ends(ctx)
	if err != nil {
		return err
	}
	k.b.row("k", record.HookEnd, record.Millis, "at the end of a turn").Add(record.Process, u.millis)
	return nil
}

func (k *hooked) beside(ctx context.Context, peer *field, e edits, at uint64) error {
	var files []int
	if e.choose != nil {
		files = e.choose(k.b.size.edits, at)
	}
	s, err := peer.after(ctx, peer.ways[0], files, at)
	if err != nil {
		return err
	}
	k.prompt(e).Add(record.Git, s.millis)
	return nil
}

// others are a directory that nobody protects, and a program that only ends.
func (k *hooked) others(ctx context.Context) error {
	u, err := k.tells(ctx, k.foreign, map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": "go on"})
	if err != nil {
		return err
	}
	k.b.row("k", record.HookForeign, record.Millis, "in a directory that was never protected").Add(record.Process, u.millis)
	u, err = k.b.steps(ctx, []command{{argv: []string{k.bare}, dir: k.foreign, env: k.b.shell()}})
	if err != nil {
		return err
	}
	k.b.row("k", record.HookStart, record.Millis, "a process starts and ends").Add(record.Bare, u.millis)
	return nil
}

// tells runs the hook with an event. It must have nothing to say.
func (k *hooked) tells(ctx context.Context, dir string, event map[string]any) (usage, error) {
	event["session_id"], event["transcript_path"], event["cwd"] = hookSession, k.transcript, dir
	event["prompt_id"] = fmt.Sprintf("turn-%d", k.turn)
	text, err := json.Marshal(event)
	if err != nil {
		return usage{}, fmt.Errorf("encode event: %w", err)
	}
	in := filepath.Join(k.b.tmp, "event.json")
	if err := os.WriteFile(in, text, 0o644); err != nil {
		return usage{}, fmt.Errorf("write event: %w", err)
	}
	c := k.h.command("hook", "claude-code")
	c.in, c.dir = in, dir
	return k.b.steps(ctx, []command{c})
}

func (k *hooked) prompts(ctx context.Context) (usage, error) {
	k.turn++
	return k.tells(ctx, k.f.ws, map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": "go on"})
}

// ends writes the last words, tells of them, and waits until the checkpoint is taken.
func (k *hooked) ends(ctx context.Context) (usage, error) {
	words := fmt.Sprintf("Turn %d is done.", k.turn)
	f, err := os.OpenFile(k.transcript, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return usage{}, fmt.Errorf("write transcript: %w", err)
	}
	_, err = fmt.Fprintf(f, `{"type":"assistant","sessionId":%q,"message":{"content":[{"type":"text","text":%q}]}}`+"\n", hookSession, words)
	if err = errors.Join(err, f.Close()); err != nil {
		return usage{}, fmt.Errorf("write transcript: %w", err)
	}
	u, err := k.tells(ctx, k.f.ws, map[string]any{"hook_event_name": "Stop", "last_assistant_message": words})
	if err != nil {
		return u, err
	}
	return u, k.calm(ctx)
}

// calm waits until nothing is left to do of what was told.
func (k *hooked) calm(ctx context.Context) error {
	signals := config.SignalsDir(filepath.Join(k.h.dir, "data"))
	for end := time.Now().Add(hookWait); queue.Count(signals) > 0; {
		if time.Now().After(end) {
			return fmt.Errorf("wait for a checkpoint: %d signals are not done", queue.Count(signals))
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return pause(ctx, hookCalm)
}

// tell sums up: what is in the middle, what 95 of 100 are not above, and the peers.
func (k *hooked) tell() {
	start, _ := k.b.rec.Find(record.HookStart).Median(record.Bare)
	for _, key := range []record.Key{record.HookSame, record.HookShared, record.HookRandom, record.HookEnd, record.HookForeign} {
		w := k.b.rec.Find(key)
		mid, ok := w.Median(record.Process)
		if !ok {
			continue
		}
		tail, _ := record.Tail(w.Samples[record.Process])
		text := fmt.Sprintf("The hook %s: %.1f ms in the middle, 95 of 100 below %.1f ms, %.1f× a bare program", w.Title, mid, tail, mid/start)
		if git, ok := w.Median(record.Git); ok {
			text += fmt.Sprintf(", 1/%.1f of git", git/mid)
		}
		k.b.fact("%s.", text)
	}
}
