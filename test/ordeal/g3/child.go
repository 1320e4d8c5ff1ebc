//go:build linux

package g3

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
	"github.com/retake-dev/retake/test/ordeal/crashbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/returnbed"
)

func init() { harness.Children["g3-return"] = returnChild }

// returning is what a child does: it applies one plan, until the end or until
// something stops it.
type returning struct {
	data, ws, boot, cut, ack, course string
	at                               int64
	count                            bool
}

func (v *returning) flags(f *flag.FlagSet) {
	f.StringVar(&v.data, "data", "", "data directory")
	f.StringVar(&v.ws, "ws", "", "workspace")
	f.StringVar(&v.boot, "boot", "", "run of the machine")
	f.StringVar(&v.cut, "cut", "", "mount point whose power is cut at the operation, or at the end")
	f.StringVar(&v.ack, "ack", "", "file that is written when the restore is acknowledged")
	f.StringVar(&v.course, "course", "", "restore, finish or unwind")
	f.Int64Var(&v.at, "at", 0, "stop before this operation of the restore")
	f.BoolVar(&v.count, "count", false, "print the number of operations")
}

// start runs the child. It is right that it is killed; any other end must be clean.
func (v returning) start() (out string, killed bool, err error) {
	args := []string{
		"child", "g3-return", "-data", v.data, "-ws", v.ws, "-boot", v.boot, "-cut", v.cut, "-ack", v.ack,
		"-course", v.course, "-at", strconv.FormatInt(v.at, 10),
	}
	if v.count {
		args = append(args, "-count")
	}
	return again(args)
}

// again runs this program as a child.
func again(args []string) (out string, killed bool, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", false, err
	}
	cmd := exec.Command(self, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return stdout.String(), true, nil
	}
	if err != nil {
		err = fmt.Errorf("child: %w: %s", err, crashbed.LastBytes(stderr.String(), 600))
	}
	return stdout.String(), false, err
}

func returnChild(args []string) int {
	var v returning
	f := flag.NewFlagSet("g3-return", flag.ContinueOnError)
	v.flags(f)
	if err := f.Parse(args); err != nil {
		return 2
	}
	if err := v.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// end is the last thing that the process does.
func (v *returning) end() (func(), error) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil || v.cut == "" {
		return func() { _ = self.Kill() }, err
	}
	power, err := os.Open(v.cut)
	return func() {
		crashbed.CutPower(power)
		_ = self.Kill()
	}, err
}

// plan makes the plan with a service of its own, so that the operations of the other
// one are those of applying.
func (v *returning) plan(ctx context.Context) (req retake.ApplyRequest, err error) {
	svc, err := crashbed.SoloAt(ctx, v.data, v.boot, nil)
	if err != nil {
		return req, err
	}
	defer func() { err = errors.Join(err, svc.Close()) }()
	ws, err := svc.Locate(ctx, v.ws)
	if err != nil {
		return req, err
	}
	req.PlanRequest = retake.PlanRequest{Workspace: ws.ID, Course: retake.Course(v.course)}
	if req.Course == retake.CourseRestore {
		req.Ref = "1"
	}
	p, err := svc.PlanRestore(ctx, req.PlanRequest)
	req.Digest, req.Accept = p.Digest, returnbed.Classes(p)
	return req, err
}

func (v *returning) run(ctx context.Context) error {
	end, err := v.end()
	if err != nil {
		return err
	}
	req, err := v.plan(ctx)
	if err != nil {
		return err
	}
	seen := fsxtest.NewFaultyFS(fsx.OS(), fsxtest.FaultPlan{})
	svc, err := crashbed.SoloAt(ctx, v.data, v.boot, fsxtest.CrashAt(seen, v.at, func() { end(); select {} }))
	if err != nil {
		return err
	}
	res, err := svc.ApplyRestore(ctx, req)
	if err != nil {
		return err
	}
	if len(res.Failed) > 0 {
		return fmt.Errorf("%d paths were left, first %q: %s", len(res.Failed), res.Failed[0].Path, res.Failed[0].Why)
	}
	if v.ack != "" {
		if err := crashbed.WriteAck(v.ack, crashbed.Ack{ID: res.Checkpoint.ID, Number: res.Checkpoint.Number}); err != nil {
			return err
		}
	}
	if v.cut != "" {
		end()
	}
	if v.count {
		fmt.Println(seen.OpCount())
	}
	return svc.Close()
}
