package cli_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/ui/cli"
)

// The terminal is filled with the workspace we are in, and in the look that was asked for.
func TestTUI(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.home = filepath.Dir(p.dir)
	p.types("", "init").want(t, 0, "", "")
	var got cli.Screen
	p.screen = func(x cli.Screen) error { got = x; return nil }
	p.types("", "tui").want(t, 0, "", "")
	if got.Workspace.Root != p.dir || got.Service == nil || !got.Color || got.ASCII {
		t.Fatalf("shown is %+v", got)
	}
	if to := got.ProposeForkDir(); to != p.dir+"-fork" {
		t.Errorf("a fork would go to %s", to)
	}
	for typed, want := range map[string]string{"/x/y": "/x/y", "spike": filepath.Join(p.dir, "spike"), "../b": filepath.Join(filepath.Dir(p.dir), "b"), "~/c": filepath.Join(p.home, "c")} {
		if at := got.ResolveDir(typed); at != want {
			t.Errorf("%s is %s, want %s", typed, at, want)
		}
	}
	p.types("", "tui", "--ascii", "--no-color").want(t, 0, "", "")
	if got.Color || !got.ASCII {
		t.Errorf("shown in another look: %+v", got)
	}
	p.screen = func(cli.Screen) error { return errors.New("no such terminal") }
	p.types("", "tui").want(t, 1, "", "No such terminal.")
}

// Without somebody at a terminal there is nothing to fill.
func TestTUINeedsATerminal(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	p.screen = func(cli.Screen) error { t.Error("something was filled"); return nil }
	p.types("", "tui", "--json").want(t, 2, `"kind":"invalid"`, "")
	p.types("", "tui", "--no-input").want(t, 2, "", "The full-screen view needs a terminal.")
	if out := p.types("", "tui", "--no-input"); !strings.Contains(out.err, "retake log") {
		t.Errorf("it does not say what else there is:\n%s", out.err)
	}
}
