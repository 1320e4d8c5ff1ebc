// Command agents proves the hooks with the agents themselves: each is started as a
// user starts it, with a home of its own and a model on loopback that follows a
// script, and what it does must become checkpoints that can be taken back, and a
// conversation that goes on without the turn that was.
//
//	go run ./test/agents -install                all four, fetched by npm into a directory of their own
//	go run ./test/agents -only codex -keep       one that is there, and its home stays
//	go run ./test/agents -install -headless 100  a hundred turns without a screen: none is lost, none holds your edits
//
// Nothing of the agents is part of this repository, and no account is used.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// options are the flags.
type options struct {
	from   string // where the agents are installed
	retake string // the program under test; built when empty
	only   string
	fetch  bool
	keep   bool
	out    string
	doc    string
	pages  string

	headless int
	versions string
	beds     int
}

func main() {
	var o options
	flag.StringVar(&o.from, "from", filepath.Join(os.TempDir(), "agents"), "directory of the installed agents")
	flag.StringVar(&o.retake, "retake", "", "program under test; empty: build it")
	flag.StringVar(&o.only, "only", "", "names of agents, with commas")
	flag.BoolVar(&o.fetch, "install", false, "install what is missing, by npm")
	flag.BoolVar(&o.keep, "keep", false, "keep homes and workspaces")
	flag.StringVar(&o.out, "o", "", "write the results as JSON")
	flag.StringVar(&o.doc, "doc", "", "write the table between <!-- agents --> and <!-- /agents --> of this file")
	flag.StringVar(&o.pages, "pages", "", "write a page for each agent into this directory")
	flag.IntVar(&o.headless, "headless", 0, "so many turns without a screen, each in a process of its own, instead of the scenarios")
	flag.StringVar(&o.versions, "versions", "", "versions of Claude Code for -headless, with commas")
	flag.IntVar(&o.beds, "beds", 1, "workspaces beside each other for -headless")
	flag.Parse()
	failed, err := run(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "agents:", err)
		os.Exit(1)
	}
	if failed {
		os.Exit(1)
	}
}

func run(o options) (failed bool, err error) {
	dir, err := os.MkdirTemp("", "retake-agents-")
	if err != nil {
		return false, err
	}
	if o.keep {
		fmt.Println("kept:", dir)
	} else {
		defer os.RemoveAll(dir) //nolint:errcheck // scratch
	}
	if o.retake == "" {
		o.retake = filepath.Join(dir, "bin", "retake")
		build := exec.Command("go", "build", "-o", filepath.Dir(o.retake)+"/", "./cmd/retake", "./cmd/retaked")
		if out, err := build.CombinedOutput(); err != nil {
			return false, fmt.Errorf("build retake: %w: %s", err, out)
		}
	}
	if o.headless > 0 {
		return runHeadless(o, dir)
	}
	var all []result
	for _, a := range agents {
		if o.only != "" && !slices.Contains(strings.Split(o.only, ","), a.name) {
			continue
		}
		r := try(o, filepath.Join(dir, a.name), a)
		failed = failed || r.failed()
		fmt.Print(r)
		all = append(all, r)
	}
	return failed, report(o, all)
}

// try runs the scenarios of one agent, each in a bed of its own.
func try(o options, dir string, a agent) result {
	r := result{Agent: a.name, Title: a.title, Package: a.pkg, Wanted: a.version}
	if o.fetch {
		a.install(o.from)
	}
	program, version, err := a.find(o.from)
	if err != nil {
		r.Missing = err.Error()
		return r
	}
	r.Version = version
	for _, s := range scenarios {
		b := &bed{agent: a, program: program, retake: o.retake, dir: filepath.Join(dir, s.id)}
		r.Scenarios = append(r.Scenarios, b.play(s))
		if o.pages != "" && s.id == "turns" {
			if err := b.page(o.pages, version); err != nil {
				r.Missing = err.Error()
			}
		}
	}
	return r
}
