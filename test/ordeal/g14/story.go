//go:build linux

package g14

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/internal/platform/proc"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

// A verification runs under a copy of this program, so it has to know itself before
// anything else does.
func init() {
	if handled, exit := proc.RunHelper(os.Args[1:]); handled {
		os.Exit(exit)
	}
}

// laterProviders are found out when the checkpoint is long there, so that one fault of each is
// enough for the quick tier.
var laterProviders []contextProvider

// providers are those of the tier.
func providers(r *harness.Run) []contextProvider {
	all := slices.Clone(contextProviders)
	for _, p := range laterProviders {
		if r.Tier != "c" {
			p.faults = p.faults[:1]
		}
		all = append(all, p)
	}
	return all
}

// Context that is found out after a checkpoint: what its files mean, what a command says of
// it, what the machine around it looks like.
func init() {
	laterProviders = append(laterProviders,
		contextProvider{"readers", readerFaults()},
		contextProvider{"the key of readers", []contextFault{
			{name: "of another length", anew: true, arrange: keyIs(func(p string) error { return os.WriteFile(p, []byte("short"), 0o600) })},
			{name: "a directory", anew: true, arrange: keyIs(func(p string) error { return os.MkdirAll(filepath.Join(p, "full"), 0o700) })},
			{name: "a pipe", anew: true, arrange: keyIs(func(p string) error { return unix.Mkfifo(p, 0o600) })},
			{name: "a link to nowhere", anew: true, arrange: keyIs(func(p string) error { return os.Symlink("/nobody/key", p) })},
		}},
		contextProvider{"what is noted", []contextFault{
			{name: "are refused", lasts: true, arrange: refused("finding", "place", "fact", "reading")},
			{name: "of verifications are refused", lasts: true, arrange: both(refused("verification"), stands("true"))},
		}},
		contextProvider{"standing verifications", verificationFaults()},
		contextProvider{"the machine", machineFaults()},
	)
}

func readerFaults() []contextFault {
	var out []contextFault
	for _, f := range []struct{ name, body string }{
		{"die at once", "exit 3"},
		{"die in the middle", "head -c 60 >/dev/null; exit 3"},
		{"hang", "exec sleep 1000"},
		{"compute for ever", "while :; do :; done"},
		{"answer noise", "exec cat /dev/urandom"},
		{"answer nothing, for ever", "exec cat /dev/zero"},
		{"complain for ever", "exec cat /dev/zero >&2"},
		{"do not end when they are asked", "trap '' TERM INT HUP; while :; do sleep 1; done"},
		{"leave a child with their pipes", "sleep 45 & exit 0"},
	} {
		out = append(out, contextFault{name: f.name, anew: true, lasts: true, arrange: readerIs("#!/bin/sh\n"+f.body+"\n", 0o755)})
	}
	return append(out,
		contextFault{name: "are not there", anew: true, arrange: func(t *twins) (func(), error) {
			t.self = filepath.Join(t.dir, "nobody")
			return func() {}, nil
		}},
		contextFault{name: "are no program", anew: true, arrange: readerIs("just a text", 0o755)},
		contextFault{name: "may not be started", anew: true, arrange: readerIs("#!/bin/sh\n", 0o644)},
		contextFault{name: "as they are", anew: true, lasts: true, arrange: realReader},
	)
}

// readerIs puts a program in the place of the one that reads.
func readerIs(text string, mode os.FileMode) func(*twins) (func(), error) {
	return func(t *twins) (func(), error) {
		t.self = filepath.Join(t.dir, "reader")
		return func() {}, errors.Join(os.RemoveAll(t.self), os.WriteFile(t.self, []byte(text), mode))
	}
}

func realReader(t *twins) (end func(), err error) {
	t.self, err = daemonbed.Program(t.run)
	return func() {}, err
}

func keyIs(put func(path string) error) func(*twins) (func(), error) {
	return func(t *twins) (func(), error) {
		key := filepath.Join(t.data, "reader.key")
		_, err := realReader(t)
		return func() { _ = os.RemoveAll(key) }, errors.Join(err, os.RemoveAll(key), put(key)) // the next turn makes a new one
	}
}

