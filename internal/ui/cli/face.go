package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// face holds the flags that every command has, and the service once it is open.
type face struct {
	Deps
	args     []string // as they were typed
	dir      string   // -C
	json     bool
	noInput  bool
	yes      bool
	colored  bool
	plain    bool // --no-color
	asciiOut bool
	solo     bool // --solo
	noPager  bool
	paged    bool // the answer of this command may go through a pager
	version  bool // --version

	serverURL string // --server
	workspace string // --workspace

	service retake.Service
	remote  RemoteServer // the service, when it is a server
	started bool         // the arguments made sense
	warned  bool         // the banner of an interruption was shown
}

func newFace(d Deps) *face {
	if d.Width <= 0 {
		d.Width = 80
	}
	return &face{Deps: d}
}

func (f *face) lookFor(tty bool) term.Look {
	l := term.Look{Glyphs: termtext.Unicode, Width: f.Width, Now: f.Clock.Now(), Home: f.Home, ASCII: f.ASCII || f.asciiOut}
	l.Paint = term.Paint((f.Color && tty || f.colored) && !f.plain)
	if l.ASCII {
		l.Glyphs = termtext.ASCII
	}
	return l
}

func (f *face) out() term.Look { return f.lookFor(f.OutTTY) }

func (f *face) talk() term.Look { return f.lookFor(f.ErrTTY) }

// open gives the service; the first call opens it.
func (f *face) open(ctx context.Context) (retake.Service, error) {
	if f.service == nil && f.far() {
		return f.server()
	}
	if f.service == nil {
		s, err := f.Open(ctx, f.alone())
		if err != nil {
			return nil, err
		}
		f.service = s
	}
	return f.service, nil
}

// alone reports whether this process does the work itself, without a daemon.
func (f *face) alone() bool { return (f.solo || f.Solo) && !f.far() }

func (f *face) close() error {
	if f.service == nil {
		return nil
	}
	return f.service.Close()
}

// workdir is where the command works: the working directory, moved by -C.
func (f *face) workdir() string { return f.at(f.dir) }

func (f *face) at(dir string) string {
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(f.Dir, dir)
}

// here opens the service and finds the workspace that is meant: the named one, that of
// the server, or that of the working directory. Whoever is in it hears that a restore was
// cut off.
func (f *face) here(ctx context.Context) (retake.Service, retake.Workspace, error) {
	s, ws, err := f.find(ctx)
	if err == nil && ws.Interrupted != nil && !f.json && !f.warned {
		f.warned = true
		fmt.Fprint(f.Err, term.RenderInterrupted(f.talk(), ws.Interrupted))
	}
	if err == nil && ws.Stale != "" && !f.json && !f.warned {
		f.warned = true
		fmt.Fprintf(f.Err, "%s The newest checkpoints may not be listed: %s\n", f.talk().Yellow("!"), termtext.Escape(ws.Stale))
	}
	return s, ws, err
}

// find is here without a word about anything.
func (f *face) find(ctx context.Context) (retake.Service, retake.Workspace, error) {
	s, err := f.open(ctx)
	if err != nil {
		return nil, retake.Workspace{}, err
	}
	if f.apart() {
		ws, err := f.named(ctx, s)
		return s, ws, err
	}
	ws, err := s.Locate(ctx, f.workdir())
	return s, ws, err
}

// apart reports whether the workspace is another than the one we are in.
func (f *face) apart() bool { return f.far() || f.workspace != "" }

// inside turns a path as typed into one below the root of ws. Directories are
// resolved, the last name is not: it may be a link that is meant itself. In a workspace
// that we are not in, paths begin at its root.
func (f *face) inside(ws retake.Workspace, path string) (string, error) {
	full := path
	switch {
	case filepath.IsAbs(path):
	case f.apart():
		full = filepath.Join(ws.Root, path)
	default:
		full = filepath.Join(resolved(f.workdir()), path)
	}
	for _, root := range []string{ws.Root, resolved(ws.Root)} {
		rel, err := filepath.Rel(root, full)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			if rel == "." {
				return "", nil
			}
			return filepath.ToSlash(rel), nil
		}
	}
	return "", &retake.Error{
		Kind: retake.Invalid,
		What: fmt.Sprintf("the path %s is not in the workspace %s", path, ws.Name),
		Hint: "its directory: " + ws.Root,
	}
}

// insideAll does so for several; the root among them means everything, and so
// does none at all.
func (f *face) insideAll(ws retake.Workspace, typed []string) ([]string, error) {
	var out []string
	for _, t := range typed {
		p, err := f.inside(ws, t)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	if slices.Contains(out, "") {
		return nil, nil
	}
	return out, nil
}

func resolved(dir string) string {
	if r, err := filepath.EvalSymlinks(dir); err == nil {
		return r
	}
	return dir
}

// emit writes the answer: as JSON, or as the text that draw makes of it.
func (f *face) emit(value any, draw func(l term.Look) string) error {
	if f.json {
		return f.writeJSON(value)
	}
	return f.print(draw(f.out()))
}

// emitTitled is emit with the names that titles of checkpoints need.
func (f *face) emitTitled(g term.Goals, value any, draw func(l term.Look) string) error {
	return f.emit(value, func(l term.Look) string {
		l.Goals = g
		return draw(l)
	})
}

// answered is for the time when the work is done: whether somebody hears of
// it does not undo it.
func answered(err error) error {
	if err == nil {
		return nil
	}
	return &retake.Error{Kind: retake.Internal, What: "the answer could not be written", Safe: "What was asked for was done.", Err: err}
}

func (f *face) writeJSON(value any) error {
	enc := json.NewEncoder(f.Out)
	enc.SetEscapeHTML(false)
	return answered(enc.Encode(value))
}

// hint tells a person what to do next, label and command by turns. A program
// that reads us gets none.
func (f *face) hint(pairs ...string) {
	if f.far() { // its directories are not here
		pairs = slices.Clone(pairs)
		for i := len(pairs) - 2; i >= 0; i -= 2 {
			if strings.HasPrefix(pairs[i+1], "cd ") {
				pairs = slices.Delete(pairs, i, i+2)
			}
		}
	}
	if !f.ErrTTY || f.json || len(pairs) == 0 {
		return
	}
	l := f.talk()
	line := l.Pairs(pairs)
	if l.ShownWidth(line) > l.Width {
		var lines []string
		for i := 0; i+1 < len(pairs); i += 2 {
			lines = append(lines, l.Pairs(pairs[i:i+2]))
		}
		line = strings.Join(lines, "\n")
	}
	fmt.Fprintf(f.Err, "\n%s\n", line)
}

// warn tells what went wrong beside a success.
func (f *face) warn(ws []retake.Warning) {
	if f.json {
		return
	}
	for _, w := range ws {
		fmt.Fprintf(f.Err, "%s %s\n", f.talk().Yellow("!"), termtext.Escape(w.Text))
	}
}

// below gives a directory as typed, seen from the working directory.
func (f *face) below(dir string) string {
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(f.workdir(), dir)
}
