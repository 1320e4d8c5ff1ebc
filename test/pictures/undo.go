//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/png" // the photos of the demo
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/demo"
	"github.com/retake-dev/retake/test/pictures/reel"
	"github.com/retake-dev/retake/test/pictures/shot"
)

// photoSuffix is that of the photos in the demo.
const photoSuffix = ".png"

// shown is what retake show tells of a turn, as far as it is filmed.
type shown struct {
	Checkpoint, Parent retake.Checkpoint
	Changes            []struct {
		Path, What string
	}
	Lines []struct{ Who, Tool, Text string } // with --conversation
}

// undo makes the demo, and undoes the change too far at its end. The screens are made when they
// would be seen, one after the other.
func (s *stage) undo(ctx context.Context) (reel.Run, error) {
	s.at("14:26")
	var made demo.Result
	if err := s.tells(ctx, s.home(), &made, "demo", filepath.Dir(s.tree())); err != nil {
		return reel.Run{}, err
	}
	r := reel.Run{Workspace: made.Workspace.Name, Number: made.Last}
	err := steps(
		func() error { return s.turnOf(ctx, &r) },
		func() error { return s.deletedIn(ctx, &r) },
		func() error { return s.lookAt(ctx, &r) },
		func() error { return s.retake(ctx, "config", "verify."+demo.CheckName, demo.CheckLine) },
		func() error { return s.takeBack(ctx, &r) },
		func() error { return s.photosNow(&r) },
	)
	return r, err
}

// tells runs the program and reads its JSON.
func (s *stage) tells(ctx context.Context, dir string, value any, args ...string) error {
	out, err := s.say(ctx, dir, s.exe, append(args, "--json")...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, value); err != nil {
		return fmt.Errorf("read retake %s: %w", args[0], err)
	}
	return nil
}

// turnOf is what the agent was told, did and said.
func (s *stage) turnOf(ctx context.Context, r *reel.Run) error {
	var card shown
	if err := s.tells(ctx, s.tree(), &card, "show", fmt.Sprint(r.Number), "--conversation"); err != nil {
		return err
	}
	if card.Checkpoint.Turn == nil {
		return fmt.Errorf("show %d: it is no turn", r.Number)
	}
	r.Agent = card.Checkpoint.Turn.Agent
	for _, l := range card.Lines {
		switch {
		case l.Who == "you": // the last one counts: the conversation is that of a session
			r.Prompt, r.Calls = l.Text, nil
		case l.Who == "agent" && l.Tool != "":
			r.Calls = append(r.Calls, reel.Call{Tool: l.Tool, Text: l.Text})
		case l.Who == "agent":
			r.Words = l.Text
		}
	}
	return nil
}

// deletedIn finds the photos that the turn deleted, and what was saved just before.
func (s *stage) deletedIn(ctx context.Context, r *reel.Run) error {
	var card shown
	if err := s.tells(ctx, s.tree(), &card, "show", fmt.Sprint(r.Number)); err != nil {
		return err
	}
	if p := card.Parent; p.Trigger == retake.TriggerRisk && p.Coverage.Grade == retake.Complete && p.Turn != nil {
		r.Saved = p.Number
		for i := range r.Calls {
			r.Calls[i].Risky = r.Calls[i].Text == p.Turn.Command
		}
	}
	for _, c := range card.Changes {
		if c.What != string(retake.Deleted) || path.Ext(c.Path) != photoSuffix {
			continue
		}
		if r.Dir == "" {
			r.Dir = path.Dir(c.Path)
		}
		if path.Dir(c.Path) != r.Dir {
			return fmt.Errorf("show %d: photos of two directories, %s and %s", r.Number, r.Dir, c.Path)
		}
		r.Deleted = append(r.Deleted, reel.Photo{Name: path.Base(c.Path)})
	}
	return nil
}

// more is a line in place of others.
var more = shot.Read("\x1b[2m⋮\x1b[0m", 1).Rows()

// lookAt is how you find out.
func (s *stage) lookAt(ctx context.Context, r *reel.Run) error {
	short, err := s.lines(ctx, "retake", reel.Beside)
	if err != nil {
		return err
	}
	output, err := s.lines(ctx, fmt.Sprintf("retake show %d --output %s", r.Number, demo.CheckName), reel.Beside)
	if err != nil {
		return err
	}
	long, err := s.lines(ctx, "retake log", reel.Wide)
	if err != nil {
		return err
	}
	r.Found = slices.Concat(before(short, "●○◇→", 1), more, []shot.Row{{}}, output)
	r.Timeline = slices.Concat(before(long, "●○◇", 3), more)
	return nil
}

// lines are those of a terminal on which a line was typed.
func (s *stage) lines(ctx context.Context, line string, width int) ([]shot.Row, error) {
	out, err := s.typed(ctx, line, width)
	return shot.Read(prompted(line)+out, width).Rows(), err
}

// before are the lines of a timeline with its first rows, and all that belongs to them.
func before(lines []shot.Row, signs string, rows int) []shot.Row {
	for i, l := range lines {
		first, _ := utf8.DecodeRuneInString(l.Text)
		if l.Text == "" || !strings.ContainsRune(signs, first) {
			continue
		}
		if rows--; rows < 0 {
			return lines[:i]
		}
	}
	return lines
}

// takeBack undoes the turn as a person does, and asks the check.
func (s *stage) takeBack(ctx context.Context, r *reel.Run) error {
	line := fmt.Sprintf("retake undo %d", r.Number)
	plan, rest, err := s.answered(ctx, line, reel.Beside, "y")
	if err != nil {
		return err
	}
	asked := plan[strings.LastIndex(plan, "\n")+1:]
	result := paragraphs(shot.Read(asked+rest, reel.Beside).Rows(), 3)
	checked, err := s.lines(ctx, "retake verify", reel.Beside)
	if err != nil {
		return err
	}
	r.Plan = shot.Read(prompted(line)+plan, reel.Beside).Rows()
	r.Result = slices.Concat(result, []shot.Row{{}}, checked)
	return nil
}

// paragraphs are the first few of a text.
func paragraphs(lines []shot.Row, n int) []shot.Row {
	for i, l := range lines {
		if l.Text == "" {
			if n--; n == 0 {
				return lines[:i]
			}
		}
	}
	return lines
}

// photosNow looks which photos are there, and at their colors.
func (s *stage) photosNow(r *reel.Run) error {
	dir := filepath.Join(s.tree(), filepath.FromSlash(r.Dir))
	names, err := filepath.Glob(filepath.Join(dir, "*"+photoSuffix))
	if err != nil || len(names) == 0 {
		return errors.Join(fmt.Errorf("find photos: there are %d", len(names)), err)
	}
	for _, name := range names {
		r.Back = append(r.Back, filepath.Base(name))
	}
	for i, p := range r.Deleted {
		if r.Deleted[i].Ink, r.Deleted[i].Ground, err = colors(filepath.Join(dir, p.Name)); err != nil {
			return err
		}
	}
	return nil
}

// colors are that in the middle of a photo, and that in its corner.
func colors(file string) (ink, ground string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return "", "", fmt.Errorf("open photo: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was read
	img, _, err := image.Decode(f)
	if err != nil {
		return "", "", fmt.Errorf("read photo: %w", err)
	}
	hex := func(x, y int) string {
		r, g, b, _ := img.At(x, y).RGBA()
		return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
	}
	size := img.Bounds()
	return hex((size.Min.X+size.Max.X)/2, (size.Min.Y+size.Max.Y)/2), hex(size.Min.X, size.Min.Y), nil
}
