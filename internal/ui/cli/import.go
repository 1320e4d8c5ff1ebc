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
	*commandLine
	name   string
	accept []string
}

type importAnswer struct {
	V int `json:"v"`
	retake.SaveResult
	Extracted *archive.Report `json:"extracted,omitempty"` // of a server nobody tells
}

func newImportCommand(f *commandLine) *cobra.Command {
	c := &importCmd{commandLine: f}
	cmd := &cobra.Command{
		Use: "import FILE|- DIR", Short: "Create a workspace from a tar archive", Args: argsBetween(2, 2), RunE: c.run,
	}
	cmd.Flags().StringVar(&c.name, "name", "", "name the workspace `NAME` (default: the directory's name)")
	cmd.Flags().StringSliceVar(&c.accept, "accept", nil, "confirm a `WARNING`: home, system, giant")
	return cmd
}

func (c *importCmd) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	in, size, err := io.NopCloser(c.In), int64(0), error(nil)
	if args[0] != "-" {
		in, size, err = c.Archives.Open(c.fromWorkingDir(args[0]))
	}
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	if c.isRemote() {
		return c.sendArchive(ctx, in, size, args[1])
	}
	s, err := c.openService(ctx)
	if err != nil {
		return err
	}
	dir := c.fromWorkingDir(args[1])
	undo, err := c.Archives.Prepare(dir)
	if err != nil {
		return err
	}
	accepted, report, err := c.unpackArchive(ctx, s, in, size, dir, args)
	if err != nil {
		undo()
		return err
	}
	return c.protectImported(ctx, s, report, retake.InitRequest{Dir: dir, Name: c.name, Accept: accepted})
}

// unpackArchive asks about the place, and fills it.
func (c *importCmd) unpackArchive(ctx context.Context, s retake.Service, in io.Reader, size int64, dir string, args []string) ([]string, archive.Report, error) {
	place, err := s.Estimate(ctx, dir)
	if err != nil {
		return nil, archive.Report{}, err
	}
	accepted, err := (&initCmd{commandLine: c.commandLine, accept: c.accept}).collectConsent(ctx, place.Danger, args[1:])
	if err != nil {
		return nil, archive.Report{}, c.asImportError(err, place.Danger, args)
	}
	bar := c.newProgressLine("unpack")
	report, err := c.Archives.Extract(ctx, dir, c.withProgress(in, size, bar))
	bar.clear()
	return accepted, report, err
}

// asImportError rewrites an error about missing consent to name import instead of init.
func (c *importCmd) asImportError(err error, dangers []retake.Danger, args []string) error {
	e := *retake.AsError(err)
	if e.Kind != retake.Denied || errors.Is(err, errCancelled) {
		return err
	}
	accept := slices.Clone(c.accept)
	for _, d := range dangers {
		if !slices.Contains(accept, d.Class) {
			accept = append(accept, d.Class)
		}
	}
	l := c.stderrStyle()
	e.Hint = "go ahead: retake import " + l.ShellPath(args[0]) + " " + l.ShellPath(args[1]) + " --accept " + strings.Join(accept, ",")
	return &e
}

// withProgress shows how far the reading of an archive is.
func (c *importCmd) withProgress(in io.Reader, size int64, bar *progressLine) io.Reader {
	if bar == nil {
		return in
	}
	t := &notifyingReader{Reader: in}
	n := &countedInput{Reader: t}
	t.onRead = func() {
		text := termtext.Bytes(n.n) + " read"
		if size > 0 {
			text = termtext.Bytes(n.n) + " of " + termtext.Bytes(size)
		}
		bar.showText(text)
	}
	return n
}

type countedInput struct {
	io.Reader
	n int64
}

func (p *countedInput) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.n += int64(n)
	return n, err
}

