package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/bench/grow"
	"github.com/retake-dev/retake/bench/record"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// ground is a file system in an image of its own on which forks grow, and the rows
// that it fills.
type ground struct {
	name, options        string
	mkfs                 []string
	clones               bool
	fork, synced, room   record.Key
	cloned, copied, save record.Key
}

var grounds = []ground{
	{
		name: record.XFS, options: "loop", mkfs: []string{"mkfs.xfs", "-q", "-m", "reflink=1"}, clones: true,
		fork: record.Fork, synced: record.ForkSynced, room: record.ForkRoom,
		cloned: record.ForkCloned, copied: record.ForkCopied, save: record.ForkSave,
	},
	{ // the tables are not written behind the back of who is measured
		name: record.Ext4, options: "loop,noinit_itable", mkfs: []string{"mkfs.ext4", "-q"},
		fork: record.ForkPlain, synced: record.PlainSynced, room: record.PlainRoom,
		cloned: record.PlainCloned, copied: record.PlainCopied, save: record.PlainSave,
	},
}

// Room of an image: for the files, what the tools keep of them, and a copy by each.
const (
	imageBase    = 8 << 30
	imagePerFile = 64 << 10
)

// nursery is a workspace with its store on one ground, and the ways in which it is
// copied.
type nursery struct {
	*field
	g    ground
	h    *home
	ways []forkWay
}

type forkWay struct {
	name string
	run  func(ctx context.Context, dir string) (usage, error)
}

