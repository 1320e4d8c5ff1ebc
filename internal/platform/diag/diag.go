// Package diag makes visible what happens in the background: it logs panics with their stack,
// errors and durations, counts them, and remembers the last failure of each task.
//
// It writes to the logger it is given and touches nothing else. It never fails what it
// watches: a recorder that is nil works, and keeps nothing.
//
//	D1  A panic of a step ends that step alone, and is logged with its stack.
//	D2  A failure that repeats itself is logged once a minute, and counted each time.
package diag

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
)

// Recorder keeps what became of background tasks.
type Recorder struct {
	log    *slog.Logger
	clock  clock.Clock
	failed func(task string) // hears of each failure; nil: nobody does

	mu     sync.Mutex
	tasks  map[string]*retake.BackgroundTask // guarded by mu
	logged map[string]time.Time              // guarded by mu: when the failure of a task was logged
	checks map[string]func() error           // guarded by mu: run when somebody asks what failed
}

// New returns a recorder. failed, if it is not nil, is called with the name of each task that
// fails, for a counter.
func New(log *slog.Logger, c clock.Clock, failed func(task string)) *Recorder {
	return &Recorder{log: log, clock: c, failed: failed, tasks: map[string]*retake.BackgroundTask{}, logged: map[string]time.Time{}, checks: map[string]func() error{}}
}

// Log is the logger; it is never nil.
func (r *Recorder) Log() *slog.Logger {
	if r == nil || r.log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return r.log
}

// Run runs one step of a task and records how it ends. A panic is an error of this step.
func (r *Recorder) Run(task string, step func() error) {
	begun := r.now()
	err := recovered(step)
	r.Log().Debug("background task ended", "task", task, "took", r.now().Sub(begun), "err", err)
	r.Note(task, err)
}

// panicked is a panic as an error.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

func recovered(step func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, debug.Stack()}
		}
	}()
	return step()
}

// ErrSkipped is the result of a step that found nothing to do. It counts neither as a success
// nor as a failure, so that it does not hide the failure before it.
var ErrSkipped = errors.New("nothing to do")

// Note records how a step of a task ended that somebody else ran. What was cancelled or skipped
// is not counted.
func (r *Recorder) Note(task string, err error) {
	if r == nil || errors.Is(err, context.Canceled) || errors.Is(err, ErrSkipped) {
		return
	}
	now := r.now()
	r.mu.Lock()
	t := r.tasks[task]
	if t == nil {
		t = &retake.BackgroundTask{Name: task}
		r.tasks[task] = t
	}
	t.Runs++
	t.Failing = err != nil
	again := false
	if err != nil {
		again = t.Error == err.Error() && now.Sub(r.logged[task]) < repeatAfter
		t.Failures, t.Error, t.At = t.Failures+1, err.Error(), now
		if !again {
			r.logged[task] = now
		}
	}
	r.mu.Unlock()
	if err == nil {
		return
	}
	if r.failed != nil {
		r.failed(task)
	}
	if !again {
		r.logFailure(task, err)
	}
}

// Watch runs a check now, and again each time somebody asks what failed, so that the answer is
// about this moment. A check that has nothing new to say returns ErrSkipped.
func (r *Recorder) Watch(task string, check func() error) {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.checks[task] = check
	r.mu.Unlock()
	r.Note(task, recovered(check))
}

func (r *Recorder) runChecks() {
	r.mu.Lock()
	checks := maps.Clone(r.checks)
	r.mu.Unlock()
	for task, check := range checks {
		r.Note(task, recovered(check))
	}
}

// repeatAfter is how long the same failure of a task is not logged again.
const repeatAfter = time.Minute

func (r *Recorder) logFailure(task string, err error) {
	var p *panicked
	if errors.As(err, &p) {
		r.Log().Error("background task panicked", "task", task, "panic", fmt.Sprint(p.value), "stack", string(p.stack))
		return
	}
	r.Log().Warn("background task failed", "task", task, "err", err)
}

// Failed returns the tasks that failed at least once, by name.
func (r *Recorder) Failed() []retake.BackgroundTask {
	if r == nil {
		return nil
	}
	r.runChecks()
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []retake.BackgroundTask
	for _, t := range r.tasks {
		if t.Failures > 0 {
			out = append(out, *t)
		}
	}
	slices.SortFunc(out, func(a, b retake.BackgroundTask) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func (r *Recorder) now() time.Time {
	if r == nil || r.clock == nil {
		return time.Time{}
	}
	return r.clock.Now()
}
