package hook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/platform/clock"
)

// Deps is everything a hook uses. External, Worktree and LogError may be nil.
type Deps struct {
	In  io.Reader
	Out io.Writer
	Dir string
	// Project is where the agent was started, if it says so: it may work elsewhere in the middle of a turn.
	Project   string
	Clock     clock.Clock
	Protected func(dir string) bool // asks no daemon, and is fast
	// Unprotected handles the prompt of an agent in a directory that is not protected: it may protect
	// it, and what it returns is said. It may be nil.
	Unprotected func(ctx context.Context, s retake.Signal) (protected bool, said retake.Reaction)
	Observe     func(ctx context.Context, s retake.Signal) (retake.Reaction, error)
	Enqueue     func(s retake.Signal) error // keeps a signal for later, durably
	// Worktree creates or removes a worktree, and returns the path of a new one. If it is
	// not nil, the user asked for it, so it must return a path in every directory: an
	// agent whose hook prints none has no worktrees at all.
	Worktree func(ctx context.Context, w WorktreeRequest) (path string, err error)
	External func(ctx context.Context, name string, payload []byte) ([]byte, error) // runs retake-agent-NAME
	LogError func(string)                                                           // a log, as well as it can

	budgets *budgets // nil: the usual ones
}

// budgets are how long each part may keep the agent waiting.
type budgets struct {
	read, protected, prompt, call, end, other, queue, external, worktree time.Duration
}

const (
	readBudget      = 3 * time.Second // for an agent that leaves stdin open
	protectedBudget = time.Second
	promptBudget    = 2 * time.Second
	callBudget      = 2 * time.Second
	endBudget       = 2 * time.Second // until the files of a turn are read; usually some ten milliseconds
	otherBudget     = time.Second
	queueBudget     = time.Second
	externalBudget  = 2 * time.Second
	worktreeBudget  = 2 * time.Minute
)

func defaultBudgets() *budgets {
	return &budgets{
		read: readBudget, protected: protectedBudget, prompt: promptBudget, call: callBudget, end: endBudget, other: otherBudget,
		queue: queueBudget, external: externalBudget, worktree: worktreeBudget,
	}
}

func (b *budgets) forKind(kind retake.SignalKind) time.Duration {
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

// Run is the whole life of a hook process. The exit code is 0 even for invalid input, after
// a panic and when time is up: Retake must never stop an agent.
func Run(ctx context.Context, agent string, d Deps) int {
	r := &hookRun{agent: agent, deps: d, budgets: d.budgets}
	if r.budgets == nil {
		r.budgets = defaultBudgets()
	}
	defer func() {
		if p := recover(); p != nil {
			r.logError(fmt.Errorf("hook %.40q: panic: %v", agent, p))
		}
		r.writeAnswer()
	}()
	r.run(ctx)
	return 0
}

// hookRun is one run. Whatever answer it holds at its end is written, however it ends.
type hookRun struct {
	agent   string
	deps    Deps
	budgets *budgets
	answer  []byte
	late    bool // the daemon missed a deadline: it is not asked again
}

// run reads the payload, sends the signals and sets the answer.
func (r *hookRun) run(ctx context.Context) {
	r.answer = FormatAnswer(r.agent, "", retake.Reaction{})
	payload, err := withBudget(ctx, r.budgets.read, func(context.Context) ([]byte, error) { return readPayload(r.deps.In) })
	if err != nil {
		r.answer = FormatAnswer(r.agent, partialEvent(r.agent, payload).Event, retake.Reaction{})
		r.logError(fmt.Errorf("read %.40q: %w", r.agent, err))
		return
	}
	w := EventContext{Dir: r.deps.Dir, Now: r.deps.Clock.Now(), NewID: queue.NewID}
	if adapterFor(r.agent) == nil {
		r.runExternal(ctx, payload, w)
		return
	}
	heard, err := Translate(r.agent, payload, w)
	r.answer = FormatAnswer(r.agent, heard.Event, retake.Reaction{})
	r.logError(err)
	if heard.Worktree != nil {
		r.answerWorktree(ctx, *heard.Worktree)
	}
	for i := range heard.Signals {
		heard.Signals[i].Hears, heard.Signals[i].CanAsk = acceptsNote(r.agent, heard.Event), slices.Contains(askingAgents, r.agent)
	}
	out, missed := r.sendSignals(ctx, heard.Signals)
	out.Warnings = append(missedCheckpoint(missed), out.Warnings...)
	r.setAnswer(FormatAnswer(r.agent, heard.Event, out))
}

// setAnswer replaces the answer. A nil answer keeps the path of a worktree.
func (r *hookRun) setAnswer(b []byte) {
	if b != nil {
		r.answer = b
	}
}

// sendSignals sends the signals to the service, and returns the first note and all warnings. Signals
// that it does not receive are queued; missed is why one before which a checkpoint is taken was
// not heard.
func (r *hookRun) sendSignals(ctx context.Context, signals []retake.Signal) (out retake.Reaction, missed error) {
	for _, s := range signals {
		switch {
		case r.isProtected(ctx, s.Dir):
		case r.deps.Project != "" && r.isProtected(ctx, r.deps.Project): // the daemon knows the workspace of the turn
			if s.Kind == retake.SignalPrompt || s.Kind == retake.SignalSessionStart {
				s.Dir = r.deps.Project
			}
		default:
			protected, said := r.protect(ctx, s)
			out.Note, out.Warnings = cmp.Or(out.Note, said.Note), append(out.Warnings, said.Warnings...)
			if !protected {
				continue
			}
		}
		reaction, err := r.observe(ctx, s)
		if err != nil {
			r.logError(fmt.Errorf("observe %s: %w", s.Kind, err))
			elsewhere := retake.IsKind(err, retake.NotFound) // another installation protects it: once a turn is enough
			if !elsewhere {
				r.enqueue(ctx, s)
			}
			if missed == nil && (s.Kind == retake.SignalPrompt || s.Kind == retake.SignalCall && !elsewhere) {
				missed = err
			}
			continue
		}
		out.Note, out.Warnings = cmp.Or(out.Note, reaction.Note), append(out.Warnings, reaction.Warnings...)
		out.Stop = cmp.Or(reaction.Stop, out.Stop)
	}
	return out, missed
}

// missedCheckpoint returns the warning that no checkpoint was taken. An agent goes on all the
// same, so somebody must know.
func missedCheckpoint(err error) []retake.Warning {
	if err == nil {
		return nil
	}
	why := "the daemon cannot be reached"
	switch e := (*retake.Error)(nil); {
	case errors.As(err, &e):
		why = strings.TrimPrefix(e.What, "can't save: ")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, errLate):
		why = "the daemon did not answer in time"
	}
	return []retake.Warning{{Code: NotProtected, Text: "Retake could not take a checkpoint here: " + why + ". What the agent changes now may not be undone. See: retake status"}}
}

