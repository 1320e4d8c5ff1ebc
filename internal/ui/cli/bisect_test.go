package cli_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/cli"
)

type bisected struct {
	Found  bool
	Why    string
	Good   *retake.Checkpoint
	Bad    *retake.Checkpoint
	Points []struct {
		Numbers []int64
		Verdict retake.Verdict
		Stored  bool
	}
	Runs  []retake.Verification
	Story *retake.Story
}

// six checkpoints; the word goes with the fourth.
func (p *person) six() {
	p.t.Helper()
	p.types("", "init").want(p.t, 0, "", "")
	for n := 2; n <= 6; n++ {
		word := "works"
		if n >= 4 {
			word = "broken"
		}
		p.clock.Advance(time.Minute)
		p.write("a.txt", fmt.Sprintf("%s %d\n", word, n))
		p.types("", "save", fmt.Sprintf("step %d", n)).want(p.t, 0, "", "")
	}
	p.looksFor("works")
}

func TestBisectFindsTheFirstThatFails(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.write("a.txt", "works\n")
	p.six()
	p.write("a.txt", "now\n")
	s := p.types("", "bisect", "--no-color", "--", "npm", "test")
	s.want(t, 0, "✘ 4 is the first checkpoint at which this fails", "look:          retake diff 3 4\ngo back:       retake restore 3\nonly the file: retake restore 3 -- a.txt\n")
	for _, want := range []string{
		"\n  1 ─── 2 ─── 3 ─── 4 ─── 5 ─── 6\n", "  step 3            the last one that passes\n", "  1 min and 1 file later\n",
		"\nWhat really changed from 3 to 4\n\n  source     1  a.txt", "\nThe end of the failing run\n\n  a.txt is broken 4\n",
	} {
		if !strings.Contains(s.out, want) {
			t.Errorf("missing %q in\n%s", want, s.out)
		}
	}
	for _, c := range p.ran {
		if c.Dir == p.dir || c.BindOver != p.dir {
			t.Errorf("ran %+v", c)
		}
	}
	if left, err := filepath.Glob(filepath.Join(p.data, "scratch*")); err != nil || len(left) > 0 || p.read("a.txt") != "now\n" {
		t.Fatalf("%v, left %v", err, left)
	}
	ran := len(p.ran)
	s = p.types("", "bisect", "--json", "--", "npm", "test")
	b := decode[bisected](t, s)
	if len(p.ran) != ran || len(b.Runs) != 0 || !b.Found || b.Good.Number != 3 || b.Bad.Number != 4 || len(b.Points) != 6 || b.Story == nil || s.err != "" {
		t.Fatalf("again: %d runs, %s, %q", len(p.ran)-ran, s.out, s.err)
	}
	p.types("", "bisect", "--no-color", "--", "npm test").want(t, 0, "The end of the failing run", "") // of a run before
}

func TestBisectWithoutABorderHasACode(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.write("a.txt", "works\n")
	p.six()
	p.types("", "bisect", "--to", "3", "--no-color", "--", "npm", "test").want(t, 3, "✔ It passes at the newest checkpoint", "then again: ")
	p.types("", "bisect", "--from", "4", "--no-color", "--", "npm", "test").want(t, 3, "? It fails already at the first", "")
	p.types("", "bisect", "--from", "5", "--to", "3", "--", "npm", "test").want(t, 2, "", "Checkpoint 5 is not on the line that leads to 3.")
	p.types("", "bisect", "--to", "99", "--", "npm", "test").want(t, 3, "", "There is no checkpoint 99")
	p.program = func(c cli.Command) (int, error) {
		b, err := os.ReadFile(filepath.Join(c.Dir, "a.txt"))
		switch text := string(b); {
		case strings.HasPrefix(text, "broken 4") || strings.HasPrefix(text, "works 3"):
			return 127, err
		case strings.HasPrefix(text, "works"):
			return 0, err
		}
		return 1, err
	}
	p.types("", "bisect", "--no-color", "--", "make").want(t, 12, "? Between 2 and 5 nothing could be run", "")
	p.types("", "bisect").want(t, 2, "", "Which program?")
}

// What a restore left behind is not searched.
func TestBisectFollowsTheLine(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.write("a.txt", "works\n")
	p.six()
	p.types("", "restore", "3", "--yes", "--accept", "changed").want(t, 0, "", "")
	p.write("a.txt", "broken again\n")
	p.types("", "save").want(t, 0, "", "")
	b := decode[bisected](t, p.types("", "bisect", "--json", "--", "npm", "test"))
	if !b.Found || b.Bad.Number < 7 {
		t.Fatalf("%+v", b)
	}
	for _, pt := range b.Points {
		for _, n := range pt.Numbers {
			if n >= 4 && n <= 6 {
				t.Errorf("%d was left behind", n)
			}
		}
	}
}

func TestBisectKeepsWhatItHeardWhenItIsStopped(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.write("a.txt", "works\n")
	p.six()
	ctx, stop := context.WithCancel(t.Context())
	whole, n := p.program, 0
	p.program = func(c cli.Command) (int, error) {
		if n++; n == 3 {
			stop()
			return 0, errors.New("ended")
		}
		return whole(c)
	}
	p.run(ctx, "", "bisect", "--no-color", "--", "npm", "test").want(t, 130, "", "✘ Stopped.\n  2 answers stay stored. Your files were not touched.\n  Continue:  retake bisect -- npm test\n")
	n = 10
	b := decode[bisected](t, p.types("", "bisect", "--json", "--", "npm", "test"))
	stored := 0
	for _, pt := range b.Points {
		if pt.Stored {
			stored++
		}
	}
	if !b.Found || stored != 2 || b.Bad.Number != 4 {
		t.Fatalf("%d stored, %+v", stored, b)
	}
}
