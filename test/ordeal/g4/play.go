//go:build linux

package g4

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/playbed"
	"github.com/retake-dev/retake/test/ordeal/returnbed"
)

// play is one random history: a workspace beside its model.
type play struct {
	svc   retake.Service
	rnd   *rand.Rand
	root  string
	ws    retake.WorkspaceID
	now   playbed.World
	line  playbed.Chronicle
	fork  retake.WorkspaceID
	grown playbed.World // what the fork is now
	began playbed.World // what it grew from
	trace []string
	lines int
}

const playSteps = 8

// run plays one history; the error tells all of its steps.
func (p *play) run(ctx context.Context) error {
	err := p.begin(ctx)
	for i := 0; err == nil && i < playSteps; i++ {
		err = p.step(ctx)
	}
	for i := 0; err == nil && i < 2; i++ { // every past state can be reached
		n := 1 + p.rnd.Int63n(p.line.Latest())
		p.note("at last restore %d", n)
		err = p.travel(ctx, retake.PlanRequest{Course: retake.CourseRestore, Ref: fmt.Sprint(n)}, goal{want: p.line.At(n).Files})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(p.trace, ", "), err)
	}
	return nil
}

func (p *play) note(format string, a ...any) { p.trace = append(p.trace, fmt.Sprintf(format, a...)) }

func (p *play) begin(ctx context.Context) error {
	p.now = playbed.World{}
	if err := os.MkdirAll(p.root, 0o755); err != nil {
		return err
	}
	for range 4 {
		if err := p.edit(p.root, p.now); err != nil {
			return err
		}
	}
	res, err := p.svc.Init(ctx, retake.InitRequest{Dir: p.root})
	if err != nil {
		return err
	}
	p.ws = res.Workspace.ID
	p.line.Eras = append(p.line.Eras, playbed.Era{Files: maps.Clone(p.now)})
	return nil
}

func (p *play) step(ctx context.Context) error {
	switch n := p.rnd.Intn(100); {
	case n < 34:
		return p.save(ctx)
	case n < 46:
		return p.some(p.root, p.now, 2)
	case n < 56:
		to := 1 + p.rnd.Int63n(p.line.Latest())
		p.note("restore %d", to)
		return p.travel(ctx, retake.PlanRequest{Course: retake.CourseRestore, Ref: fmt.Sprint(to)}, goal{want: p.line.At(to).Files})
	case n < 64:
		return p.restorePaths(ctx)
	case n < 76:
		return p.undo(ctx)
	case n < 82:
		return p.undoNamed(ctx)
	case n < 92:
		return p.redo(ctx)
	default:
		return p.branch(ctx)
	}
}

func (p *play) save(ctx context.Context) error {
	if err := p.some(p.root, p.now, 3); err != nil {
		return err
	}
	p.note("save")
	res, err := p.svc.Save(ctx, retake.SaveRequest{Workspace: p.ws})
	if err != nil {
		return err
	}
	p.line.Eras = append(p.line.Eras, playbed.Era{Files: maps.Clone(p.now)})
	if res.Checkpoint.Number != p.line.Latest() {
		return fmt.Errorf("checkpoint %d, want %d", res.Checkpoint.Number, p.line.Latest())
	}
	return nil
}

func (p *play) restorePaths(ctx context.Context) error {
	to := 1 + p.rnd.Int63n(p.line.Latest())
	paths := []string{playNames[p.rnd.Intn(len(playNames))]}
	if p.rnd.Intn(2) == 0 {
		paths = append(paths, playDirs[p.rnd.Intn(len(playDirs))])
	}
	p.note("restore %d %v", to, paths)
	then := p.line.At(to).Files
	req := retake.PlanRequest{Course: retake.CourseRestore, Ref: fmt.Sprint(to), Paths: paths}
	for _, q := range paths {
		if !then.Has(q) && !p.now.Has(q) {
			return p.refused(ctx, req, retake.NotFound)
		}
	}
	return p.travel(ctx, req, goal{want: playbed.Restored(p.now, then, paths)})
}

func (p *play) undo(ctx context.Context) error {
	p.note("undo")
	return p.first(ctx, retake.PlanRequest{Course: retake.CourseUndo}, p.line.Undoes(), p.taken)
}

func (p *play) undoNamed(ctx context.Context) error {
	n := 1 + p.rnd.Int63n(p.line.Latest())
	p.note("undo %d", n)
	req := retake.PlanRequest{Course: retake.CourseUndo, Ref: fmt.Sprint(n)}
	switch {
	case n == 1:
		return p.refused(ctx, req, retake.Invalid)
	case p.line.Undone(n)[n]:
		return p.refused(ctx, req, retake.Exists)
	}
	return p.travel(ctx, req, p.taken(n))
}

