package cli

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/archive"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// Archives are the hands for archives and the directories that they become.
type Archives interface {
	// Create begins a file that stands under its name when it is kept, and not before.
	Create(path string, replace bool) (ArchiveFile, error)
	// Open reads a file; size is 0 when it is not known.
	Open(path string) (in io.ReadCloser, size int64, err error)
	// Prepare makes a directory, or takes one that is empty. undo takes away what it made.
	Prepare(dir string) (undo func(), err error)
	// Extract fills a prepared directory. After a refusal it is empty again.
	Extract(ctx context.Context, dir string, r io.Reader) (archive.Report, error)
}

// ArchiveFile is a file on its way.
type ArchiveFile interface {
	io.Writer
	Keep() error
	Drop()
}

type exportCmd struct {
	*face
	gzip bool
}

type exportAnswer struct {
	V          int               `json:"v"`
	File       string            `json:"file"`
	Bytes      int64             `json:"bytes"`
	Gzip       bool              `json:"gzip"`
	Checkpoint retake.Checkpoint `json:"checkpoint"`
}

func (f *face) exportCommand() *cobra.Command {
	c := &exportCmd{face: f}
	cmd := &cobra.Command{
		Use: "export REF [FILE|-]", Short: "Write a checkpoint to a tar archive", Args: between(1, 2), RunE: c.run,
	}
	cmd.Flags().BoolVar(&c.gzip, "gzip", false, "compress with gzip")
	return cmd
}

func (c *exportCmd) run(cmd *cobra.Command, args []string) error {
	to := "-"
	if len(args) == 2 {
		to = args[1]
	}
	switch {
	case to == "-" && c.json:
		return usage("name a file: retake export "+args[0]+" FILE --json", "The output is the archive, so there is no room for --json.")
	case to == "-" && c.OutTTY:
		return usage("write a file: retake export "+c.talk().Word(args[0])+" FILE\npipe it: retake export "+c.talk().Word(args[0])+" | tar -t", "An archive is not for a terminal.")
	}
	c.gzip = c.gzip || strings.HasSuffix(to, ".gz") || strings.HasSuffix(to, ".tgz")
	ctx := cmd.Context()
	s, ws, err := c.here(ctx)
	if err != nil {
		return err
	}
	cp, err := s.Find(ctx, ws.ID, args[0])
	if err != nil {
		return err
	}
	if to == "-" {
		_, err := c.pack(ctx, s, ws, cp, c.Out)
		if err != nil {
			return halfWritten(err)
		}
		c.leftOut(cp)
		return nil
	}
	return c.file(ctx, s, ws, cp, to)
}

// halfWritten says of an archive on standard output that it is none.
func halfWritten(err error) error {
	e := *retake.AsError(err)
	e.Safe = "The archive is incomplete; nothing else was changed."
	return &e
}

func (c *exportCmd) file(ctx context.Context, s retake.Service, ws retake.Workspace, cp retake.Checkpoint, to string) error {
	path := c.below(to)
	out, err := c.Archives.Create(path, c.yes)
	if retake.IsKind(err, retake.Exists) {
		if err = c.mayReplace(ctx, cp, to, err); err == nil {
			out, err = c.Archives.Create(path, true)
		}
	}
	if err != nil {
		return err
	}
	began := c.Clock.Now()
	n, err := c.pack(ctx, s, ws, cp, out)
	if err != nil {
		out.Drop()
		return err
	}
	if err := out.Keep(); err != nil {
		return err
	}
	took := c.Clock.Now().Sub(began)
	if in, err := c.inside(ws, path); err == nil && in != "" && !c.apart() {
		c.warn([]retake.Warning{{Code: "inside", Text: to + " is in the workspace, so the next checkpoint contains it, too"}})
	}
	c.leftOut(cp)
	return c.emitTitled(endNames(ctx, s, ws, &cp), exportAnswer{1, path, n, c.gzip, cp}, func(l term.Look) string { return renderExport(l, path, n, cp, took) })
}

