package cli

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
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
	*commandLine
	gzip bool
}

type exportAnswer struct {
	V          int               `json:"v"`
	File       string            `json:"file"`
	Bytes      int64             `json:"bytes"`
	Gzip       bool              `json:"gzip"`
	Checkpoint retake.Checkpoint `json:"checkpoint"`
}

func newExportCommand(f *commandLine) *cobra.Command {
	c := &exportCmd{commandLine: f}
	cmd := &cobra.Command{
		Use: "export REF [FILE|-]", Short: "Write a checkpoint to a tar archive", Args: argsBetween(1, 2), RunE: c.run,
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
		return usageError("name a file: retake export "+args[0]+" FILE --json", "The output is the archive, so there is no room for --json.")
	case to == "-" && c.OutTTY:
		return usageError("write a file: retake export "+c.stderrStyle().ShellPath(args[0])+" FILE\npipe it: retake export "+c.stderrStyle().ShellPath(args[0])+" | tar -t", "An archive is not for a terminal.")
	}
	c.gzip = c.gzip || strings.HasSuffix(to, ".gz") || strings.HasSuffix(to, ".tgz")
	ctx := cmd.Context()
	s, ws, err := c.currentWorkspace(ctx)
	if err != nil {
		return err
	}
	cp, err := s.Find(ctx, ws.ID, args[0])
	if err != nil {
		return err
	}
	if to == "-" {
		_, err := c.writeArchive(ctx, s, ws, cp, c.Out)
		if err != nil {
			return partialArchiveError(err)
		}
		c.printLeftOut(cp)
		return nil
	}
	return c.exportToFile(ctx, s, ws, cp, to)
}

// partialArchiveError returns the error of an archive on standard output that is incomplete.
func partialArchiveError(err error) error {
	e := *retake.AsError(err)
	e.Safe = "The archive is incomplete; nothing else was changed."
	return &e
}

func (c *exportCmd) exportToFile(ctx context.Context, s retake.Service, ws retake.Workspace, cp retake.Checkpoint, to string) error {
	path := c.fromWorkingDir(to)
	out, err := c.Archives.Create(path, c.yes)
	if retake.IsKind(err, retake.Exists) {
		if err = c.confirmReplace(ctx, cp, to, err); err == nil {
			out, err = c.Archives.Create(path, true)
		}
	}
	if err != nil {
		return err
	}
	began := c.Clock.Now()
	n, err := c.writeArchive(ctx, s, ws, cp, out)
	if err != nil {
		out.Drop()
		return err
	}
	if err := out.Keep(); err != nil {
		return err
	}
	took := c.Clock.Now().Sub(began)
	if in, err := c.workspacePath(ws, path); err == nil && in != "" && !c.isOtherWorkspace() {
		c.printWarnings([]retake.Warning{{Code: "inside", Text: to + " is in the workspace, so the next checkpoint contains it, too"}})
	}
	c.printLeftOut(cp)
	return c.printTitledAnswer(endTitles(ctx, s, ws, &cp), exportAnswer{1, path, n, c.gzip, cp}, func(l term.Style) string { return renderExport(l, path, n, cp, took) })
}

func (c *exportCmd) confirmReplace(ctx context.Context, cp retake.Checkpoint, to string, there error) error {
	if !c.canAsk() {
		e := *retake.AsError(there)
		e.Hint = fmt.Sprintf("replace it: retake export %d %s --yes", cp.Number, c.stderrStyle().ShellPath(to))
		return &e
	}
	return c.confirm(ctx, "", to+" is there already. Replace it?", "")
}

// printLeftOut warns that the archive lacks what its checkpoint lacks.
func (c *exportCmd) printLeftOut(cp retake.Checkpoint) {
	if n := int64(len(cp.Coverage.Gaps)); n > 0 {
		text := fmt.Sprintf("checkpoint %d has %s: they are not in the archive, or not as they were (retake show %d)", cp.Number, term.CountNoun(n, "gap", "gaps"), cp.Number)
		c.printWarnings([]retake.Warning{{Code: "gaps", Text: text}})
	}
}

func renderExport(l term.Style, path string, n int64, cp retake.Checkpoint, took time.Duration) string {
	text, _ := l.CheckpointTitle(cp, l.Titles)
	head := fmt.Sprintf("%s %s  ", l.Green(l.Glyphs.Yes), l.Bold(l.DisplayPath(path)))
	return head + termtext.Bytes(n) + "\n  " +
		l.JoinFacts(fmt.Sprintf("checkpoint %d, %s  %s", cp.Number, l.ShortTime(cp.Time), l.Glyphs.Cut(text, max(l.Width-50, 20))), term.CountFiles(cp.Files), "in "+termtext.Duration(took)) + "\n"
}

// writeArchive writes the archive and returns its size in bytes.
func (c *exportCmd) writeArchive(ctx context.Context, s retake.Service, ws retake.Workspace, cp retake.Checkpoint, w io.Writer) (n int64, err error) {
	bar := c.newProgressLine("export")
	defer bar.clear()
	out := &countingWriter{Writer: w}
	var to io.Writer = out
	if c.gzip {
		z := gzip.NewWriter(out)
		defer func() { err, n = errors.Join(err, z.Close()), out.n.Load() }()
		to = z
	}
	tell := func(files int64) {
		if bar != nil {
			bar.update(retake.Progress{Files: files, Total: cp.Files, Bytes: max(out.n.Load(), 1)})
		}
	}
	if c.remote != nil {
		err = c.fetchArchive(ctx, ws, cp, to, func() { bar.showText(termtext.Bytes(out.n.Load())) })
		return out.n.Load(), err
	}
	err = archive.Write(ctx, &countingReader{Reader: s, onOpen: tell}, ws.ID, string(cp.ID), to)
	return out.n.Load(), err
}

// fetchArchive lets the server make the archive.
func (c *exportCmd) fetchArchive(ctx context.Context, ws retake.Workspace, cp retake.Checkpoint, to io.Writer, tell func()) error {
	in, err := c.remote.Archive(ctx, ws.ID, string(cp.ID))
	if err != nil {
		return err
	}
	_, err = io.Copy(to, &notifyingReader{in, tell})
	return errors.Join(err, in.Close())
}

type countingWriter struct {
	io.Writer
	n atomic.Int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n.Add(int64(n))
	return n, err
}

// countingReader calls onOpen with the number of files opened so far.
type countingReader struct {
	retake.Reader
	n      atomic.Int64
	onOpen func(n int64) // called from several goroutines
}

func (r *countingReader) Bytes(ctx context.Context, id retake.ObjectID) (io.ReadCloser, error) {
	r.onOpen(r.n.Add(1))
	return r.Reader.Bytes(ctx, id)
}

// notifyingReader calls somebody after every read.
type notifyingReader struct {
	io.Reader
	onRead func()
}

func (t *notifyingReader) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	t.onRead()
	return n, err
}

// showText shows words where show has numbers.
func (p *progressLine) showText(text string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.f.Clock.Now()
	if p.shown && now.Sub(p.last) < progressInterval {
		return
	}
	p.last, p.shown = now, true
	l := p.f.stderrStyle()
	fmt.Fprintf(p.f.Err, "\r\x1b[K  %s %s%s", l.Yellow(l.Glyphs.Wait), l.Bold(termtext.Pad(p.label, 13)), text)
}
