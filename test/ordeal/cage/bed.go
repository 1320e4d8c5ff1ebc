//go:build linux

package cage

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

// cageBed is a workspace of a service that others can be asked about.
type cageBed struct {
	svc    retake.Service
	ws     retake.WorkspaceID
	root   string
	pid    int                      // of the service
	status func() error             // asks how things stand, as a person does
	end    func(v *harness.Verdict) // after the service is closed
	rnd    *rand.Rand               // of plain bytes
	base   int64                    // memory of the service before all
	n      int                      // cases so far
	plains int
	last   retake.Checkpoint     // of the case
	plain  []time.Duration       // saves of plain bytes
	own    []time.Duration       // saves of hostile ones
	worst  cageWorst             // over all cases
	small  map[int]time.Duration // the newest plain save of a size, in megabytes
}

type cageWorst struct {
	status, story         time.Duration
	meanwhile             time.Duration
	daemon, reader, left  int64
	storyOf               string
	daemonAt, readerAt    string
	statuses, confined    int
	facts, unread, silent int
}

// newCageBed starts a daemon as people have it.
func newCageBed(r *harness.Run) (*cageBed, error) {
	exe, err := daemonbed.Program(r)
	if err != nil {
		return nil, err
	}
	h, err := daemonbed.NewHome(r, exe)
	if err != nil {
		return nil, err
	}
	if err := h.Furnish(context.Background(), 1); err != nil {
		return nil, err
	}
	t, err := h.Tells("daemon", "start")
	if err != nil {
		return nil, err
	}
	b := &cageBed{ws: h.Ids[0], root: h.Root(0), pid: t.About.PID, end: h.End}
	b.svc = client.New(client.Options{Socket: filepath.Join(h.Dir, "run", "daemon.sock"), Version: daemonbed.Release(0)})
	b.status = func() error { _, err := h.Ask(exe, "-C", b.root, "status"); return err }
	return b, b.begin(r)
}

// newUncaged is a service of this process whose readers are a child of this program.
func newUncaged(r *harness.Run, reader string) (*cageBed, error) {
	dir := r.Scratch("uncaged")
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	shim := filepath.Join(dir, "reader")
	b := &cageBed{root: filepath.Join(dir, "ws"), pid: os.Getpid(), end: func(*harness.Verdict) {}}
	err = errors.Join(os.WriteFile(shim, []byte("#!/bin/sh\nexec '"+self+"' child "+reader+"\n"), 0o755), os.MkdirAll(b.root, 0o755))
	if err != nil {
		return nil, err
	}
	set, err := config.Load(filepath.Join(dir, "config.json"))
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	s, err := assemble.OpenService(ctx, config.Config{DataDir: filepath.Join(dir, "data"), Home: "/nobody", BootID: "this run", Executable: shim}, set, assemble.Options{Derivation: harness.Derivation, Exclusive: true})
	if err != nil {
		return nil, err
	}
	b.svc = s
	res, err := s.Init(ctx, retake.InitRequest{Dir: b.root})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	b.ws = res.Workspace.ID
	b.status = func() error { _, err := s.Status(ctx, b.ws); return err }
	return b, b.begin(r)
}

// begin takes some plain checkpoints, and notes how much memory that left.
func (b *cageBed) begin(r *harness.Run) error {
	b.rnd, b.small = rand.New(rand.NewSource(r.Seed)), map[int]time.Duration{}
	for range 5 {
		if _, err := b.plainSave(1000); err != nil {
			return err
		}
	}
	m, err := memoryOf(b.pid)
	b.base = m.now
	return err
}

func (b *cageBed) close(v *harness.Verdict) {
	if err := b.svc.Close(); err != nil {
		v.Fail("close: %v", err)
	}
	b.end(v)
}

// plainSave saves as many bytes that nobody reads for their meaning.
func (b *cageBed) plainSave(size int) (time.Duration, error) {
	b.plains++
	dir := filepath.Join(b.root, "plain")
	data := make([]byte, size)
	_, _ = b.rnd.Read(data) // never fails
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.bin", b.plains)), data, 0o644)); err != nil {
		return 0, err
	}
	took, err := b.save()
	b.small[size>>20] = took
	return took, err
}

func (b *cageBed) save() (time.Duration, error) {
	began := time.Now()
	res, err := b.svc.Save(context.Background(), retake.SaveRequest{Workspace: b.ws, Trigger: retake.TriggerManual})
	took := time.Since(began)
	if err == nil && (!res.Created || res.Checkpoint.Coverage.Grade != retake.Complete) {
		err = fmt.Errorf("the checkpoint is %s, new %v", res.Checkpoint.Coverage.Grade, res.Created)
	}
	b.last = res.Checkpoint
	return took, err
}

