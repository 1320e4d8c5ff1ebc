package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/platform/clock"
)

// Deps is all that a hook touches. External, Worktree and Trouble may be nil.
type Deps struct {
	In        io.Reader
	Out       io.Writer
	Dir       string
	Clock     clock.Clock
	Protected func(dir string) bool // asks no daemon, and is fast
	Observe   func(ctx context.Context, s retake.Signal) (retake.Reaction, error)
	Spool     func(s retake.Signal) error // durable, for later; also starts the daemon
	// Worktree makes or removes one, and gives the path of a new one. The user has
	// asked for it when it is not nil, so it must answer a path in every directory:
	// an agent whose hook names none has no worktrees at all.
	Worktree func(ctx context.Context, w Worktree) (path string, err error)
	External func(ctx context.Context, name string, payload []byte) ([]byte, error) // runs retake-agent-NAME
	Trouble  func(string)                                                           // a log, as well as it can

	budgets *budgets // nil: the usual ones
}

// budgets are how long an agent is kept waiting by each part.
type budgets struct {
	read, protected, prompt, call, end, other, spool, external, worktree time.Duration
}

const (
	readBudget      = 3 * time.Second // for an agent that leaves stdin open
	protectedBudget = time.Second
	promptBudget    = 2 * time.Second
	callBudget      = 2 * time.Second
	endBudget       = 2 * time.Second // until the files of a turn are read; usually some ten milliseconds
	otherBudget     = time.Second
	spoolBudget     = time.Second
	externalBudget  = 2 * time.Second
	worktreeBudget  = 2 * time.Minute
)

func usual() *budgets {
	return &budgets{
		read: readBudget, protected: protectedBudget, prompt: promptBudget, call: callBudget, end: endBudget, other: otherBudget,
		spool: spoolBudget, external: externalBudget, worktree: worktreeBudget,
	}
}

func (b *budgets) of(kind retake.SignalKind) time.Duration {
	switch kind {
	case retake.SignalPrompt:
		return b.prompt
	case retake.SignalCall:
		return b.call
	case retake.SignalTurnEnd, retake.SignalSessionEnd:
		return b.end
	default:
		return b.other
	}
}

// Run is the whole life of a hook process. The exit code is 0 also for junk, in a
// panic and when time is up: an agent must never be stopped by its history.
func Run(ctx context.Context, agent string, d Deps) int {
	r := &running{agent: agent, d: d, b: d.budgets}
	if r.b == nil {
		r.b = usual()
	}
	defer func() {
		if p := recover(); p != nil {
			r.trouble(fmt.Errorf("hook %.40q: panic: %v", agent, p))
		}
		r.write()
	}()
	r.run(ctx)
	return 0
}

// running is one run. What it holds as the answer is what is written at its end,
// however that comes.
type running struct {
	agent  string
	d      Deps
	b      *budgets
	answer []byte
	late   bool // the daemon did not hear one signal in time: it is not asked again
}

func (r *running) run(ctx context.Context) {
	r.answer = Answer(r.agent, "", retake.Reaction{})
	payload, err := within(ctx, r.b.read, func(context.Context) ([]byte, error) { return read(r.d.In) })
	if err != nil {
		r.answer = Answer(r.agent, unheard(r.agent, payload).Event, retake.Reaction{})
		r.trouble(fmt.Errorf("read %.40q: %w", r.agent, err))
		return
	}
	w := World{Dir: r.d.Dir, Now: r.d.Clock.Now(), NewID: queue.NewID}
	if adapter(r.agent) == nil {
		r.external(ctx, payload, w)
		return
	}
	heard, err := Translate(r.agent, payload, w)
	r.answer = Answer(r.agent, heard.Event, retake.Reaction{})
	r.trouble(err)
	if heard.Worktree != nil {
		r.worktree(ctx, *heard.Worktree)
	}
	for i := range heard.Signals {
		heard.Signals[i].Hears = takesNote(r.agent, heard.Event)
	}
	note := r.tell(ctx, heard.Signals)
	r.answered(Answer(r.agent, heard.Event, retake.Reaction{Note: note}))
}

// answered replaces the answer, unless a worktree was answered.
func (r *running) answered(b []byte) {
	if b != nil {
		r.answer = b
	}
}

// tell gives the signals to the service, and answers the first note.
func (r *running) tell(ctx context.Context, signals []retake.Signal) (note string) {
	for _, s := range signals {
		if !r.protected(ctx, s.Dir) {
			continue
		}
		reaction, err := r.observe(ctx, s)
		if err != nil {
			r.trouble(fmt.Errorf("observe %s: %w", s.Kind, err))
			r.spool(ctx, s)
			continue
		}
		if note == "" {
			note = reaction.Note
		}
	}
	return note
}

var errLate = errors.New("the signal before it was not heard")

func (r *running) observe(ctx context.Context, s retake.Signal) (retake.Reaction, error) {
	if r.late {
		return retake.Reaction{}, errLate
	}
	reaction, err := within(ctx, r.b.of(s.Kind), func(ctx context.Context) (retake.Reaction, error) { return r.d.Observe(ctx, s) })
	r.late = err != nil
	return reaction, err
}

// spool keeps a signal also when the agent has given up waiting.
func (r *running) spool(ctx context.Context, s retake.Signal) {
	_, err := within(context.WithoutCancel(ctx), r.b.spool, func(context.Context) (struct{}, error) { return struct{}{}, r.d.Spool(s) })
	if err != nil {
		r.trouble(fmt.Errorf("spool %s: %w", s.Kind, err))
	}
}

func (r *running) protected(ctx context.Context, dir string) bool {
	yes, err := within(context.WithoutCancel(ctx), r.b.protected, func(context.Context) (bool, error) { return r.d.Protected(dir), nil })
	if err != nil {
		r.trouble(fmt.Errorf("look at directory: %w", err))
	}
	return err == nil && yes
}

// worktree is asked in every directory, also in one that is not protected.
func (r *running) worktree(ctx context.Context, w Worktree) {
	if r.d.Worktree == nil {
		return
	}
	path, err := within(ctx, r.b.worktree, func(ctx context.Context) (string, error) { return r.d.Worktree(ctx, w) })
	if err != nil {
		r.trouble(fmt.Errorf("make worktree: %w", err))
		return
	}
	if w.Name != "" && file(path) != "" && !bytes.ContainsAny([]byte(path), "\r\n") {
		r.answer = []byte(path)
	}
}

func (r *running) external(ctx context.Context, payload []byte, w World) {
	if r.d.External == nil || !externalName(r.agent) {
		r.trouble(fmt.Errorf("hear %.40q: no adapter", r.agent))
		return
	}
	said, err := within(ctx, r.b.external, func(ctx context.Context) ([]byte, error) { return r.d.External(ctx, r.agent, payload) })
	if err != nil {
		r.trouble(fmt.Errorf("hear %s: %w", r.agent, err))
		return
	}
	heard, answer, err := External(r.agent, said, w)
	r.answer = answer
	r.trouble(err)
	r.tell(ctx, heard.Signals)
}

// trouble logs, and lives with a log that does not work.
func (r *running) trouble(err error) {
	if err == nil || r.d.Trouble == nil {
		return
	}
	defer func() { _ = recover() }()
	r.d.Trouble(err.Error())
}

// write is the only place that writes. Nobody hears of an error here.
func (r *running) write() {
	if len(r.answer) == 0 {
		return
	}
	defer func() { _ = recover() }()
	_, _ = r.d.Out.Write(append(bytes.Clone(r.answer), '\n'))
}
