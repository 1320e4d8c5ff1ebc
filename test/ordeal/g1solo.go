package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
)

func init() { children["g1-saves"] = savesChild }

// ack is one line of the log of acknowledged checkpoints. It is written after a
// Save returned nil, and synced before anything else happens.
type ack struct {
	ID      retake.CheckpointID `json:"id"`
	Number  int64               `json:"number"`
	Digest  string              `json:"digest"`
	Partial bool                `json:"partial,omitempty"` // it named gaps
}

func writeAck(file string, a ack) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	b, err := json.Marshal(a)
	if err == nil {
		_, err = f.Write(append(b, '\n'))
	}
	return errors.Join(err, f.Sync(), f.Close())
}

func readAcks(file string) ([]ack, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, ignoreAbsent(err)
	}
	var out []ack
	for sc := bufio.NewScanner(bytes.NewReader(b)); sc.Scan(); {
		var a ack
		if err := json.Unmarshal(sc.Bytes(), &a); err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// soloAt opens the real service. The boot is told: a power cut begins a new one.
func soloAt(ctx context.Context, data, boot string, fsys fsx.FS) (retake.Service, error) {
	set, err := config.Load(filepath.Join(filepath.Dir(data), "no-settings.json"))
	if err != nil {
		return nil, err
	}
	c := config.Config{DataDir: data, Home: "/nobody", BootID: boot}
	return assemble.OpenService(ctx, c, set, assemble.Options{FS: fsys, Derivation: derivation})
}

// saving is what a child does: a number of steps of work, each followed by a
// save, until the end or until something stops it.
type saving struct {
	data, ws, acks, boot, cut string
	seed, from, steps, at     int64
	early, noSync, count      bool
}

func (s *saving) flags(f *flag.FlagSet) {
	f.StringVar(&s.data, "data", "", "data directory")
	f.StringVar(&s.ws, "ws", "", "workspace")
	f.StringVar(&s.acks, "acks", "", "log of acknowledged checkpoints")
	f.StringVar(&s.boot, "boot", "", "run of the machine")
	f.StringVar(&s.cut, "cut", "", "mount point whose power is cut at the end, or at the operation")
	f.Int64Var(&s.seed, "seed", 1, "seed of the edits")
	f.Int64Var(&s.from, "from", 0, "first step")
	f.Int64Var(&s.steps, "steps", 1, "number of steps")
	f.Int64Var(&s.at, "at", 0, "stop before this operation")
	f.BoolVar(&s.early, "early", false, "control: acknowledge before the save")
	f.BoolVar(&s.noSync, "nosync", false, "control: syncs do nothing")
	f.BoolVar(&s.count, "count", false, "print the number of operations")
}

func (s *saving) args() []string {
	out := []string{"child", "g1-saves", "-data", s.data, "-ws", s.ws, "-acks", s.acks, "-boot", s.boot, "-cut", s.cut}
	for name, v := range map[string]int64{"-seed": s.seed, "-from": s.from, "-steps": s.steps, "-at": s.at} {
		out = append(out, name, strconv.FormatInt(v, 10))
	}
	for name, v := range map[string]bool{"-early": s.early, "-nosync": s.noSync, "-count": s.count} {
		if v {
			out = append(out, name)
		}
	}
	return out
}

// start runs the child. It is right that it is killed; any other end must be clean.
func (s saving) start() (out string, killed bool, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", false, err
	}
	cmd := exec.Command(self, s.args()...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return stdout.String(), true, nil
	}
	if err != nil {
		err = fmt.Errorf("child: %w: %s", err, lastBytes(stderr.String(), 600))
	}
	return stdout.String(), false, err
}

func lastBytes(s string, n int) string { return s[max(0, len(s)-n):] }

