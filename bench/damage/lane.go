//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// tool is how one of the programs is driven. A bed is always open while a tool works on it.
type tool interface {
	name() string
	workers() int // cases that run at the same time
	version() string
	notes() notes
	kind(rel string) string // of a file below the store; "": it is not damaged
	store(b *bed) string    // the directory whose files are damaged
	setup(b *bed)           // sets the environment
	create(context.Context, *bed) error
	save(ctx context.Context, b *bed, name string) error
	open(context.Context, *bed) error
	restore(ctx context.Context, b *bed, i int, to string) (root string, err error)
	repair(context.Context, *bed)
	close(context.Context, *bed) error
}

// mounter is a tool whose restore stops at the first damaged file: the rest is read from a mount.
type mounter interface {
	mount(b *bed) []string
	mountedRoot(b *bed, i int) string
}

// settler is a tool that works on its repository after a save has ended.
type settler interface{ settle() }

// recoverer is a tool that finds trees that no snapshot refers to.
type recoverer interface {
	recovered(ctx context.Context, b *bed) (roots []string)
}

// outcome is one case.
type outcome struct {
	Tool string `json:"tool"`
	Case int    `json:"case"`
	harm
	Before tally `json:"before"`
	After  tally `json:"after"`
}

// lane measures one tool.
type lane struct {
	tool    tool
	flags   flags
	history *history
	dir     string
	began   time.Time
	before  []outcome // cases of an earlier run with the same flags
	kinds   map[string][]blob
	done    []outcome
}

func (l *lane) run(ctx context.Context) error {
	if err := l.fill(ctx); err != nil {
		return fmt.Errorf("%s: %w", l.tool.name(), err)
	}
	if err := l.control(ctx); err != nil {
		return fmt.Errorf("%s: control: %w", l.tool.name(), err)
	}
	pristine := &bed{dir: filepath.Join(l.dir, "pristine")}
	var err error
	l.kinds, err = listBlobs(l.tool.store(pristine), l.tool.kind)
	if err != nil {
		return fmt.Errorf("%s: %w", l.tool.name(), err)
	}
	n := l.flags.cases
	if r, ok := l.tool.(*retakeTool); ok && r.hurried {
		n /= 4 // a second look at Retake, no tool of its own
	}
	return l.runAll(ctx, chooseHarm(l.kinds, n, l.flags.seed))
}

// runAll runs the cases in several workers, each with directories of its own.
func (l *lane) runAll(ctx context.Context, all []harm) error {
	next := make(chan int)
	l.done = make([]outcome, len(all))
	failed := make([]error, l.tool.workers())
	var workers sync.WaitGroup
	for w := range failed {
		workers.Go(func() {
			for i := range next {
				if failed[w] != nil {
					continue
				}
				o, err := l.runCase(ctx, w, i+1, all[i])
				if failed[w] = err; err != nil {
					failed[w] = fmt.Errorf("%s: case %d: %w", l.tool.name(), i+1, failed[w])
					continue
				}
				l.done[i] = o
				say("%s %d of %d: %s %s: snapshots %d, files %d; after repair %d, %d", o.Tool, o.Case, len(all), o.Damage, o.Kind,
					o.Before.Snapshots, o.Before.Files, o.After.Snapshots, o.After.Files)
			}
		})
	}
	for i := range all {
		if ctx.Err() == nil && l.inTime() && l.wants(i+1) {
			next <- i
		}
	}
	close(next)
	workers.Wait()
	l.done = append(l.before, slices.DeleteFunc(l.done, func(o outcome) bool { return o.Case == 0 })...)
	return errors.Join(failed...)
}

// wants reports whether a case is to run: it was asked for, and an earlier run has not got it.
func (l *lane) wants(n int) bool {
	had := slices.ContainsFunc(l.before, func(o outcome) bool { return o.Case == n })
	return !had && (l.flags.at == 0 || l.flags.at == n)
}

// inTime reports whether a new case may begin.
func (l *lane) inTime() bool { return l.flags.limit == 0 || time.Since(l.began) < l.flags.limit }

// fill makes the repository that all cases copy.
func (l *lane) fill(ctx context.Context) (err error) {
	b := &bed{dir: filepath.Join(l.dir, "pristine"), ws: filepath.Join(l.dir, "ws")}
	l.tool.setup(b)
	if err := errors.Join(fresh(b.dir), fresh(b.local()), fresh(b.ws), l.history.apply(b.ws, 0)); err != nil {
		return err
	}
	if err := l.tool.create(ctx, b); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.tool.close(ctx, b)) }()
	for i := range states {
		if err := l.history.apply(b.ws, i); err != nil {
			return err
		}
		if err := l.tool.save(ctx, b, stateName(i)); err != nil {
			return err
		}
	}
	if s, ok := l.tool.(settler); ok {
		s.settle()
	}
	return l.tool.open(ctx, b)
}

