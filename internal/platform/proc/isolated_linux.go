package proc

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// charge is all that a keeper is told.
type charge struct {
	Order order
	Nice  int
	Grace time.Duration
}

// begun is the first word of a keeper: why nothing runs, or what does.
type begun struct {
	Why string
	PID int
}

var errKeeper = errors.New("its keeper ended before it")

// over is its last word.
type over struct {
	Exit, Signal int
	Ours         bool // it was asked to end before it did
}

func (a Isolated) run(ctx context.Context) (Ended, error) {
	if !understood.Load() {
		return a.group(ctx)
	}
	if !a.inside().moves() {
		e, why, err := a.kept(ctx, "")
		if why != nil {
			err = fmt.Errorf("run %s: %w", a.Args[0], why)
		}
		return e, err
	}
	e, why, err := a.kept(ctx, a.Over)
	if why == nil || err != nil {
		return e, err
	}
	if err := ctx.Err(); err != nil {
		return Ended{}, fmt.Errorf("run %s: %w", a.Args[0], err)
	}
	if e, why, err = a.kept(ctx, ""); why != nil {
		err = fmt.Errorf("run %s: %w", a.Args[0], why)
	}
	e.Elsewhere = true
	return e, err
}

// kept starts a keeper and waits for its last word. A why means that nothing was run.
func (a Isolated) kept(ctx context.Context, at string) (e Ended, why, err error) {
	if err := keepDescriptors(); err != nil {
		return Ended{}, nil, fmt.Errorf("keep descriptors: %w", err)
	}
	s, err := a.streams()
	if err != nil {
		return Ended{}, nil, err
	}
	k := keeper{grace: a.Grace}
	why = k.start(s, a.charge(at))
	s.given(why == nil)
	if why != nil {
		s.end(0)
		return Ended{}, why, nil
	}
	defer k.close()
	stop := context.AfterFunc(ctx, func() { _ = k.order.Close() }) // the keeper hears it
	defer stop()
	o, why, err := k.hear(ctx)
	s.end(lag)
	switch {
	case why != nil:
		return Ended{}, why, nil
	case err != nil:
		return Ended{}, nil, fmt.Errorf("run %s: %w", a.Args[0], err)
	case o.Ours:
		return Ended{}, nil, fmt.Errorf("run %s: %w", a.Args[0], ctx.Err())
	}
	return Ended{Exit: o.Exit, Signal: o.Signal}, nil, nil
}

func (a Isolated) charge(at string) charge {
	cwd := a.Dir
	if at != "" {
		cwd = at
	}
	return charge{
		Order: order{Args: a.Args, Env: a.inside().envAt(cwd), Dir: a.Dir, Over: at, Cwd: cwd, Raised: at != "" && os.Geteuid() != 0},
		Nice:  a.Nice, Grace: a.Grace,
	}
}

// keeper is our side of the process that keeps a program.
type keeper struct {
	grace       time.Duration
	cmd         *exec.Cmd
	order, word *os.File
}

// start starts the keeper and tells it its charge.
func (k *keeper) start(s *streams, c charge) error {
	orderR, orderW, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	wordR, wordW, err := os.Pipe()
	if err != nil {
		_, _ = orderR.Close(), orderW.Close()
		return fmt.Errorf("make a pipe: %w", err)
	}
	k.order, k.word = orderW, wordR
	k.cmd = exec.Command("/proc/self/exe")
	k.cmd.Args = []string{"retake", keepWord}
	k.cmd.Dir, k.cmd.Env = "/", []string{}
	s.give(k.cmd)
	k.cmd.ExtraFiles = []*os.File{orderR, wordW}
	k.cmd.SysProcAttr = &syscall.SysProcAttr{}
	if c.Order.Over != "" {
		k.cmd.SysProcAttr = namespaces(c.Order.Raised)
	}
	k.cmd.SysProcAttr.Setsid = true
	err = k.cmd.Start()
	_, _ = orderR.Close(), wordW.Close()
	if err != nil {
		_, _ = orderW.Close(), wordR.Close()
		return fmt.Errorf("start a keeper: %w", err)
	}
	_ = gob.NewEncoder(orderW).Encode(c) // a keeper that does not hear it says nothing
	return nil
}

func (k *keeper) close() { _, _ = k.order.Close(), k.word.Close() }

// hear waits for both words of the keeper, and for its end. One that says nothing for
// too long after ctx ended is ended itself.
func (k *keeper) hear(ctx context.Context) (o over, why, err error) {
	heard := make(chan struct{})
	defer close(heard)
	defer context.AfterFunc(ctx, func() {
		select {
		case <-time.After(k.grace + lag):
			_ = k.word.SetReadDeadline(time.Unix(1, 0)) // wakes the read
		case <-heard:
		}
	})()
	words := gob.NewDecoder(k.word)
	var b begun
	err = words.Decode(&b)
	if err == nil && b.Why == "" {
		err = words.Decode(&o)
	}
	if err != nil {
		_ = k.cmd.Process.Kill() // it may live, and be deaf
		if b.PID > 0 {
			_ = unix.Kill(-b.PID, unix.SIGKILL)
		}
	}
	_ = k.cmd.Wait()
	switch {
	case err != nil:
		return over{}, nil, errors.Join(errKeeper, ctx.Err())
	case b.Why != "":
		return over{}, errors.New(b.Why), nil
	}
	return o, nil, nil
}
