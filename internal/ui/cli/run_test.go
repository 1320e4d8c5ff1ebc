package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/ui/cli"
)

// person is somebody at a terminal, in front of the real service.
type person struct {
	t     *testing.T
	dir   string
	clock *clock.Manual
	home  string // of the person
	data  string
	opens int

	daemon cli.Daemon
	wrap   func(retake.Service) retake.Service // what stands before the service
	solo   bool                                // the last service was asked for in this process

	pager   func(text string) error        // what a pager does
	width   int                            // columns; 0: 80
	program func(cli.Command) (int, error) // what running a program does
	screen  func(cli.Screen) error         // what filling the terminal does
	ran     []cli.Command
}

func newPerson(t *testing.T) *person {
	t.Helper()
	p := &person{t: t, dir: t.TempDir(), clock: clock.NewManual(now), home: "/nobody", data: t.TempDir()}
	p.write("a.txt", "hello\n")
	return p
}

func (p *person) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

type said struct {
	code     int
	out, err string
}

// types runs a command; answers are what is typed at its questions.
func (p *person) types(answers string, args ...string) said {
	p.t.Helper()
	return p.run(p.t.Context(), answers, args...)
}

func (p *person) run(ctx context.Context, answers string, args ...string) said {
	p.t.Helper()
	set, err := config.Load(filepath.Join(p.data, "config.json"))
	if err != nil {
		p.t.Fatal(err)
	}
	if err := set.Set("floor", "1KB"); err != nil {
		p.t.Fatal(err)
	}
	var out, talk bytes.Buffer
	code := cli.Run(ctx, args, cli.Deps{
		Open: func(ctx context.Context, solo bool) (retake.Service, error) {
			p.opens++
			p.solo = solo
			s, err := assemble.OpenService(ctx, config.Config{DataDir: filepath.Join(p.data, "data"), Home: p.home, BootID: "this run"}, set, assemble.Options{Clock: p.clock})
			if err != nil || p.wrap == nil {
				return s, err
			}
			return p.wrap(s), nil
		},
		Run: func(_ context.Context, c cli.Command) (int, error) {
			p.ran = append(p.ran, c)
			return p.program(c)
		},
		Screen: func(_ context.Context, x cli.Screen) error { return p.screen(x) },
		NewScratchDir: func() (string, func() error, error) {
			dir, err := os.MkdirTemp(p.data, "scratch")
			return dir, func() error { return os.RemoveAll(dir) }, err
		},
		Mount: func(_ context.Context, dir string, _ retake.Workspace, _ retake.Service, ready func()) error {
			ready()
			return os.WriteFile(filepath.Join(dir, "mounted"), nil, 0o600)
		},
		Daemon: p.daemon, Settings: set, In: strings.NewReader(answers), Out: &out, Err: &talk,
		InTTY: true, OutTTY: true, ErrTTY: true, Width: p.width, Height: 24, Pager: p.pager, Color: true,
		Dir: p.dir, Home: p.home, Clock: p.clock, Version: "test",
	})
	fitsPage(p.t, args, out.String())
	return said{code, out.String(), talk.String()}
}

func (s said) want(t *testing.T, code int, inOut, inErr string) {
	t.Helper()
	if s.code != code || !strings.Contains(s.out, inOut) || !strings.Contains(s.err, inErr) {
		t.Fatalf("code %d, want %d; out:\n%s\nwant %q\nerr:\n%s\nwant %q", s.code, code, s.out, inOut, s.err, inErr)
	}
}

func TestTerminalGetsColorsAndHints(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "\x1b[1mProtected.\x1b[0m", "\x1b[2mthe timeline:\x1b[0m retake")
	p.types("", "log").want(t, 0, "start", "\x1b[2mdetails:\x1b[0m retake show 1")
	if s := p.types("", "log", "--json"); s.err != "" || strings.Contains(s.out, "\x1b") {
		t.Fatalf("JSON comes with talk: %q, %q", s.out, s.err)
	}
	if s := p.types("", "log", "--no-color"); strings.Contains(s.out+s.err, "\x1b") {
		t.Fatalf("colors all the same: %q", s.out+s.err)
	}
}

func TestQuestionsDefaultToNo(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	p.types("", "save", "two").want(t, 0, "two", "")
	for _, answer := range []string{"", "\n", "n\n", "what\n"} {
		p.types(answer, "forget", "1").want(t, 6, "", "Forget 1 checkpoint? This can't be undone.  [y/N] ")
		p.types(answer, "deinit").want(t, 6, "", "Cancelled. Nothing was changed.\n")
	}
	p.types("", "log").want(t, 0, "start", "")
	p.types("", "forget", "1", "--no-input").want(t, 6, "", "so it needs your confirmation")
	p.types("y\n", "forget", "1").want(t, 0, "Forgot 1 checkpoint: 1.", "  1  11:42  start")
	p.types("yes\n", "deinit").want(t, 0, "not protected any more", "")
	p.types("", "log").want(t, 3, "", "not in a protected workspace")
}

func TestDangerAsksAndYesDoesNotCoverIt(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.home = p.dir
	p.types("", "init", "--yes").want(t, 6, "", "--accept home")
	p.types("n\n", "init").want(t, 6, "", "1 of 1  \x1b[33mhome\x1b[0m: ")
	p.types("y\n", "init").want(t, 0, "Protected.", "Protect it all the same?")
}

func TestTimesAreRefs(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "") // 11:42
	p.clock.Advance(20 * time.Minute)
	p.types("", "save", "noon").want(t, 0, "12:02", "")
	p.clock.Advance(26 * time.Hour)
	p.types("", "save", "next day").want(t, 0, "", "")
	for ref, want := range map[string]string{
		"yesterday 11:42": "start", "2026-11-03 12:01": "start", "yesterday 12:02": "noon", "25h": "noon", "2026-11-03": "noon", "14:02": "next day",
	} {
		p.types("", "show", ref, "--no-color").want(t, 0, "  "+want+"\n", "")
	}
	p.types("", "show", "2026-11-02").want(t, 3, "", "There is no checkpoint")
	s := p.types("", "log", "--since", "2026-11-04", "--no-color")
	s.want(t, 0, "next day", "")
	if strings.Contains(s.out, "noon") {
		t.Fatalf("got\n%s", s.out)
	}
	p.types("", "log", "--no-color").want(t, 0, "○    2  Tue 12:02  noon", "")
}

func TestCatShowsATerminalNothingToObey(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.write("evil", "x\x1b[2Jy\n")
	p.types("", "init").want(t, 0, "", "")
	p.types("", "cat", "1", "evil").want(t, 0, "x\\x1b[2Jy\n", "")
}

func TestStopIsTold(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	p.run(ctx, "", "save").want(t, 130, "", "Nothing was")
}

func TestLittleOpensNothing(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	for _, args := range [][]string{{"version"}, {"help"}, {"help", "--agent"}, {"config"}, {"save", "-h"}, {"completion", "bash"}} {
		p.types("", args...).want(t, 0, "", "")
	}
	p.types("", "nope").want(t, 2, "", "Unknown command: nope")
	if p.opens != 0 {
		t.Fatalf("the service was opened %d times", p.opens)
	}
}
