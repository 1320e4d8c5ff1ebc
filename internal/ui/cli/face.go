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

// commandLine holds the flags that every command has, and the service once it is open.
type commandLine struct {
	Deps
	args       []string // as they were typed
	dir        string   // -C
	json       bool
	noInput    bool
	yes        bool
	forceColor bool
	noColor    bool // --no-color
	asciiOut   bool
	solo       bool // --solo
	noPager    bool
	pageable   bool // the answer of this command may go through a pager
	version    bool // --version

	serverURL string // --server
	workspace string // --workspace

	service      retake.Service
	remote       RemoteServer // the service, when it is a server
	argsAccepted bool         // the arguments made sense
	warned       bool         // the banner of an interruption was shown
}

func newCommandLine(d Deps) *commandLine {
	if d.Width <= 0 {
		d.Width = 80
	}
	return &commandLine{Deps: d}
}

func (f *commandLine) styleFor(tty bool) term.Style {
	l := term.Style{Glyphs: termtext.Unicode, Width: f.Width, Now: f.Clock.Now(), Home: f.Home, ASCII: f.ASCII || f.asciiOut}
	l.Paint = term.Paint((f.Color && tty || f.forceColor) && !f.noColor)
	if l.ASCII {
		l.Glyphs = termtext.ASCII
	}
	return l
}

func (f *commandLine) stdoutStyle() term.Style { return f.styleFor(f.OutTTY) }

func (f *commandLine) stderrStyle() term.Style { return f.styleFor(f.ErrTTY) }

// openService gives the service; the first call opens it.
func (f *commandLine) openService(ctx context.Context) (retake.Service, error) {
	if f.service == nil && f.isRemote() {
		return f.openServer()
	}
	if f.service == nil {
		s, err := f.Open(ctx, f.isSolo())
		if err != nil {
			return nil, err
		}
		f.service = s
	}
	return f.service, nil
}

// isSolo reports whether this process does the work itself, without a daemon.
func (f *commandLine) isSolo() bool { return (f.solo || f.Solo) && !f.isRemote() }

func (f *commandLine) closeService() error {
	if f.service == nil {
		return nil
	}
	return f.service.Close()
}

// workingDir is where the command works: the working directory, moved by -C.
func (f *commandLine) workingDir() string { return f.fromStartDir(f.dir) }

func (f *commandLine) fromStartDir(dir string) string {
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(f.Dir, dir)
}

// currentWorkspace opens the service and finds the workspace that is meant: the named one, that of
// the server, or that of the working directory. Whoever is in it hears that a restore was
// cut off.
func (f *commandLine) currentWorkspace(ctx context.Context) (retake.Service, retake.Workspace, error) {
	s, ws, err := f.locateWorkspace(ctx)
	if err == nil && ws.Interrupted != nil && !f.json && !f.warned {
		f.warned = true
		fmt.Fprint(f.Err, term.RenderInterrupted(f.stderrStyle(), ws.Interrupted))
	}
	if err == nil && ws.Stale != "" && !f.json && !f.warned {
		f.warned = true
		fmt.Fprintf(f.Err, "%s The newest checkpoints may not be listed: %s\n", f.stderrStyle().Yellow("!"), termtext.Escape(ws.Stale))
	}
	return s, ws, err
}

// locateWorkspace is here without a word about anything.
func (f *commandLine) locateWorkspace(ctx context.Context) (retake.Service, retake.Workspace, error) {
	s, err := f.openService(ctx)
	if err != nil {
		return nil, retake.Workspace{}, err
	}
	if f.isOtherWorkspace() {
		ws, err := f.namedWorkspace(ctx, s)
		return s, ws, err
	}
	ws, err := s.Locate(ctx, f.workingDir())
	return s, ws, err
}

// isOtherWorkspace reports whether the workspace is another than the one we are in.
func (f *commandLine) isOtherWorkspace() bool { return f.isRemote() || f.workspace != "" }

// workspacePath turns a path as typed into one below the root of ws. Directories are
// resolved, the last name is not: it may be a link that is meant itself. In a workspace
// that we are not in, paths begin at its root.
func (f *commandLine) workspacePath(ws retake.Workspace, path string) (string, error) {
	full := path
	switch {
	case filepath.IsAbs(path):
	case f.isOtherWorkspace():
		full = filepath.Join(ws.Root, path)
	default:
		full = filepath.Join(resolveSymlinks(f.workingDir()), path)
	}
	for _, root := range []string{ws.Root, resolveSymlinks(ws.Root)} {
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

// workspacePaths does so for several; the root among them means everything, and so
// does none at all.
func (f *commandLine) workspacePaths(ws retake.Workspace, typed []string) ([]string, error) {
	var out []string
	for _, t := range typed {
		p, err := f.workspacePath(ws, t)
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

func resolveSymlinks(dir string) string {
	if r, err := filepath.EvalSymlinks(dir); err == nil {
		return r
	}
	return dir
}

// printAnswer writes the answer: as JSON, or as the text that draw makes of it.
func (f *commandLine) printAnswer(value any, draw func(l term.Style) string) error {
	if f.json {
		return f.writeJSON(value)
	}
	return f.printText(draw(f.stdoutStyle()))
}

// printTitledAnswer is emit with the names that titles of checkpoints need.
func (f *commandLine) printTitledAnswer(g term.TargetTitles, value any, draw func(l term.Style) string) error {
	return f.printAnswer(value, func(l term.Style) string {
		l.Titles = g
		return draw(l)
	})
}

// outputError is for the time when the work is done: whether somebody hears of
// it does not undo it.
func outputError(err error) error {
	if err == nil {
		return nil
	}
	return &retake.Error{Kind: retake.Internal, What: "the answer could not be written", Safe: "What was asked for was done.", Err: err}
}

func (f *commandLine) writeJSON(value any) error {
	enc := json.NewEncoder(f.Out)
	enc.SetEscapeHTML(false)
	return outputError(enc.Encode(value))
}

// printHints tells a person what to do next, label and command by turns. A program
// that reads us gets none.
func (f *commandLine) printHints(pairs ...string) {
	if f.isRemote() { // its directories are not here
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
	l := f.stderrStyle()
	line := l.HintLine(pairs)
	if l.ShownWidth(line) > l.Width {
		var lines []string
		for i := 0; i+1 < len(pairs); i += 2 {
			lines = append(lines, l.HintLine(pairs[i:i+2]))
		}
		line = strings.Join(lines, "\n")
	}
	fmt.Fprintf(f.Err, "\n%s\n", line)
}

// printWarnings tells what went wrong beside a success.
func (f *commandLine) printWarnings(ws []retake.Warning) {
	if f.json {
		return
	}
	for _, w := range ws {
		fmt.Fprintf(f.Err, "%s %s\n", f.stderrStyle().Yellow("!"), termtext.Escape(w.Text))
	}
}

// fromWorkingDir gives a directory as typed, seen from the working directory.
func (f *commandLine) fromWorkingDir(dir string) string {
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(f.workingDir(), dir)
}