func (p *play) redo(ctx context.Context) error {
	p.note("redo")
	return p.first(ctx, retake.PlanRequest{Course: retake.CourseRedo}, p.line.Redoes(), func(undo int64) goal {
		item := p.line.At(undo).Target
		return goal{playbed.Brought(p.now, p.line.At(undo).Files, p.line.From(undo), fmt.Sprintf(".as-%d", item), p.line.Lie), item}
	})
}

// goal is where a plan leads: what the files become, and the item that is taken back or
// brought again for it.
type goal struct {
	want playbed.World
	item int64
}

// taken is where taking an item back leads.
func (p *play) taken(item int64) goal {
	return goal{playbed.Brought(p.now, p.line.At(item).Files, p.line.From(item), fmt.Sprintf(".before-%d", item), p.line.Lie), item}
}

// first goes to the first of them. None is passed over, also when nothing of it is left.
func (p *play) first(ctx context.Context, req retake.PlanRequest, items []int64, to func(int64) goal) error {
	if len(items) == 0 {
		return p.refused(ctx, req, retake.NotFound)
	}
	g := to(items[0])
	req.Workspace = p.ws
	plan, err := p.svc.PlanRestore(ctx, req)
	if err == nil && (plan.Target == nil || plan.Target.Number != g.item) {
		err = fmt.Errorf("item %d was passed over for %+v", g.item, plan.Target)
	}
	if err != nil {
		return err
	}
	return p.travel(ctx, req, g)
}

// branch grows a fork, works in it, or adopts it.
func (p *play) branch(ctx context.Context) error {
	dir := p.root + "-fork"
	if p.fork == "" {
		from := 1 + p.rnd.Int63n(p.line.Latest())
		p.note("fork %d", from)
		res, err := p.svc.Fork(ctx, retake.ForkRequest{Workspace: p.ws, Ref: fmt.Sprint(from), Dir: dir})
		if err != nil {
			return err
		}
		p.fork, p.began, p.grown = res.Workspace.ID, p.line.At(from).Files, maps.Clone(p.line.At(from).Files)
	}
	p.note("in the fork:")
	if err := p.some(dir, p.grown, 3); err != nil {
		return err
	}
	if err := seen(dir, p.grown); err != nil {
		return fmt.Errorf("fork: %w", err)
	}
	p.note("adopt")
	want := playbed.Brought(p.now, p.began, p.grown, ".from-fork", p.line.Lie)
	return p.travel(ctx, retake.PlanRequest{Course: retake.CourseAdopt, Fork: p.fork}, goal{want: want})
}

// refused: the plan cannot be made, and nothing changes.
func (p *play) refused(ctx context.Context, req retake.PlanRequest, kind retake.ErrorKind) error {
	req.Workspace = p.ws
	if _, err := p.svc.PlanRestore(ctx, req); !retake.IsKind(err, kind) {
		return fmt.Errorf("got %w, want an error of kind %s", errors.Join(err, errors.New("a plan")), kind)
	}
	return seen(p.root, p.now)
}

// travel applies a plan, compares the files with what the model says, and adds to the
// model what was recorded. Whether a checkpoint was needed where only times differ is left
// to the service.
func (p *play) travel(ctx context.Context, req retake.PlanRequest, to goal) error {
	req.Workspace = p.ws
	want := to.want
	_, res, err := returnbed.PlanAndApply(ctx, p.svc, req)
	if err != nil {
		return err
	}
	if len(res.Failed) > 0 {
		return fmt.Errorf("left %v", res.Failed)
	}
	if err := seen(p.root, want); err != nil {
		return err
	}
	edited := len(p.line.Tip().Files.Differs(p.now)) > 0
	changed := len(p.now.Differs(want)) > 0
	if before := p.line.Latest(); res.Checkpoint.Number == before && !changed {
		return nil
	} else if res.Safety.Number != before || edited {
		p.line.Eras = append(p.line.Eras, playbed.Era{Files: maps.Clone(p.now), Auto: true})
	}
	safety := p.line.Latest()
	p.line.Eras = append(p.line.Eras, playbed.Era{Files: maps.Clone(want), Course: req.Course, Target: to.item, Before: safety})
	p.now = maps.Clone(want)
	if res.Safety.Number != safety || res.Checkpoint.Number != p.line.Latest() {
		return fmt.Errorf("safety %d, want %d; checkpoint %d, want %d", res.Safety.Number, safety, res.Checkpoint.Number, p.line.Latest())
	}
	return nil
}

// seen compares what is on the disk with the model.
func seen(root string, want playbed.World) error {
	got := playbed.World{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		i, err := d.Info()
		if err != nil {
			return err
		}
		t := playbed.Thing{Dir: i.IsDir(), Mode: uint32(i.Mode().Perm())}
		if !t.Dir {
			b, rerr := os.ReadFile(path)
			t.Text, err = string(b), rerr
		}
		got[path[len(root)+1:]] = t
		return err
	})
	if diffs := want.Differs(got); err == nil && len(diffs) > 0 {
		err = fmt.Errorf("%s", strings.Join(diffs[:min(4, len(diffs))], "; "))
	}
	return err
}