// try puts one case into the workspace and holds what follows against the bounds.
func (b *cageBed) try(h hostileFile) error {
	b.n++
	dir := filepath.Join("cases", fmt.Sprintf("%04d", b.n))
	data, err := h.make()
	if err != nil {
		return fmt.Errorf("make the file: %w", err)
	}
	usual, err := b.usual(len(data))
	if err != nil {
		return err
	}
	h.small = h.tree == nil && len(data) < 1<<20
	if h.before != nil {
		if err := b.was(dir, h); err != nil {
			return err
		}
	}
	if err := b.put(dir, h, data); err != nil {
		return err
	}
	want, err := digests(filepath.Join(b.root, dir))
	if err != nil {
		return err
	}
	w := b.watch()
	err = b.judge(h, dir, usual, want)
	return errors.Join(err, w.stop(b, h.name))
}

// usual is what a save of so many plain bytes takes. That of small files is asked for now
// and then.
func (b *cageBed) usual(size int) (time.Duration, error) {
	if took, ok := b.small[size>>20]; ok && size < 1<<20 && b.n%10 != 0 {
		return took, nil
	}
	took, err := b.plainSave(size)
	if err == nil && size < 1<<20 {
		b.plain = append(b.plain, took)
	}
	return took, err
}

// was takes a checkpoint of what a case held before.
func (b *cageBed) was(dir string, h hostileFile) error {
	data, err := h.before()
	if err != nil {
		return err
	}
	if err := b.put(dir, h, data); err != nil {
		return err
	}
	if _, err := b.save(); err != nil {
		return err
	}
	_, err = b.told(b.last)
	return err
}

// put writes a case.
func (b *cageBed) put(dir string, h hostileFile, data []byte) error {
	at := filepath.Join(b.root, dir)
	if h.tree != nil {
		return h.tree(at)
	}
	path := filepath.Join(at, filepath.FromSlash(h.path))
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644))
}

// judge saves the case and looks at the checkpoint and at its story.
func (b *cageBed) judge(h hostileFile, dir string, usual time.Duration, want map[string][32]byte) error {
	took, err := b.save()
	if err != nil {
		return fmt.Errorf("save: %w", err)
	}
	if h.small {
		b.own = append(b.own, took)
	}
	if took > cageSaveTimes*usual+cageSaveSlack {
		return fmt.Errorf("the save takes %s, one of plain bytes %s", took, usual)
	}
	cp := b.last
	if !h.mutant {
		if err := b.meanwhile(); err != nil {
			return err
		}
	}
	late, err := b.told(cp)
	if err != nil {
		return err
	}
	if late > b.worst.story {
		b.worst.story, b.worst.storyOf = late, h.name
	}
	return errors.Join(b.whole(cp, dir, want), b.means(cp, h, dir, len(want)))
}

// meanwhile saves plain bytes while the story is told: nobody waits for that.
func (b *cageBed) meanwhile() error {
	usual := b.small[0]
	for range 3 {
		took, err := b.plainSave(1000)
		if err != nil {
			return fmt.Errorf("save meanwhile: %w", err)
		}
		b.worst.meanwhile = max(b.worst.meanwhile, took)
		if took > cageSaveTimes*usual+cageSaveSlack {
			return fmt.Errorf("while it is told a save takes %s, others %s", took.Round(time.Millisecond), usual.Round(time.Millisecond))
		}
		<-time.After(100 * time.Millisecond) // spread over the story
	}
	return nil
}

// told waits for the story of a checkpoint.
func (b *cageBed) told(cp retake.Checkpoint) (time.Duration, error) {
	began := time.Now()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for ; time.Since(began) < cageStoryTime; <-tick.C {
		t, err := b.svc.Log(context.Background(), retake.LogQuery{Workspace: b.ws, Limit: 8})
		if err != nil {
			return 0, fmt.Errorf("list: %w", err)
		}
		if g := t.Findings[cp.ID].Gist; g != nil && g.V > 0 {
			return time.Since(began), nil
		}
	}
	return 0, fmt.Errorf("no story after %s", cageStoryTime)
}

// endAll ends what the control left to compute.
func (b *cageBed) endAll() {
	for _, pid := range daemonbed.Below(b.pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // or it ended by itself
	}
}
