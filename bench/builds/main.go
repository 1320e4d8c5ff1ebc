// Command builds compares two builds of the programs in one run: an agent's hook with nothing
// changed, a save of ten files, and the status line, each in turn on trees of the same size.
//
//	go run ./bench/builds -old DIR -new DIR -files 100000 -runs 60
//
// A directory holds retake and, beside it, retaked if that build has two programs. Figures are
// medians; the ratio is what counts, because both ran on the same machine at the same time.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	before := flag.String("old", "", "directory of the older build")
	after := flag.String("new", "", "directory of the newer build")
	files := flag.Int("files", 100_000, "files of each tree")
	runs := flag.Int("runs", 60, "runs of each command")
	flag.Parse()
	if err := compare(*before, *after, *files, *runs); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// build is one of the two, with a home and a tree of its own.
type build struct {
	name, exe, home, root string
	turn                  int
}

func compare(before, after string, files, runs int) error {
	dir, err := os.MkdirTemp("", "retake-builds-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // scratch
	var all []*build
	for name, from := range map[string]string{"old": before, "new": after} {
		b := &build{name: name, exe: filepath.Join(from, "retake"), home: filepath.Join(dir, name, "home"), root: filepath.Join(dir, name, "tree")}
		if err := b.begin(files); err != nil {
			return err
		}
		defer b.run("", "daemon", "stop") //nolint:errcheck // scratch
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b *build) int { return strings.Compare(b.name, a.name) }) // old first
	fmt.Printf("%d files, median of %d runs in turn\n%-24s%12s%12s%8s\n", files, runs, "", "old", "new", "ratio")
	for _, m := range []struct {
		name string
		step func(*build) (time.Duration, error)
	}{
		{"hook, nothing changed", (*build).hook}, {"save of 10 files", (*build).save}, {"status --line", (*build).line}, {"version", (*build).version},
	} {
		took := map[string][]time.Duration{}
		for range runs {
			for _, b := range all {
				d, err := m.step(b)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", m.name, b.name, err)
				}
				took[b.name] = append(took[b.name], d)
			}
		}
		o, n := median(took["old"]), median(took["new"])
		fmt.Printf("%-24s%12s%12s%8.2f\n", m.name, o.Round(10*time.Microsecond), n.Round(10*time.Microsecond), float64(n)/float64(o))
	}
	return nil
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// begin makes the tree, protects it and lets the daemon settle.
func (b *build) begin(files int) error {
	for i := range files {
		at := filepath.Join(b.root, fmt.Sprintf("d%03d", i%1000))
		if i < 1000 {
			if err := os.MkdirAll(at, 0o755); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(at, fmt.Sprintf("f%d.txt", i)), fmt.Appendf(nil, "file %d\n", i), 0o644); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(b.home, 0o700); err != nil {
		return err
	}
	if _, err := b.run("", "init", "--yes"); err != nil {
		return err
	}
	for range 5 {
		if _, err := b.save(); err != nil {
			return err
		}
	}
	return nil
}

func (b *build) run(input string, args ...string) (time.Duration, error) {
	cmd := exec.Command(b.exe, args...)
	cmd.Dir, cmd.Stdin = b.root, strings.NewReader(input)
	cmd.Env = append(cmd.Environ(), "RETAKE_HOME="+b.home, "HOME="+b.home)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	begun := time.Now()
	err := cmd.Run()
	took := time.Since(begun)
	if err != nil {
		return 0, fmt.Errorf("%v: %w: %s", args, err, out.String())
	}
	return took, nil
}

// hook is an agent's prompt with nothing changed since the last checkpoint. The turn is ended
// after it, which is not measured.
func (b *build) hook() (time.Duration, error) {
	b.turn++
	took, err := b.run(fmt.Sprintf(`{"hook_event_name":"UserPromptSubmit","session_id":"s1","cwd":%q,"prompt":"prompt %d"}`, b.root, b.turn), "hook", "claude-code")
	if err == nil {
		_, err = b.run(fmt.Sprintf(`{"hook_event_name":"Stop","session_id":"s1","cwd":%q}`, b.root), "hook", "claude-code")
	}
	return took, err
}

func (b *build) save() (time.Duration, error) {
	b.turn++
	for i := range 10 {
		if err := os.WriteFile(filepath.Join(b.root, fmt.Sprintf("d%03d", i*7), "changed.txt"), fmt.Appendf(nil, "turn %d\n", b.turn), 0o644); err != nil {
			return 0, err
		}
	}
	return b.run("", "save", fmt.Sprintf("turn %d", b.turn))
}

func (b *build) line() (time.Duration, error) { return b.run("", "status", "--line") }

func (b *build) version() (time.Duration, error) { return b.run("", "version") }