// NotProtected is the code of a warning that the user sees: nothing is saved here, or since now.
const NotProtected = "not-protected"

var errLate = errors.New("the signal before it was not heard")

func (r *hookRun) observe(ctx context.Context, s retake.Signal) (retake.Reaction, error) {
	if r.late {
		return retake.Reaction{}, errLate
	}
	reaction, err := withBudget(ctx, r.budgets.forKind(s.Kind), func(ctx context.Context) (retake.Reaction, error) { return r.deps.Observe(ctx, s) })
	r.late = err != nil
	return reaction, err
}

// enqueue stores a signal even if the agent has stopped waiting.
func (r *hookRun) enqueue(ctx context.Context, s retake.Signal) {
	_, err := withBudget(context.WithoutCancel(ctx), r.budgets.queue, func(context.Context) (struct{}, error) { return struct{}{}, r.deps.Enqueue(s) })
	if err != nil {
		r.logError(fmt.Errorf("queue %s: %w", s.Kind, err))
	}
}

func (r *hookRun) isProtected(ctx context.Context, dir string) bool {
	yes, err := withBudget(context.WithoutCancel(ctx), r.budgets.protected, func(context.Context) (bool, error) { return r.deps.Protected(dir), nil })
	if err != nil {
		r.logError(fmt.Errorf("look at directory: %w", err))
	}
	return err == nil && yes
}

// protect has an unprotected directory protected at a prompt, if the user wants that.
func (r *hookRun) protect(ctx context.Context, s retake.Signal) (bool, retake.Reaction) {
	if r.deps.Unprotected == nil || s.Kind != retake.SignalPrompt || r.late {
		return false, retake.Reaction{}
	}
	type result struct {
		protected bool
		said      retake.Reaction
	}
	out, err := withBudget(ctx, r.budgets.prompt, func(ctx context.Context) (result, error) {
		protected, said := r.deps.Unprotected(ctx, s)
		return result{protected, said}, nil
	})
	if err != nil {
		r.logError(fmt.Errorf("protect %s: %w", s.Dir, err))
	}
	return out.protected, out.said
}

// answerWorktree handles a worktree request. It runs in every directory, also in one that
// is not protected.
func (r *hookRun) answerWorktree(ctx context.Context, w WorktreeRequest) {
	if r.deps.Worktree == nil {
		return
	}
	path, err := withBudget(ctx, r.budgets.worktree, func(ctx context.Context) (string, error) { return r.deps.Worktree(ctx, w) })
	if err != nil {
		r.logError(fmt.Errorf("make worktree: %w", err))
		return
	}
	if w.Name != "" && cleanFilePath(path) != "" && !bytes.ContainsAny([]byte(path), "\r\n") {
		r.answer = []byte(path)
	}
}

func (r *hookRun) runExternal(ctx context.Context, payload []byte, w EventContext) {
	if r.deps.External == nil || !isExternalName(r.agent) {
		r.logError(fmt.Errorf("hear %.40q: no adapter", r.agent))
		return
	}
	said, err := withBudget(ctx, r.budgets.external, func(ctx context.Context) ([]byte, error) { return r.deps.External(ctx, r.agent, payload) })
	if err != nil {
		r.logError(fmt.Errorf("hear %s: %w", r.agent, err))
		return
	}
	heard, answer, err := ReadExternal(r.agent, said, w)
	r.answer = answer
	r.logError(err)
	_, _ = r.sendSignals(ctx, heard.Signals) // the program of the user has answered already
}

// logError logs an error, and survives a log that does not work.
func (r *hookRun) logError(err error) {
	if err == nil || r.deps.LogError == nil {
		return
	}
	defer func() { _ = recover() }()
	r.deps.LogError(err.Error())
}

// writeAnswer is the only place that writes to the agent. Errors are ignored: nobody could
// be told.
func (r *hookRun) writeAnswer() {
	if len(r.answer) == 0 {
		return
	}
	defer func() { _ = recover() }()
	_, _ = r.deps.Out.Write(append(bytes.Clone(r.answer), '\n'))
}
