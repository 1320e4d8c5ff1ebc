// Command sdk asks a real server the same things in every language that has a client:
// each step of sdk/behaviours.json is done by Go, Python and TypeScript, through a proxy
// that loses answers, turns requests away and cuts streams when a step says so.
//
//	go run ./test/sdk                    all of them, each with a server of its own
//	go run ./test/sdk -only python -v    one of them, step by step
//	go run ./test/sdk -serve             a server, a proxy and a desk, to look at by hand
//
// It needs node, and python3 with httpx.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// options are the flags.
type options struct {
	retake string // the program under test; built when empty
	only   string
	name   string
	script string
	python string
	verb   bool
	serve  bool
}

func main() {
	var o options
	flag.StringVar(&o.retake, "retake", "", "program under test; empty: build it")
	flag.StringVar(&o.only, "only", "", "names of runners, with commas")
	flag.StringVar(&o.name, "name", "", "only behaviours whose name holds this")
	flag.StringVar(&o.script, "script", filepath.Join("sdk", "behaviours.json"), "the behaviours")
	flag.StringVar(&o.python, "python", "python3", "the interpreter")
	flag.BoolVar(&o.verb, "v", false, "tell every behaviour")
	flag.BoolVar(&o.serve, "serve", false, "serve until interrupted, and run nothing")
	flag.Parse()
	failed, err := run(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sdk:", err)
	}
	if failed || err != nil {
		os.Exit(1)
	}
}

// runner plays the behaviours in one language.
type runner struct {
	name string
	play func(o options, desk string) (bool, error)
}

var runners = []runner{
	{"go", playGo},
	{"python", func(o options, desk string) (bool, error) {
		return playBy(o, desk, o.python, filepath.Join("sdk", "python", "behave.py"))
	}},
	{"python-async", func(o options, desk string) (bool, error) {
		return playBy(o, desk, o.python, filepath.Join("sdk", "python", "behave.py"), "--awaited")
	}},
	{"typescript", func(o options, desk string) (bool, error) {
		return playBy(o, desk, "node", filepath.Join("sdk", "typescript", "behave.mjs"))
	}},
}

func run(o options) (failed bool, err error) {
	dir, err := os.MkdirTemp("", "retake-sdk-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // scratch
	if o.retake == "" {
		o.retake = filepath.Join(dir, "bin", "retake")
		build := exec.Command("go", "build", "-o", filepath.Dir(o.retake)+"/", "./cmd/retake", "./cmd/retaked")
		if out, err := build.CombinedOutput(); err != nil {
			return false, fmt.Errorf("build retake: %w: %s", err, out)
		}
	}
	var told []string
	for _, r := range runners {
		if o.only != "" && !slices.Contains(strings.Split(o.only, ","), r.name) {
			continue
		}
		bad, reached, err := try(o, filepath.Join(dir, r.name), r)
		if err != nil {
			return true, fmt.Errorf("run %s: %w", r.name, err)
		}
		if o.serve {
			return false, nil
		}
		told = append(told, fmt.Sprintf("%-13s %s", r.name, reached))
		failed = failed || bad
	}
	fmt.Println(strings.Join(told, "\n"))
	return failed, nil
}

// try runs one language against a server of its own.
func try(o options, dir string, r runner) (failed bool, reached string, err error) {
	b, err := newBed(o.retake, dir)
	if err != nil {
		return true, "", err
	}
	defer b.close()
	if o.serve {
		fmt.Println("desk:", b.desk, "proxy:", b.proxy.url, "server:", b.url)
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, os.Interrupt)
		<-stop
		return false, "", nil
	}
	failed, err = r.play(o, b.desk)
	if failed || err != nil {
		fmt.Println("the server said:", b.said())
	}
	return failed, b.proxy.reached(), err
}

// playBy runs a program that plays the behaviours; it ends with 1 when one failed.
func playBy(o options, desk, program string, args ...string) (bool, error) {
	args = append(args, "--script", o.script, "--desk", desk)
	if o.name != "" {
		args = append(args, "--name", o.name)
	}
	if o.verb {
		args = append(args, "--verbose")
	}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := cmd.Run()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 1 {
		return true, nil
	}
	return err != nil, err
}
