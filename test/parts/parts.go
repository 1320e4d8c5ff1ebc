//go:build unix

// Package parts starts the real things that harnesses stand on: PostgreSQL, an S3 server,
// servers of Retake, and proxies between them.
//
// Each part lives below a directory that the caller gives, listens where only this machine
// can reach it, and can be killed, frozen and started again. It finds programs on the path
// or where distributions put them. It never stops a process that it did not start.
//
//	T1  A part ends with the process that started it, however that ends (on Linux; elsewhere
//	    when it is closed).
//	T2  What a part has acknowledged is there after Kill and Start.
package parts

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// program is what a process runs.
type program struct {
	path string
	args []string
	env  []string
	dir  string
	log  string // both outputs are added to this file
	who  *syscall.Credential
	end  syscall.Signal // what ends it in order, and leaves nothing in the kernel; 0: any
}

// Process is a program that can be killed and started again.
type Process struct {
	program
	mu    sync.Mutex
	cmd   *exec.Cmd     // guarded by mu; nil: it does not run
	ended chan struct{} // guarded by mu
	spent time.Duration // guarded by mu; of those that ended
	halts []int         // guarded by mu; frozen
}

// launches is a thread that lives as long as we do: a child that shall end with its
// parent ends with the thread that made it.
var launches = sync.OnceValue(func() chan func() {
	c := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range c {
			f()
		}
	}()
	return c
})

func (p *Process) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		return fmt.Errorf("start %s: it runs", p.path)
	}
	log, err := os.OpenFile(p.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("start %s: %w", p.path, err)
	}
	defer log.Close() //nolint:errcheck // the child has its own
	cmd := exec.Command(p.path, p.args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = p.env, p.dir, log, log
	end := p.end
	if end == 0 {
		end = syscall.SIGKILL
	}
	cmd.SysProcAttr = attributes(p.who, end)
	failed := make(chan error)
	launches() <- func() { failed <- cmd.Start() }
	if err := <-failed; err != nil {
		return fmt.Errorf("start %s: %w", p.path, err)
	}
	ended := make(chan struct{})
	p.cmd, p.ended = cmd, ended
	go p.reap(cmd, ended)
	return nil
}

func (p *Process) reap(cmd *exec.Cmd, ended chan struct{}) {
	_ = cmd.Wait() // killed, mostly
	p.mu.Lock()
	p.spent += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if p.cmd == cmd {
		p.cmd, p.halts = nil, nil
	}
	p.mu.Unlock()
	close(ended)
}

// PID answers the process, 0 when it does not run.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// Running reports whether it runs, frozen or not.
func (p *Process) Running() bool { return p.PID() != 0 }

// Kill kills it and all its children at once, and waits until it is gone.
func (p *Process) Kill() {
	p.mu.Lock()
	cmd, ended := p.cmd, p.ended
	if cmd == nil {
		p.mu.Unlock()
		return
	}
	all := family(cmd.Process.Pid)
	_ = cmd.Process.Kill() // it may have ended
	for _, pid := range all {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	p.mu.Unlock()
	<-ended
}

// Close ends it in order if it goes quickly, and kills it otherwise.
func (p *Process) Close() error {
	p.Thaw()
	p.mu.Lock()
	cmd, ended := p.cmd, p.ended
	p.mu.Unlock()
	if cmd == nil {
		return nil
	}
	if p.end != 0 {
		_ = cmd.Process.Signal(p.end) // it may have ended
		select {
		case <-ended:
		case <-time.After(endTime):
		}
	}
	p.Kill()
	return nil
}

// Freeze stops it and all its children where they are.
func (p *Process) Freeze() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return errors.New("freeze a process: it does not run")
	}
	if err := syscall.Kill(p.cmd.Process.Pid, syscall.SIGSTOP); err != nil {
		return fmt.Errorf("freeze a process: %w", err)
	}
	p.halts = family(p.cmd.Process.Pid) // it has no more from here on
	for _, pid := range p.halts {
		_ = syscall.Kill(pid, syscall.SIGSTOP) // it may have ended
	}
	return nil
}

// Thaw lets it go on after Freeze.
func (p *Process) Thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return
	}
	for _, pid := range append(p.halts, p.cmd.Process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGCONT) // it may have ended
	}
	p.halts = nil
}

// CPU answers the processor time that it and its children have taken, over all starts.
func (p *Process) CPU() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return p.spent
	}
	pid := p.cmd.Process.Pid
	sum := p.spent
	for _, one := range append(family(pid), pid) {
		sum += spent(one)
	}
	return sum
}

// Memory answers what it and its children hold in memory of their own, in bytes.
func (p *Process) Memory() int64 {
	pid := p.PID()
	if pid == 0 {
		return 0
	}
	var sum int64
	for _, one := range append(family(pid), pid) {
		sum += resident(one)
	}
	return sum
}

// Tail answers the end of what it wrote.
func (p *Process) Tail(bytes int) string {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-bytes):])
}

// await asks until ready says yes, the process ends, or the time is over.
func (p *Process) await(limit time.Duration, ready func() error) error {
	p.mu.Lock()
	ended := p.ended
	p.mu.Unlock()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	end := time.NewTimer(limit)
	defer end.Stop()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-again.C:
			continue
		case <-ended:
			return fmt.Errorf("start %s: it ended\n%s", p.path, p.Tail(tailLength))
		case <-end.C:
		}
		p.Kill()
		return fmt.Errorf("start %s: %w\n%s", p.path, err, p.Tail(tailLength))
	}
}

const (
	tailLength = 4000
	endTime    = 5 * time.Second
	startTime  = 3 * time.Minute // a machine may be busy, and a database may have to recover
)