func savesChild(args []string) int {
	var s saving
	f := flag.NewFlagSet("g1-saves", flag.ContinueOnError)
	s.flags(f)
	if err := f.Parse(args); err != nil {
		return 2
	}
	if err := s.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (s *saving) run(ctx context.Context) error {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	end := func() { _ = self.Kill() }
	if s.cut != "" {
		power, err := os.Open(s.cut)
		if err != nil {
			return err
		}
		end = func() {
			cutPower(power)
			_ = self.Kill()
		}
	}
	inner := fsx.OS()
	if s.noSync {
		inner = &lyingFS{FS: inner, noSync: true}
	}
	counted, counter := fsxtest.NewCountingFS(inner)
	svc, err := soloAt(ctx, s.data, s.boot, fsxtest.CrashAt(counted, s.at, func() { end(); select {} }))
	if err != nil {
		return err
	}
	for step := s.from; step < s.from+s.steps; step++ {
		if err := s.step(ctx, svc, step); err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
	}
	if s.cut != "" {
		end()
	}
	if s.count {
		n := int64(0)
		for _, c := range counter.OpCounts() {
			n += c
		}
		fmt.Println(n)
	}
	return svc.Close()
}

// step works, saves and acknowledges.
func (s *saving) step(ctx context.Context, svc retake.Service, step int64) error {
	if err := edit(s.ws, s.seed, step); err != nil {
		return err
	}
	t, err := liveTree(s.ws)
	if err != nil {
		return err
	}
	if s.early {
		if err := writeAck(s.acks, ack{Number: step + 1, Digest: t.digest()}); err != nil {
			return err
		}
	}
	cp, err := saveOrInit(ctx, svc, s.ws)
	if err != nil || s.early {
		return err
	}
	return writeAck(s.acks, ack{ID: cp.ID, Number: cp.Number, Digest: t.digest()})
}

// saveOrInit saves; a directory that is not protected yet is taken under protection.
func saveOrInit(ctx context.Context, svc retake.Service, dir string) (retake.Checkpoint, error) {
	ws, err := svc.Locate(ctx, dir)
	if retake.IsKind(err, retake.NotFound) {
		res, err := svc.Init(ctx, retake.InitRequest{Dir: dir})
		return res.Checkpoint, err
	}
	if err != nil {
		return retake.Checkpoint{}, err
	}
	res, err := svc.Save(ctx, retake.SaveRequest{Workspace: ws.ID})
	return res.Checkpoint, err
}

// wreckage is what a crash left, and what must be found in it.
type wreckage struct {
	data, ws, boot string
	acks           []ack
	seed, step     int64 // of the save that follows
}

// check holds the wreckage against the promise. Then it saves once more, with the
// bytes of the capture that was lost and new ones, and looks at everything again
// from the store alone.
func (w *wreckage) check(ctx context.Context) (err error) {
	svc, err := soloAt(ctx, w.data, w.boot, fsx.OS())
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer func() { err = errors.Join(err, svc.Close()) }()
	if err := w.find(ctx, svc, true); err != nil {
		return err
	}
	if err := scrubbed(ctx, svc); err != nil && len(w.acks) > 0 {
		return err
	}
	if err := edit(w.ws, w.seed, w.step); err != nil {
		return err
	}
	t, err := liveTree(w.ws)
	if err != nil {
		return err
	}
	cp, err := saveOrInit(ctx, svc, w.ws)
	if err != nil {
		return fmt.Errorf("save after the crash: %w", err)
	}
	w.acks = append(w.acks, ack{ID: cp.ID, Number: cp.Number, Digest: t.digest()})
	if _, err := svc.Rebuild(ctx); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	return errors.Join(w.find(ctx, svc, false), scrubbed(ctx, svc))
}

// find looks every acknowledged checkpoint up. All are read, or the newest two.
func (w *wreckage) find(ctx context.Context, svc retake.Service, all bool) error {
	ws, err := svc.Locate(ctx, w.ws)
	if err != nil && len(w.acks) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("locate: %w", err)
	}
	for i, a := range w.acks {
		ref := string(a.ID)
		if ref == "" {
			ref = strconv.FormatInt(a.Number, 10)
		}
		cp, err := svc.Find(ctx, ws.ID, ref)
		if err != nil {
			return fmt.Errorf("acknowledged checkpoint %d is gone: %w", a.Number, err)
		}
		if cp.Number != a.Number || (cp.Coverage.Grade == retake.Partial) != a.Partial {
			return fmt.Errorf("acknowledged checkpoint %d came back as %d, %s", a.Number, cp.Number, cp.Coverage.Grade)
		}
		if !all && i < len(w.acks)-2 {
			continue
		}
		t, err := storedTree(ctx, svc, ws.ID, ref)
		if err != nil {
			return fmt.Errorf("acknowledged checkpoint %d cannot be read: %w", a.Number, err)
		}
		if t.digest() != a.Digest {
			return fmt.Errorf("acknowledged checkpoint %d reads otherwise", a.Number)
		}
	}
	return nil
}

func scrubbed(ctx context.Context, svc retake.Service) error {
	rep, err := svc.Scrub(ctx, retake.ScrubQuery{Share: 1})
	if err == nil && len(rep.Failed) > 0 {
		err = fmt.Errorf("%d damaged, first %s", len(rep.Failed), rep.Failed[0])
	}
	if err != nil {
		return fmt.Errorf("scrub: %w", err)
	}
	return nil
}