// refused makes the catalog say no to every row of some tables.
func refused(tables ...string) func(*twins) (func(), error) {
	return func(t *twins) (func(), error) {
		var no, yes strings.Builder
		for _, name := range tables {
			fmt.Fprintf(&no, "CREATE TRIGGER IF NOT EXISTS no_%s BEFORE INSERT ON %s BEGIN SELECT RAISE(ABORT, 'no'); END;\n", name, name)
			fmt.Fprintf(&yes, "DROP TRIGGER IF EXISTS no_%s;\n", name)
		}
		return func() { _ = t.catalog(yes.String()) }, t.catalog(no.String()) // the next turn refuses again
	}
}

// catalog runs statements on the rows, as somebody from outside.
func (t *twins) catalog(script string) error {
	cmd := exec.Command("sqlite3", "-batch", "-bail", "-cmd", ".timeout 10000", filepath.Join(t.data, "catalog.db"))
	cmd.Stdin = strings.NewReader(script)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("sqlite3: %w: %.200s", err, out)
	}
	return nil
}

func verificationFaults() []contextFault {
	var out []contextFault
	for _, f := range []struct{ name, command string }{
		{"hangs", "sleep 1000"},
		{"forks and hears nobody", "trap '' TERM HUP INT; (trap '' TERM HUP INT; setsid sleep 1000 & sleep 1000) & sleep 1000"},
		{"computes everywhere", "for i in 1 2 3 4; do (while :; do :; done) & done; wait"},
		{"speaks for ever", "exec cat /dev/zero"},
		{"is very many", "i=0; while [ $i -lt 200 ]; do sleep 1000 & i=$((i+1)); done; wait"},
		{"ends who keeps it", "kill -9 $PPID; sleep 1000"},
		{"is not there", "no-such-program"},
	} {
		out = append(out, contextFault{name: f.name, lasts: true, arrange: stands(f.command)})
	}
	return out
}

// stands makes a command one that is run after every checkpoint of the agent. The twin has none.
func stands(command string) func(*twins) (func(), error) {
	return func(t *twins) (func(), error) {
		key := string(t.ids[0]) + ".verify.test"
		return func() { _ = t.set.Set(key, "") }, t.set.Set(key, command) // the next turn sets it again
	}
}

func both(a, b func(*twins) (func(), error)) func(*twins) (func(), error) {
	return func(t *twins) (func(), error) {
		endA, errA := a(t)
		endB, errB := b(t)
		return func() { endA(); endB() }, errors.Join(errA, errB)
	}
}

func machineFaults() []contextFault {
	profile := func(put func(path string) error) func(*twins) (func(), error) {
		return homeIs(func(home string) error { return put(filepath.Join(home, ".bashrc")) })
	}
	return []contextFault{
		{name: "a profile is a pipe", anew: true, arrange: profile(func(p string) error { return unix.Mkfifo(p, 0o644) })},
		{name: "a profile is a link to /dev/zero", anew: true, arrange: profile(func(p string) error { return os.Symlink("/dev/zero", p) })},
		{name: "a profile of 60 MB", anew: true, lasts: true, arrange: profile(func(p string) error { return zeros(p, 60<<20) })},
		{name: "20,000 units", anew: true, lasts: true, arrange: homeIs(func(home string) error {
			dir := filepath.Join(home, ".config", "systemd", "user")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			for i := range 20_000 {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("u%d.service", i)), []byte("[Service]\nExecStart=/bin/true\n"), 0o644); err != nil {
					return err
				}
			}
			return nil
		})},
		{name: "the home is a file", anew: true, arrange: func(t *twins) (func(), error) {
			t.home = filepath.Join(t.dir, "house")
			return func() {}, os.WriteFile(t.home, nil, 0o644)
		}},
	}
}

// homeIs makes a home of the user, with readers at work.
func homeIs(put func(home string) error) func(*twins) (func(), error) {
	return func(t *twins) (func(), error) {
		t.home = filepath.Join(t.dir, "house")
		_, err := realReader(t)
		return func() {}, errors.Join(err, os.RemoveAll(t.home), os.MkdirAll(t.home, 0o755), put(t.home))
	}
}