// newBackup is the number of the backup that follows a repair.
const newBackup = states

func stateName(i int) string {
	if i == newBackup {
		return "after"
	}
	return fmt.Sprintf("state%d", i)
}

// begin makes a damaged copy of the repository. A tool that cannot open it says so when it restores.
func (l *lane) begin(ctx context.Context, worker int, h harm) (*bed, error) {
	b := &bed{dir: filepath.Join(l.dir, fmt.Sprintf("case%d", worker)), ws: filepath.Join(l.dir, "ws")}
	l.tool.setup(b)
	if err := errors.Join(fresh(b.dir), fresh(b.local())); err != nil {
		return nil, err
	}
	from := filepath.Join(l.dir, "pristine", "repo")
	if err := exec.CommandContext(ctx, "cp", "-a", "--reflink=auto", from, b.repo()).Run(); err != nil {
		return nil, fmt.Errorf("copy repository: %w", err)
	}
	return b, h.apply(l.tool.store(b))
}

// runCase reads a damaged copy, then repairs another one and reads that.
func (l *lane) runCase(ctx context.Context, worker, n int, h harm) (outcome, error) {
	o := outcome{Tool: l.tool.name(), Case: n, harm: h}
	b, err := l.begin(ctx, worker, h)
	if err != nil {
		return o, err
	}
	o.Before = l.read(ctx, b, "", false)
	if err := errors.Join(l.tool.close(ctx, b), l.log(n, "before", b)); err != nil {
		return o, err
	}
	if b, err = l.begin(ctx, worker, h); err != nil {
		return o, err
	}
	l.tool.repair(ctx, b)
	said := b.said.String()
	if err := errors.Join(l.tool.close(ctx, b), fresh(b.local())); err != nil {
		return o, err
	}
	o.After = l.read(ctx, b, said, true)
	return o, errors.Join(l.tool.close(ctx, b), l.log(n, "after", b), ctx.Err())
}

// read restores all states into empty directories and compares every byte.
func (l *lane) read(ctx context.Context, b *bed, said string, repaired bool) tally {
	var t tally
	l.tool.open(ctx, b) //nolint:errcheck // each restore fails then
	var got [states]found
	var failed [states]bool
	bad := false
	for i := range states {
		got[i], failed[i] = l.restore(ctx, b, i)
		bad = bad || failed[i]
	}
	if bad {
		l.salvage(ctx, b, &got, failed)
		l.recover(ctx, b, &got, failed, repaired)
	}
	for i, f := range got {
		t.add(i, f, failed[i], said)
	}
	if repaired {
		f, failed := l.restore(ctx, b, newBackup)
		t.New = !failed && f.complete()
	}
	t.Nothing = t.Files == 0
	t.TimedOut = b.timedOut
	return t
}

func (l *lane) restore(ctx context.Context, b *bed, i int) (found, bool) {
	if fresh(b.out()) != nil {
		return found{}, true
	}
	root, err := l.tool.restore(ctx, b, i, b.out())
	return compare(l.history.want[min(i, states-1)], root), err != nil
}

// salvage reads the states that a restore gave up from a mount.
func (l *lane) salvage(ctx context.Context, b *bed, got *[states]found, failed [states]bool) {
	m, ok := l.tool.(mounter)
	if !ok {
		return
	}
	b.mounted(ctx, m.mount(b), func() {
		for i := range states {
			if !failed[i] {
				continue
			}
			if root := m.mountedRoot(b, i); root != "" {
				got[i] = salvaged(got[i], compare(l.history.want[i], root))
			}
		}
	})
}

// recover looks for lost states in trees that no snapshot refers to.
func (l *lane) recover(ctx context.Context, b *bed, got *[states]found, failed [states]bool, repaired bool) {
	r, ok := l.tool.(recoverer)
	if !ok || !repaired || fresh(b.out()) != nil {
		return
	}
	for _, root := range r.recovered(ctx, b) {
		for i := range states {
			if failed[i] && len(got[i].exact) < len(l.history.want[i]) {
				if f := compare(l.history.want[i], root); len(f.exact) > len(got[i].exact) {
					got[i] = f
				}
			}
		}
	}
}

func (l *lane) log(n int, phase string, b *bed) error {
	if l.flags.logs == "" {
		return nil
	}
	name := filepath.Join(l.flags.logs, fmt.Sprintf("%s-%03d-%s.log", l.tool.name(), n, phase))
	return errors.Join(os.MkdirAll(l.flags.logs, 0o755), os.WriteFile(name, b.said.Bytes(), 0o644))
}