// protectImported takes the first checkpoint of the unpacked files. The files stay even if
// that fails.
func (c *importCmd) protectImported(ctx context.Context, s retake.Service, report archive.Report, req retake.InitRequest) error {
	if !c.json {
		fmt.Fprint(c.Out, renderUnpacked(c.stdoutStyle(), report))
	}
	est, err := s.Estimate(ctx, req.Dir)
	if err == nil {
		req.Accept, err = (&initCmd{commandLine: c.commandLine, accept: req.Accept}).collectConsent(ctx, est.Danger, []string{c.stderrStyle().ShellPath(req.Dir)})
	}
	var res retake.SaveResult
	began := c.Clock.Now()
	if err == nil {
		bar := c.newProgressLine("capture")
		req.Progress = bar.callback()
		res, err = s.Init(ctx, req)
		bar.clear()
	}
	if err != nil {
		e := *retake.AsError(err)
		e.Safe = "The files are in " + req.Dir + " and whole; they are not protected."
		if e.Hint == "" {
			e.Hint = "protect them: retake init " + c.stderrStyle().ShellPath(req.Dir)
		}
		return &e
	}
	return c.printImported(res, &report, c.Clock.Now().Sub(began))
}

func (c *importCmd) printImported(res retake.SaveResult, report *archive.Report, took time.Duration) error {
	if res.Warnings == nil {
		res.Warnings = []retake.Warning{}
	}
	c.printWarnings(res.Warnings)
	err := c.printAnswer(importAnswer{1, res, report}, func(l term.Style) string { return renderCaptured(l, res.Checkpoint, took) })
	if c.isRemote() {
		c.printHints("its timeline", "retake log --workspace "+c.stderrStyle().ShellPath(res.Workspace.Name))
	} else {
		c.printHints("its timeline", "cd "+c.stderrStyle().ShellPath(res.Workspace.Root)+" && retake")
	}
	return err
}

// sendArchive lets the server unpack and protect.
func (c *importCmd) sendArchive(ctx context.Context, in io.Reader, size int64, name string) error {
	if c.name != "" || len(c.accept) > 0 {
		return usageError("see its usage: retake help import", "On a server the second word is the name, and --name and --accept say nothing.")
	}
	s, err := c.openServer()
	if err != nil {
		return err
	}
	began := c.Clock.Now()
	bar := c.newProgressLine("send")
	res, err := s.Import(ctx, retake.ImportRequest{Name: name}, c.withProgress(in, size, bar))
	bar.clear()
	if err != nil {
		return err
	}
	return c.printImported(res, nil, c.Clock.Now().Sub(began))
}

// namesShown is how many names of one sort a report lists.
const namesShown = 5

func renderUnpacked(l term.Style, r archive.Report) string {
	var b strings.Builder
	room := termtext.Width(l.Glyphs.Yes)
	say := func(sign, word, text string) {
		fmt.Fprintf(&b, "  %s%s %s%s\n", sign, strings.Repeat(" ", max(room-l.ShownWidth(sign), 0)), termtext.Pad(word, 13), text)
	}
	some := func(n int64, one, many string) string {
		if n == 0 {
			return ""
		}
		return term.CountNoun(n, one, many)
	}
	say(l.Green(l.Glyphs.Yes), "unpacked", l.JoinFacts(term.CountFiles(r.Files)+", "+termtext.Bytes(r.Bytes), some(r.Dirs, "directory", "directories"),
		some(r.Symlinks+r.Links, "link", "links"), some(r.FIFOs, "FIFO", "FIFOs")))
	for _, part := range []struct {
		names     []string
		one, many string
	}{
		{r.Outward, "link leads out of the directory; it is kept as it is", "links lead out of the directory; they are kept as they are"},
		{r.Dropped, "file lost its setuid or setgid bit", "files lost their setuid or setgid bits"},
		{r.Bare, "file could not be given its attributes", "files could not be given their attributes"},
		{r.Skipped, "name is left out: another workspace's own mark", "names are left out: marks of other workspaces"},
	} {
		if len(part.names) == 0 {
			continue
		}
		say(l.Yellow("!"), "changed", term.CountNoun(int64(len(part.names)), part.one, part.many))
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
