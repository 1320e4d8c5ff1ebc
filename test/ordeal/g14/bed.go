//go:build linux

package g14

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/hook"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/treebed"
)

// twins are two workspaces with the same files and the same times. An agent works in
// the first one only.
type twins struct {
	run      *harness.Run
	dir      string
	self     string // the program that reads files for their meaning; empty: none
	home     string // of the user
	set      *config.Settings
	data     string
	svc      *service.Service
	ids      [2]retake.WorkspaceID
	agent    *daemonbed.Speaker
	fault    contextFault
	step     int
	last     retake.Checkpoint // of the twin
	plain    []time.Duration
	own      map[retake.SignalKind][]time.Duration
	calm     []time.Duration                         // the longest of each row of plain saves after a turn
	after    []time.Duration                         // the same of the checkpoints of other agents
	sloppily func(t *twins, sig retake.Signal) error // what the control does before a checkpoint
}

// troubled lets an agent work under a fault, and compares each of its checkpoints.
func troubled(r *harness.Run, f contextFault, reps int, sloppily func(*twins, retake.Signal) error) (t *twins, err error) {
	p, err := treebed.NewPlace(r, "tmpfs") // how fast a disk is does not matter here
	if err != nil {
		return nil, err
	}
	defer p.End()
	t = &twins{run: r, dir: p.Dir, home: "/nobody", data: filepath.Join(p.Dir, "data"), fault: f, sloppily: sloppily, own: map[retake.SignalKind][]time.Duration{}}
	ctx := context.Background()
	if err := t.plant(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.close(), nobodyLeft()) }()
	for range reps {
		if err := t.rep(ctx); err != nil {
			return t, err
		}
	}
	return t, nil
}

func (t *twins) open(ctx context.Context) error {
	set, err := config.Load(filepath.Join(t.dir, "config.json"))
	if err != nil {
		return err
	}
	if err := set.Set("tracker", "scan"); err != nil {
		return err
	}
	t.set = set
	return inTime("open", func() error {
		s, err := assemble.OpenService(ctx, config.Config{DataDir: t.data, Home: t.home, BootID: "this run", Executable: t.self}, set, assemble.Options{Derivation: harness.Derivation, Exclusive: true})
		if err == nil {
			t.svc = s
		}
		return err
	})
}

// close closes what is open.
func (t *twins) close() error {
	s := t.svc
	if t.svc = nil; s == nil {
		return nil
	}
	return inTime("close", s.Close)
}

// inTime does something that must not hang.
func inTime(what string, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(harness.Patience):
		return fmt.Errorf("%s takes longer than %s", what, harness.Patience)
	}
}

// nobodyLeft wants every process gone that context needed.
func nobodyLeft() error {
	if daemonbed.Await(func() bool { return len(daemonbed.Below(os.Getpid())) == 0 }) {
		return nil
	}
	return fmt.Errorf("%d processes are left", len(daemonbed.Below(os.Getpid())))
}

func (t *twins) root(i int) string { return filepath.Join(t.dir, []string{"mine", "twin"}[i], "shop") }

func (t *twins) transcript() string { return filepath.Join(t.dir, "talk", "session.jsonl") }

func (t *twins) state() string {
	return filepath.Join(t.data, "sessions", string(t.ids[0])+".json")
}

func (t *twins) plant(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(t.transcript()), 0o755); err != nil {
		return err
	}
	if err := t.open(ctx); err != nil {
		return err
	}
	for i := range 2 {
		for f := range daemonbed.TwinFiles {
			path := filepath.Join(t.root(i), fmt.Sprintf("d%d", f%6), fmt.Sprintf("f%d", f))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(path[len(t.root(i)):]), 0o644)); err != nil {
				return err
			}
		}
		err := filepath.WalkDir(t.root(i), func(path string, _ os.DirEntry, err error) error {
			return errors.Join(err, treebed.SetTime(path, 1.7e18))
		})
		if err != nil {
			return err
		}
		res, err := t.svc.Init(ctx, retake.InitRequest{Dir: t.root(i)})
		if err != nil {
			return err
		}
		t.ids[i] = res.Workspace.ID
	}
	return nil
}

// edit changes a file of both in the same way.
func (t *twins) edit() error {
	t.step++
	for i := range 2 {
		path := filepath.Join(t.root(i), fmt.Sprintf("d%d", t.step%6), fmt.Sprintf("f%d", t.step%6))
		if err := errors.Join(os.WriteFile(path, fmt.Appendf(nil, "step %d", t.step), 0o644), treebed.SetTime(path, 1.7e18+int64(t.step))); err != nil {
			return err
		}
	}
	return nil
}