func (c *exportCmd) mayReplace(ctx context.Context, cp retake.Checkpoint, to string, there error) error {
	if !c.canAsk() {
		e := *retake.AsError(there)
		e.Hint = fmt.Sprintf("replace it: retake export %d %s --yes", cp.Number, c.talk().Word(to))
		return &e
	}
	return c.sure(ctx, "", to+" is there already. Replace it?", "")
}

// leftOut tells that the archive is no more whole than its checkpoint.
func (c *exportCmd) leftOut(cp retake.Checkpoint) {
	if n := int64(len(cp.Coverage.Gaps)); n > 0 {
		text := fmt.Sprintf("checkpoint %d has %s: they are not in the archive, or not as they were (retake show %d)", cp.Number, term.Number(n, "gap", "gaps"), cp.Number)
		c.warn([]retake.Warning{{Code: "gaps", Text: text}})
	}
}

func renderExport(l term.Look, path string, n int64, cp retake.Checkpoint, took time.Duration) string {
	text, _ := l.Titled(cp, l.Goals)
	head := fmt.Sprintf("%s %s  ", l.Green(l.Glyphs.Yes), l.Bold(l.Path(path)))
	return head + termtext.Bytes(n) + "\n  " +
		l.Facts(fmt.Sprintf("checkpoint %d, %s  %s", cp.Number, l.Clock(cp.Time), l.Glyphs.Cut(text, max(l.Width-50, 20))), term.Files(cp.Files), "in "+termtext.Duration(took)) + "\n"
}

// pack writes the archive and answers how many bytes it has.
func (c *exportCmd) pack(ctx context.Context, s retake.Service, ws retake.Workspace, cp retake.Checkpoint, w io.Writer) (n int64, err error) {
	bar := c.progress("export")
	defer bar.done()
	out := &measured{Writer: w}
	var to io.Writer = out
	if c.gzip {
		z := gzip.NewWriter(out)
		defer func() { err, n = errors.Join(err, z.Close()), out.n }()
		to = z
	}
	tell := func(files int64) {
		if bar != nil {
			bar.show(retake.Progress{Files: files, Total: cp.Files, Bytes: max(out.n, 1)})
		}
	}
	if c.remote != nil {
		err = c.fetch(ctx, ws, cp, to, func() { bar.say(termtext.Bytes(out.n)) })
		return out.n, err
	}
	err = archive.Write(ctx, &countedReader{Reader: s, tell: tell}, ws.ID, string(cp.ID), to)
	return out.n, err
}

// fetch lets the server make the archive.
func (c *exportCmd) fetch(ctx context.Context, ws retake.Workspace, cp retake.Checkpoint, to io.Writer, tell func()) error {
	in, err := c.remote.Archive(ctx, ws.ID, string(cp.ID))
	if err != nil {
		return err
	}
	_, err = io.Copy(to, &telling{in, tell})
	return errors.Join(err, in.Close())
}

type measured struct {
	io.Writer
	n int64
}

func (c *measured) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n += int64(n)
	return n, err
}

// countedReader tells how many files were opened.
type countedReader struct {
	retake.Reader
	n    int64
	tell func(n int64)
}

func (r *countedReader) Open(ctx context.Context, ws retake.WorkspaceID, ref, path string) (io.ReadCloser, retake.Entry, error) {
	r.n++
	r.tell(r.n)
	return r.Reader.Open(ctx, ws, ref, path)
}

// telling calls somebody after every read.
type telling struct {
	io.Reader
	tell func()
}

func (t *telling) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	t.tell()
	return n, err
}

// say shows words where show has numbers.
func (p *progress) say(text string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.f.Clock.Now()
	if p.used && now.Sub(p.last) < progressEvery {
		return
	}
	p.last, p.used = now, true
	l := p.f.talk()
	fmt.Fprintf(p.f.Err, "\r\x1b[K  %s %s%s", l.Yellow(l.Glyphs.Wait), l.Bold(termtext.Pad(p.word, 13)), text)
}
