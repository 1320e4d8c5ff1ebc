package crashbed

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
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() { harness.Children["g1-saves"] = savesChild }

// Ack is one line of the log of acknowledged checkpoints. It is written after a
// Save returned nil, and synced before anything else happens.
type Ack struct {
	ID      retake.CheckpointID `json:"id"`
	Number  int64               `json:"number"`
	Digest  string              `json:"digest"`
	Partial bool                `json:"partial,omitempty"` // it named gaps
}

func WriteAck(file string, a Ack) error {
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

func ReadAcks(file string) ([]Ack, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, harness.IgnoreAbsent(err)
	}
	var out []Ack
	for sc := bufio.NewScanner(bytes.NewReader(b)); sc.Scan(); {
		var a Ack
		if err := json.Unmarshal(sc.Bytes(), &a); err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// SoloAt opens the real service. The boot is told: a power cut begins a new one.
func SoloAt(ctx context.Context, data, boot string, fsys fsx.FS) (retake.Service, error) {
	set, err := config.Load(filepath.Join(filepath.Dir(data), "no-settings.json"))
	if err != nil {
		return nil, err
	}
	c := config.Config{DataDir: data, Home: "/nobody", BootID: boot}
	return assemble.OpenService(ctx, c, set, assemble.Options{FS: fsys, Derivation: harness.Derivation})
}

// Saving is what a child does: a number of steps of work, each followed by a
// save, until the end or until something stops it.
type Saving struct {
	Data, Ws, Acks, Boot, Cut string
	Seed, From, Steps, At     int64
	Early, NoSync, Count      bool
}

func (s *Saving) flags(f *flag.FlagSet) {
	f.StringVar(&s.Data, "data", "", "data directory")
	f.StringVar(&s.Ws, "ws", "", "workspace")
	f.StringVar(&s.Acks, "acks", "", "log of acknowledged checkpoints")
	f.StringVar(&s.Boot, "boot", "", "run of the machine")
	f.StringVar(&s.Cut, "cut", "", "mount point whose power is cut at the end, or at the operation")
	f.Int64Var(&s.Seed, "seed", 1, "seed of the edits")
	f.Int64Var(&s.From, "from", 0, "first step")
	f.Int64Var(&s.Steps, "steps", 1, "number of steps")
	f.Int64Var(&s.At, "at", 0, "stop before this operation")
	f.BoolVar(&s.Early, "early", false, "control: acknowledge before the save")
	f.BoolVar(&s.NoSync, "nosync", false, "control: syncs do nothing")
	f.BoolVar(&s.Count, "count", false, "print the number of operations")
}

func (s *Saving) args() []string {
	out := []string{"child", "g1-saves", "-data", s.Data, "-ws", s.Ws, "-acks", s.Acks, "-boot", s.Boot, "-cut", s.Cut}
	for name, v := range map[string]int64{"-seed": s.Seed, "-from": s.From, "-steps": s.Steps, "-at": s.At} {
		out = append(out, name, strconv.FormatInt(v, 10))
	}
	for name, v := range map[string]bool{"-early": s.Early, "-nosync": s.NoSync, "-count": s.Count} {
		if v {
			out = append(out, name)
		}
	}
	return out
}

// Start runs the child. It is right that it is killed; any other end must be clean.
func (s Saving) Start() (out string, killed bool, err error) {
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
		err = fmt.Errorf("child: %w: %s", err, LastBytes(stderr.String(), 600))
	}
	return stdout.String(), false, err
}

func LastBytes(s string, n int) string { return s[max(0, len(s)-n):] }

func savesChild(args []string) int {
	var s Saving
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

func (s *Saving) run(ctx context.Context) error {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	end := func() { _ = self.Kill() }
	if s.Cut != "" {
		power, err := os.Open(s.Cut)
		if err != nil {
			return err
		}
		end = func() {
			CutPower(power)
			_ = self.Kill()
		}
	}
	inner := fsx.OS()
	if s.NoSync {
		inner = &LyingFS{FS: inner, noSync: true}
	}
	counted, counter := fsxtest.NewCountingFS(inner)
	svc, err := SoloAt(ctx, s.Data, s.Boot, fsxtest.CrashAt(counted, s.At, func() { end(); select {} }))
	if err != nil {
		return err
	}
	for step := s.From; step < s.From+s.Steps; step++ {
		if err := s.step(ctx, svc, step); err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
	}
	if s.Cut != "" {
		end()
	}
	if s.Count {
		n := int64(0)
		for _, c := range counter.OpCounts() {
			n += c
		}
		fmt.Println(n)
	}
	return svc.Close()
}

// step works, saves and acknowledges.
func (s *Saving) step(ctx context.Context, svc retake.Service, step int64) error {
	if err := Edit(s.Ws, s.Seed, step); err != nil {
		return err
	}
	t, err := LiveTree(s.Ws)
	if err != nil {
		return err
	}
	if s.Early {
		if err := WriteAck(s.Acks, Ack{Number: step + 1, Digest: t.Digest()}); err != nil {
			return err
		}
	}
	cp, err := SaveOrInit(ctx, svc, s.Ws)
	if err != nil || s.Early {
		return err
	}
	return WriteAck(s.Acks, Ack{ID: cp.ID, Number: cp.Number, Digest: t.Digest()})
}

// SaveOrInit saves; a directory that is not protected yet is taken under protection.
func SaveOrInit(ctx context.Context, svc retake.Service, dir string) (retake.Checkpoint, error) {
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

// Wreckage is what a crash left, and what must be found in it.
type Wreckage struct {
	Data, Ws, Boot string
	Acks           []Ack
	Seed, Step     int64 // of the save that follows
}

// Check holds the wreckage against the promise. Then it saves once more, with the
// bytes of the capture that was lost and new ones, and looks at everything again
// from the store alone.
func (w *Wreckage) Check(ctx context.Context) (err error) {
	svc, err := SoloAt(ctx, w.Data, w.Boot, fsx.OS())
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer func() { err = errors.Join(err, svc.Close()) }()
	if err := w.Find(ctx, svc, true); err != nil {
		return err
	}
	if err := Scrubbed(ctx, svc); err != nil && len(w.Acks) > 0 {
		return err
	}
	if err := Edit(w.Ws, w.Seed, w.Step); err != nil {
		return err
	}
	t, err := LiveTree(w.Ws)
	if err != nil {
		return err
	}
	cp, err := SaveOrInit(ctx, svc, w.Ws)
	if err != nil {
		return fmt.Errorf("save after the crash: %w", err)
	}
	w.Acks = append(w.Acks, Ack{ID: cp.ID, Number: cp.Number, Digest: t.Digest()})
	if _, err := svc.Rebuild(ctx); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	return errors.Join(w.Find(ctx, svc, false), Scrubbed(ctx, svc))
}

// Find looks every acknowledged checkpoint up. All are read, or the newest two.
func (w *Wreckage) Find(ctx context.Context, svc retake.Service, all bool) error {
	ws, err := svc.Locate(ctx, w.Ws)
	if err != nil && len(w.Acks) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("locate: %w", err)
	}
	for i, a := range w.Acks {
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
		if !all && i < len(w.Acks)-2 {
			continue
		}
		t, err := StoredTree(ctx, svc, ws.ID, ref)
		if err != nil {
			return fmt.Errorf("acknowledged checkpoint %d cannot be read: %w", a.Number, err)
		}
		if t.Digest() != a.Digest {
			return fmt.Errorf("acknowledged checkpoint %d reads otherwise", a.Number)
		}
	}
	return nil
}

func Scrubbed(ctx context.Context, svc retake.Service) error {
	rep, err := svc.Scrub(ctx, retake.ScrubQuery{Share: 1})
	if err == nil && len(rep.Failed) > 0 {
		err = fmt.Errorf("%d damaged, first %s", len(rep.Failed), rep.Failed[0])
	}
	if err != nil {
		return fmt.Errorf("scrub: %w", err)
	}
	return nil
}
