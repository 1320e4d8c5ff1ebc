//go:build unix

package seeds_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The first seed is the snapshots of Docker Agent: checkpoints at the boundaries of turns,
// a review of each, /undo, a list with file counts, a reset to any of them or to the
// original. It works in git repositories, without ignored files, and without new files
// above 2 MiB. Here it works everywhere, and everything is kept.

const (
	dockerAgent = "docker-agent"
	large       = 3 << 20
)

// listed is a row of the list.
type listed struct {
	Number  int64  `json:"number"`
	Trigger string `json:"trigger"`
	Intent  string `json:"intent"`
	Changed struct {
		Added   int64 `json:"added"`
		Deleted int64 `json:"deleted"`
		Edited  int64 `json:"edited"`
	} `json:"changed"`
	Turn *struct {
		Dir string `json:"dir"`
	} `json:"turn"`
}

// turn finds the checkpoint at the end of a turn.
func (p *person) turn(prompt string) listed {
	p.Helper()
	var log struct {
		Checkpoints []listed `json:"checkpoints"`
	}
	p.asks(&log, "log")
	for _, c := range log.Checkpoints {
		if c.Trigger == "turn" && c.Intent == prompt {
			return c
		}
	}
	p.Fatalf("no turn %q in %+v", prompt, log.Checkpoints)
	return listed{}
}

func (p *person) begins(inGit bool) {
	p.Helper()
	p.write("main.go", "package main\n")
	p.write(".gitignore", "cache/\n")
	if inGit {
		if _, err := exec.LookPath("git"); err != nil {
			p.Skip("there is no git")
		}
		p.types("git", "init", "-q", "-b", "main")
		p.types("git", "add", "-A")
		p.types("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first")
	}
	p.retake("init")
	p.retake("agents", "install", dockerAgent, "--yes")
}

// git is what git says of the project.
func (p *person) git() string {
	p.Helper()
	return p.types("git", "log", "--format=%H %s", "--all") + p.types("git", "rev-parse", "HEAD") + p.types("git", "symbolic-ref", "HEAD")
}

const firstTurn = `
prompt add the page
write page.html hello
shell mkdir -p cache && echo warm > cache/data && head -c 3145728 /dev/zero > video.bin
stop The page is there.
`

const moreTurns = `
prompt drop the entry point
shell rm main.go
edit page.html goodbye
stop It is gone.

prompt what did you do
stop I dropped the entry point.
end
`

func TestSeed001_DockerAgentSnapshots(t *testing.T) {
	t.Parallel()
	for name, inGit := range map[string]bool{"in a repository": true, "without one": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t)
			p.begins(inGit)
			store := filepath.Join(p.Home, ".cagent", "session.db")
			must(t, os.MkdirAll(filepath.Dir(store), 0o700))
			must(t, os.WriteFile(store, []byte("the sessions of the agent"), 0o600))
			git := ""
			if inGit {
				git = p.git()
			}
			original := p.files()
			p.agent(dockerAgent, firstTurn)
			afterFirst := p.files()
			p.agent(dockerAgent, moreTurns)
			p.reviews()
			p.resets(original, afterFirst)
			if inGit && p.git() != git {
				t.Errorf("git moved:\n%s", p.git())
			}
			if b, err := os.ReadFile(store); err != nil || string(b) != "the sessions of the agent" {
				t.Errorf("the sessions of the agent were touched: %q, %v", b, err)
			}
		})
	}
}

// reviews looks at what each turn touched: also what git ignores, and large files.
func (p *person) reviews() {
	p.Helper()
	first, second, third := p.turn("add the page"), p.turn("drop the entry point"), p.turn("what did you do")
	if first.Changed.Added < 3 {
		p.Errorf("the first turn added %+v", first.Changed)
	}
	if second.Changed.Deleted != 1 || second.Changed.Edited < 1 {
		p.Errorf("the second turn changed %+v", second.Changed)
	}
	if c := third.Changed; c.Added+c.Deleted+c.Edited != 0 {
		p.Errorf("a turn that only talked changed %+v", c)
	}
	shown := p.retake("diff", fmt.Sprint(second.Number-1), fmt.Sprint(second.Number))
	if !strings.Contains(shown, "main.go") || !strings.Contains(shown, "page.html") {
		p.Errorf("the review of the second turn:\n%s", shown)
	}
	if got := p.retake("cat", fmt.Sprint(first.Number), "cache/data"); got != "warm\n" {
		p.Errorf("an ignored file is %q", got)
	}
	if got := p.retake("cat", fmt.Sprint(first.Number), "video.bin"); len(got) != large {
		p.Errorf("a large file has %d bytes", len(got))
	}
	if said := p.retake("show", fmt.Sprint(second.Number), "--conversation"); !strings.Contains(said, "drop the entry point") || !strings.Contains(said, "It is gone.") {
		p.Errorf("the conversation:\n%s", said)
	}
}

// resets goes one step back as /undo does, to any checkpoint, and to the original.
func (p *person) resets(original, afterFirst map[string]string) {
	p.Helper()
	p.retake("undo", "--yes") // the turn that only talked hides nothing
	if got := p.files(); !maps.Equal(got, afterFirst) {
		p.Errorf("after one step back: %v", keys(got))
	}
	p.retake("restore", fmt.Sprint(p.turn("drop the entry point").Number), "--yes")
	if p.read("main.go") != "absent" || p.read("page.html") == "hello\n" {
		p.Errorf("after the reset to a turn: main.go %q, page.html %q", p.read("main.go"), p.read("page.html"))
	}
	p.retake("restore", "start", "--yes")
	if got := p.files(); !maps.Equal(got, original) {
		p.Errorf("the original is %v, want %v", keys(got), keys(original))
	}
}

func keys(files map[string]string) (out []string) {
	for path, text := range files {
		out = append(out, fmt.Sprintf("%s (%d bytes)", path, len(text)))
	}
	return out
}

// An agent of a sub-directory captures and restores that directory alone.
func TestSeed001_SubDirectory(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.write("top.txt", "top\n")
	p.write("service/a.txt", "a\n")
	top := p.Dir
	p.Dir = filepath.Join(top, "service")
	p.retake("init")
	p.retake("agents", "install", dockerAgent, "--yes")
	p.agent(dockerAgent, "prompt change it\nedit a.txt b\nwrite ../top.txt changed\nstop Done.\nend\n")
	p.retake("undo", "--yes")
	if got := p.read("a.txt"); got != "a\n" {
		t.Errorf("the file of the agent's directory is %q", got)
	}
	if got := p.read("../top.txt"); !strings.HasPrefix(got, "changed") {
		t.Errorf("a file outside of it was touched: %q", got)
	}
}