// rep is one turn of a new session.
func (t *twins) rep(ctx context.Context) error {
	t.agent = daemonbed.NewSpeaker("claude-code", t.root(0), t.transcript())
	t.agent.Begin(fmt.Sprintf("step %d", t.step), false)
	if err := t.talk(); err != nil {
		return err
	}
	if t.fault.anew {
		if err := t.close(); err != nil {
			return err
		}
	}
	end := func() {}
	if t.fault.arrange != nil {
		var err error
		if end, err = t.fault.arrange(t); err != nil {
			return err
		}
	}
	defer end()
	if t.fault.anew {
		if err := t.open(ctx); err != nil {
			return fmt.Errorf("open: %w", err)
		}
	}
	for _, kind := range daemonbed.TurnEvents {
		if err := t.event(ctx, kind); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	if t.fault.lasts {
		return t.follow(ctx)
	}
	return nil
}

const (
	followers   = 15
	followEvery = 60 * time.Millisecond
)

// follow lets other agents begin their turns while what was said in this one is kept.
func (t *twins) follow(ctx context.Context) error {
	was := t.agent
	defer func() { t.agent = was }()
	var calm, after time.Duration
	for i := range followers {
		<-time.After(followEvery) // spread over what goes on behind the turn
		t.agent = daemonbed.NewSpeaker("claude-code", t.root(0), "")
		t.agent.Begin(fmt.Sprintf("follower %d", i), false)
		if err := t.event(ctx, retake.SignalPrompt); err != nil {
			return fmt.Errorf("a prompt after it: %w", err)
		}
		own := t.own[retake.SignalPrompt]
		calm, after = max(calm, t.plain[len(t.plain)-1]), max(after, own[len(own)-1])
	}
	t.calm, t.after = append(t.calm, calm), append(t.after, after)
	return nil
}

// talk writes the conversation as it is when nothing is wrong with it.
func (t *twins) talk() error {
	if err := os.RemoveAll(t.transcript()); err != nil {
		return err
	}
	text := fmt.Sprintf(`{"type":"assistant","message":{"content":[{"type":"text","text":%q}]}}`+"\n", "Done: "+t.agent.Prompt)
	return os.WriteFile(t.transcript(), []byte(text), 0o644)
}

// event tells one thing. A prompt and the end of a turn follow an edit, and are
// compared with a save of the twin.
func (t *twins) event(ctx context.Context, kind retake.SignalKind) error {
	measured := kind == retake.SignalPrompt || kind == retake.SignalTurnEnd
	if measured {
		if err := t.edit(); err != nil {
			return err
		}
		began := time.Now()
		res, err := t.svc.Save(ctx, retake.SaveRequest{Workspace: t.ids[1]})
		if err != nil {
			return fmt.Errorf("save of the twin: %w", err)
		}
		t.plain, t.last = append(t.plain, time.Since(began)), res.Checkpoint
	}
	signals, err := t.signals(kind)
	if err != nil {
		return err
	}
	for _, sig := range signals {
		began := time.Now()
		cp, err := t.observe(ctx, sig)
		if err != nil {
			return err
		}
		took := time.Since(began)
		if cp == nil && sig.Kind == kind && measured {
			return errors.New("there is no checkpoint")
		}
		t.own[sig.Kind] = append(t.own[sig.Kind], took)
		if cp != nil && (cp.Tree != t.last.Tree || cp.Content != t.last.Content || cp.Coverage.Grade != t.last.Coverage.Grade) {
			return fmt.Errorf("checkpoint %d is tree %.12s, content %.12s, %s; the twin is %.12s, %.12s, %s",
				cp.Number, cp.Tree, cp.Content, cp.Coverage.Grade, t.last.Tree, t.last.Content, t.last.Coverage.Grade)
		}
	}
	return nil
}

// signals are what the adapter makes of the event.
func (t *twins) signals(kind retake.SignalKind) ([]retake.Signal, error) {
	_, payload := t.agent.Says(kind)
	if t.fault.payload != nil {
		payload = t.fault.payload(kind, payload)
	}
	h, err := hook.Translate(t.agent.Agent, payload, hook.EventContext{Dir: t.root(0), Now: time.Now(), NewID: queue.NewID})
	if len(h.Signals) == 0 {
		return nil, fmt.Errorf("no signal: %w", err)
	}
	return h.Signals, nil
}

// observe tells a signal and gives its checkpoint, when it makes one.
func (t *twins) observe(ctx context.Context, sig retake.Signal) (*retake.Checkpoint, error) {
	if t.sloppily != nil {
		if err := t.sloppily(t, sig); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, harness.Patience)
	defer cancel()
	r, err := t.svc.Observe(ctx, sig)
	if err != nil || !r.Later {
		return r.Checkpoint, err
	}
	id := retake.CheckpointPrefix + string(sig.ID)[len(retake.SignalPrefix):]
	for {
		cp, err := t.svc.Find(ctx, t.ids[0], id)
		if err == nil {
			return &cp, nil
		}
		if !retake.IsKind(err, retake.NotFound) {
			return nil, fmt.Errorf("the checkpoint of the turn: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil, errors.New("the checkpoint of the turn never comes")
		case <-time.After(time.Millisecond):
		}
	}
}

// quotient is the worst of all kinds of signals.
func (t *twins) quotient() (q float64) {
	for _, own := range t.own {
		q = max(q, float64(harness.Middle(own))/float64(harness.Middle(t.plain)))
	}
	return q
}

// late says that what an agent tells takes longer than it may.
func (t *twins) late() error {
	for kind, own := range t.own {
		if err := tooLong(string(kind), harness.Middle(own), harness.Middle(t.plain)); err != nil {
			return err
		}
	}
	return tooLong("the slowest prompt of another agent after it", harness.Middle(t.after), harness.Middle(t.calm))
}

func tooLong(what string, own, plain time.Duration) error {
	if own <= max(daemonbed.ContextTimes*plain, plain+daemonbed.ContextSlack) {
		return nil
	}
	return fmt.Errorf("%s takes %s, a plain save %s", what, own.Round(time.Microsecond), plain.Round(time.Microsecond))
}
