package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/archive"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type importCmd struct {
	*face
	name   string
	accept []string
}

type importAnswer struct {
	V int `json:"v"`
	retake.SaveResult
	Extracted *archive.Report `json:"extracted,omitempty"` // of a server nobody tells
}

func (f *face) importCommand() *cobra.Command {
	c := &importCmd{face: f}
	cmd := &cobra.Command{
		Use: "import FILE|- DIR", Short: "Create a workspace from a tar archive", Args: between(2, 2), RunE: c.run,
	}
	cmd.Flags().StringVar(&c.name, "name", "", "name the workspace `NAME` (default: the directory's name)")
	cmd.Flags().StringSliceVar(&c.accept, "accept", nil, "confirm a `WARNING`: home, system, giant")
	return cmd
}

func (c *importCmd) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	in, size, err := io.NopCloser(c.In), int64(0), error(nil)
	if args[0] != "-" {
		in, size, err = c.Archives.Open(c.below(args[0]))
	}
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	if c.far() {
		return c.send(ctx, in, size, args[1])
	}
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	dir := c.below(args[1])
	undo, err := c.Archives.Prepare(dir)
	if err != nil {
		return err
	}
	accepted, report, err := c.unpack(ctx, s, in, size, dir, args)
	if err != nil {
		undo()
		return err
	}
	return c.protect(ctx, s, report, retake.InitRequest{Dir: dir, Name: c.name, Accept: accepted})
}

// unpack asks about the place, and fills it.
func (c *importCmd) unpack(ctx context.Context, s retake.Service, in io.Reader, size int64, dir string, args []string) ([]string, archive.Report, error) {
	place, err := s.Estimate(ctx, dir)
	if err != nil {
		return nil, archive.Report{}, err
	}
	accepted, err := (&initCmd{face: c.face, accept: c.accept}).consent(ctx, place.Danger, args[1:])
	if err != nil {
		return nil, archive.Report{}, c.reworded(err, place.Danger, args)
	}
	bar := c.progress("unpack")
	report, err := c.Archives.Extract(ctx, dir, c.watched(in, size, bar))
	bar.done()
	return accepted, report, err
}

// reworded names our command where consent names init.
func (c *importCmd) reworded(err error, dangers []retake.Danger, args []string) error {
	e := *retake.AsError(err)
	if e.Kind != retake.Denied || errors.Is(err, errLeft) {
		return err
	}
	accept := slices.Clone(c.accept)
	for _, d := range dangers {
		if !slices.Contains(accept, d.Class) {
			accept = append(accept, d.Class)
		}
	}
	l := c.talk()
	e.Hint = "go ahead: retake import " + l.Word(args[0]) + " " + l.Word(args[1]) + " --accept " + strings.Join(accept, ",")
	return &e
}

// watched shows how far the reading of an archive is.
func (c *importCmd) watched(in io.Reader, size int64, bar *progress) io.Reader {
	if bar == nil {
		return in
	}
	t := &telling{Reader: in}
	n := &passed{Reader: t}
	t.tell = func() {
		text := termtext.Bytes(n.n) + " read"
		if size > 0 {
			text = termtext.Bytes(n.n) + " of " + termtext.Bytes(size)
		}
		bar.say(text)
	}
	return n
}

type passed struct {
	io.Reader
	n int64
}

func (p *passed) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.n += int64(n)
	return n, err
}

// protect takes the first checkpoint of what is there now. Whatever happens, the files stay.
func (c *importCmd) protect(ctx context.Context, s retake.Service, report archive.Report, req retake.InitRequest) error {
	if !c.json {
		fmt.Fprint(c.Out, renderUnpacked(c.out(), report))
	}
	est, err := s.Estimate(ctx, req.Dir)
	if err == nil {
		req.Accept, err = (&initCmd{face: c.face, accept: req.Accept}).consent(ctx, est.Danger, []string{c.talk().Word(req.Dir)})
	}
	var res retake.SaveResult
	began := c.Clock.Now()
	if err == nil {
		bar := c.progress("capture")
		req.Progress = bar.tell()
		res, err = s.Init(ctx, req)
		bar.done()
	}
	if err != nil {
		e := *retake.AsError(err)
		e.Safe = "The files are in " + req.Dir + " and whole; they are not protected."
		if e.Hint == "" {
			e.Hint = "protect them: retake init " + c.talk().Word(req.Dir)
		}
		return &e
	}
	return c.imported(res, &report, c.Clock.Now().Sub(began))
}

func (c *importCmd) imported(res retake.SaveResult, report *archive.Report, took time.Duration) error {
	if res.Warnings == nil {
		res.Warnings = []retake.Warning{}
	}
	c.warn(res.Warnings)
	err := c.emit(importAnswer{1, res, report}, func(l term.Look) string { return renderCaptured(l, res.Checkpoint, took) })
	if c.far() {
		c.hint("its timeline", "retake log --workspace "+c.talk().Word(res.Workspace.Name))
	} else {
		c.hint("its timeline", "cd "+c.talk().Word(res.Workspace.Root)+" && retake")
	}
	return err
}

// send lets the server unpack and protect.
func (c *importCmd) send(ctx context.Context, in io.Reader, size int64, name string) error {
	if c.name != "" || len(c.accept) > 0 {
		return usage("see its usage: retake help import", "On a server the second word is the name, and --name and --accept say nothing.")
	}
	s, err := c.server()
	if err != nil {
		return err
	}
	began := c.Clock.Now()
	bar := c.progress("send")
	res, err := s.Import(ctx, retake.ImportRequest{Name: name}, c.watched(in, size, bar))
	bar.done()
	if err != nil {
		return err
	}
	return c.imported(res, nil, c.Clock.Now().Sub(began))
}

// namesShown is how many names of one sort a report lists.
const namesShown = 5

func renderUnpacked(l term.Look, r archive.Report) string {
	var b strings.Builder
	room := termtext.Width(l.Glyphs.Yes)
	say := func(sign, word, text string) {
		fmt.Fprintf(&b, "  %s%s %s%s\n", sign, strings.Repeat(" ", max(room-l.ShownWidth(sign), 0)), termtext.Pad(word, 13), text)
	}
	some := func(n int64, one, many string) string {
		if n == 0 {
			return ""
		}
		return term.Number(n, one, many)
	}
	say(l.Green(l.Glyphs.Yes), "unpacked", l.Facts(term.Files(r.Files)+", "+termtext.Bytes(r.Bytes), some(r.Dirs, "directory", "directories"),
		some(r.Symlinks+r.Links, "link", "links"), some(r.FIFOs, "FIFO", "FIFOs")))
	for _, part := range []struct {
		names     []string
		one, many string
	}{
		{r.Dropped, "file lost its setuid or setgid bit", "files lost their setuid or setgid bits"},
		{r.Bare, "file could not be given its attributes", "files could not be given their attributes"},
		{r.Skipped, "name is left out: another workspace's own mark", "names are left out: marks of other workspaces"},
	} {
		if len(part.names) == 0 {
			continue
		}
		say(l.Yellow("!"), "changed", term.Number(int64(len(part.names)), part.one, part.many))
		for i, name := range part.names {
			if i == namesShown {
				say("", "", l.Dim(fmt.Sprintf("%s more, all in --json", termtext.Count(int64(len(part.names)-i)))))
				break
			}
			say("", "", l.Dim(l.Glyphs.Cut(termtext.Escape(name), max(l.Width-17-room, 20))))
		}
	}
	return b.String()
}
