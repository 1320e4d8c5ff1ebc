// Command weigh runs one program and writes down how long it took, in microseconds,
// and its peak of memory, in bytes.
//
//	weigh FILE PROGRAM [ARGS...]
//
// It may write the one file it is told, and never looks at what the program does.
//
//	W1  It is small: the kernel counts the memory of whoever starts a process to the
//	    peak of that process, so the benchmark itself cannot weigh.
package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

func main() { os.Exit(run()) }

func run() int {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "weigh: a file and a program are needed")
		return 2
	}
	runtime.LockOSThread() // what bound says is about this thread
	began := time.Now()
	p, err := os.StartProcess(os.Args[2], os.Args[2:], &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: bound()})
	if err != nil {
		fmt.Fprintln(os.Stderr, "weigh:", err)
		return 2
	}
	state, err := p.Wait()
	took := time.Since(began)
	if err != nil {
		fmt.Fprintln(os.Stderr, "weigh:", err)
		return 2
	}
	text := fmt.Sprintf("%d %d\n", took.Microseconds(), peak(state.SysUsage()))
	if err := os.WriteFile(os.Args[1], []byte(text), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, "weigh:", err)
		return 2
	}
	if s, ok := state.Sys().(syscall.WaitStatus); ok && s.ExitStatus() > 0 {
		return s.ExitStatus()
	}
	if !state.Success() {
		return 1
	}
	return 0
}