// forks measures how a workspace grows from a checkpoint, beside a copy of its files,
// and whether one can work there as in the one it grew from.
func (b *bench) forks(ctx context.Context) error {
	if !b.can.daemon {
		b.miss(record.Daemon, "this build has none")
		return nil
	}
	b.fact("The workspace, the store and the copies lie in one image, which is mounted for this. retake: one call of the daemon. process:" +
		" retake fork latest DIR. A fork is on the disk when it is told to be there, and is protected; cp leaves the disk to later.")
	b.fact("git status and reading are done twice each time, in turn in both places; the second counts.")
	for _, g := range grounds {
		why := ""
		switch _, err := exec.LookPath(g.mkfs[0]); {
		case os.Geteuid() != 0:
			why = "only root can mount an image"
		case err != nil:
			why = g.mkfs[0] + " is not on the path"
		case b.quick && !g.clones:
			why = "left out of a quick run"
		}
		if why != "" {
			b.miss(g.name, why)
			continue
		}
		before := len(b.closers)
		if err := errors.Join(b.forksOn(ctx, g), b.closeTo(before)); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) forksOn(ctx context.Context, g ground) error {
	n, err := b.nursery(ctx, g)
	if err != nil || n == nil {
		return err
	}
	if err := n.begun(ctx); err != nil {
		return err
	}
	for i := range b.size.firsts {
		if err := n.grow(ctx, i); err != nil {
			return err
		}
		if i < b.size.firsts-1 {
			if err := pause(ctx, settle); err != nil {
				return err
			}
		}
	}
	if g.clones {
		if err := b.workIn(ctx, n); err != nil {
			return err
		}
	}
	return n.h.stop()
}

// nursery lays the project and the store on one file system; nil when it cannot be
// mounted here.
func (b *bench) nursery(ctx context.Context, g ground) (*nursery, error) {
	mount, mounted := "", error(nil)
	bytes := imageBase + imagePerFile*int64(b.size.forkFiles)
	f, err := b.plant(ctx, "fork", g.name, grow.Project(b.size.forkFiles, b.size.seed), func(dir string) (string, error) {
		mount, mounted = b.image(ctx, dir, bytes, g.options, g.mkfs...)
		return filepath.Join(mount, "ws"), mounted
	})
	if mounted != nil && ctx.Err() == nil {
		b.miss(g.name, "no place for it: "+short(mounted))
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f.home = filepath.Join(mount, "home")
	n := &nursery{field: f, g: g, h: b.newHome(f.home, f.ws)}
	n.begin = func(context.Context) error { return nil }
	n.first = way{name: record.Process, run: n.h.process("init", "--no-input", n.ws)}
	b.closers = append(b.closers, n.h.stop)
	n.ways = []forkWay{
		{record.Retake, n.call},
		{record.Process, func(ctx context.Context, dir string) (usage, error) {
			return n.h.process("fork", "latest", dir, "--no-input")(ctx)
		}},
	}
	return n, b.copiers(ctx, n)
}

// begun takes the first checkpoint when time stamps can be trusted.
func (n *nursery) begun(ctx context.Context) error {
	if git, env := n.b.gitHere(); n.g.clones && git != "" {
		if err := n.b.wholeRepository(ctx, n.ws, git, env); err != nil {
			return err
		}
	}
	if err := pause(ctx, settle); err != nil {
		return err
	}
	if _, err := n.capture(ctx); err != nil {
		return err
	}
	if _, _, err := n.h.tracks(ctx); err != nil {
		return err
	}
	return n.h.dialed(ctx)(nil)
}

// copiers adds cp, which knows nothing of checkpoints.
func (b *bench) copiers(ctx context.Context, n *nursery) error {
	cp, err := exec.LookPath("cp")
	if err != nil {
		b.miss(record.Copy, "not on the path")
		return nil
	}
	version, err := command{argv: []string{cp, "--version"}, env: b.shell(), dir: b.tmp}.output(ctx)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name, how, flag string
		there           bool
	}{
		{record.Copy, "cp -a --reflink=never: every byte is copied, of the files that are there now", "--reflink=never", true},
		{record.Clone, "cp -a --reflink=always: the copies share their blocks with the files", "--reflink=always", n.g.clones},
	} {
		if !c.there {
			continue
		}
		b.rec.AddTool(record.Tool{Name: c.name, Version: firstLine(version, "cp"), How: c.how})
		n.ways = append(n.ways, forkWay{c.name, func(ctx context.Context, dir string) (usage, error) {
			return b.steps(ctx, []command{{argv: []string{cp, "-a", c.flag, n.ws, dir}, env: b.shell(), dir: filepath.Dir(n.ws)}})
		}})
	}
	return nil
}

// call forks through the service, and looks that all files came.
func (n *nursery) call(ctx context.Context, dir string) (usage, error) {
	var res retake.ForkResult
	u, err := timed(func(ctx context.Context) (err error) {
		res, err = n.h.svc.Fork(ctx, retake.ForkRequest{Workspace: n.h.id, Ref: "latest", Dir: dir})
		return err
	})(ctx)
	if err == nil && res.Cloned+res.Copied < int64(n.plan.Files())*9/10 { // some are empty
		err = fmt.Errorf("fork: %d files were cloned and %d copied, of %d", res.Cloned, res.Copied, n.plan.Files())
	}
	n.b.row("j", n.g.cloned, record.Count, "- files that share their blocks").Add(record.Retake, float64(res.Cloned))
	n.b.row("j", n.g.copied, record.Count, "- files that were written").Add(record.Retake, float64(res.Copied))
	return u, err
}

// grow lets each way make a copy beside the workspace, and removes them all.
func (n *nursery) grow(ctx context.Context, i int) error {
	var made []string
	for _, w := range turns(n.ways, i) {
		dir := n.beside(w.name)
		made = append(made, dir)
		if err := n.one(ctx, w, dir, i); err != nil {
			return err
		}
	}
	for _, dir := range made {
		if err := n.remove(ctx, dir); err != nil {
			return err
		}
	}
	return nil
}

func (n *nursery) beside(name string) string { return filepath.Join(filepath.Dir(n.ws), "by-"+name) }

// one measures a copy, the room it takes, and the first save in a fork.
func (n *nursery) one(ctx context.Context, w forkWay, dir string, i int) error {
	b := n.b
	fork := b.row("j", n.g.fork, record.Millis, "%d files, %s", n.plan.Files(), n.g.name)
	synced := b.row("j", n.g.synced, record.Millis, "- until they are on the disk")
	room := b.row("j", n.g.room, record.Bytes, "- room that they take")
	writeBack()
	before, _, err := fsx.OS().FreeSpace(n.ws)
	if err != nil {
		return fmt.Errorf("measure room: %w", err)
	}
	u, err := w.run(ctx, dir)
	if err != nil {
		return err
	}
	rest, err := timed(func(context.Context) error { writeBack(); return nil })(ctx)
	if err != nil {
		return err
	}
	after, _, err := fsx.OS().FreeSpace(n.ws)
	if err != nil {
		return fmt.Errorf("measure room: %w", err)
	}
	say("%s: %s %.0f ms", n.g.name, w.name, u.millis)
	fork.Add(w.name, u.millis)
	synced.Add(w.name, u.millis+rest.millis)
	room.Add(w.name, float64(before-after))
	if w.name != record.Retake && w.name != record.Process {
		return nil
	}
	return n.firstSave(ctx, w.name, dir, i)
}

// firstSave edits in a fork and saves there, in the way in which it was grown.
func (n *nursery) firstSave(ctx context.Context, name, dir string, i int) error {
	at := uint64(roundsFork + i)
	if _, err := n.plan.Edit(dir, n.plan.Random(n.b.size.edits, at), at); err != nil {
		return err
	}
	save := n.h.process("save", "--no-input", "-C", dir, "first")
	if name == record.Retake {
		ws, err := n.h.svc.Locate(ctx, dir)
		if err != nil {
			return fmt.Errorf("find fork: %w", err)
		}
		save = timed(func(ctx context.Context) error {
			_, err := n.h.svc.Save(ctx, retake.SaveRequest{Workspace: ws.ID, Intent: "first", Trigger: retake.TriggerManual})
			return err
		})
	}
	u, err := save(ctx)
	n.b.row("j", n.g.save, record.Millis, "- first save in it, %d files edited", n.b.size.edits).Add(name, u.millis)
	return err
}

// remove lets the daemon know first that a fork is none any more.
func (n *nursery) remove(ctx context.Context, dir string) error {
	if dir == n.beside(record.Retake) || dir == n.beside(record.Process) {
		ws, err := n.h.svc.Locate(ctx, dir)
		if err != nil {
			return fmt.Errorf("find fork: %w", err)
		}
		if _, err := n.h.svc.Deinit(ctx, ws.ID); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove copy: %w", err)
	}
	return nil
}
