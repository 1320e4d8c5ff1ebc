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

// commandLine holds the flags that every command has, and the service once it is open. It
// prints, asks and finds the workspace; a command is a function that takes it, or a type that
// embeds it.
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

// newCommandLine returns a command line with d; a terminal of unknown width is taken for 80
// columns.
func newCommandLine(d Deps) *commandLine {
	if d.Width <= 0 {
		d.Width = 80
	}
	return &commandLine{Deps: d}
}

// styleFor returns how to draw on a stream; tty says whether it is a terminal.
func (f *commandLine) styleFor(tty bool) term.Style {
	l := term.Style{Glyphs: termtext.Unicode, Width: f.Width, Now: f.Clock.Now(), Home: f.Home, ASCII: f.ASCII || f.asciiOut}
	l.Paint = term.Paint((f.Color && tty || f.forceColor) && !f.noColor)
	if l.ASCII {
		l.Glyphs = termtext.ASCII
	}
	return l
}

// stdoutStyle returns how to draw on the standard output.
func (f *commandLine) stdoutStyle() term.Style { return f.styleFor(f.OutTTY) }

// stderrStyle returns how to draw on the standard error.
func (f *commandLine) stderrStyle() term.Style { return f.styleFor(f.ErrTTY) }

// openService returns the service; the first call opens it.
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

// closeService closes the service if a command opened it.
func (f *commandLine) closeService() error {
	if f.service == nil {
		return nil
	}
	return f.service.Close()
}

// workingDir returns the directory the command works in: that of the process, changed by -C.
func (f *commandLine) workingDir() string { return f.fromStartDir(f.dir) }

// fromStartDir returns dir as an absolute path; a relative one starts at the directory of the
// process.
func (f *commandLine) fromStartDir(dir string) string {
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(f.Dir, dir)
}

// currentWorkspace opens the service and finds the workspace the command is about: the one
// named by a flag, the default one of the server, or the one of the working directory. It
// warns, once and not in JSON, if a restore was interrupted there or the list of checkpoints
// may be stale.
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

// locateWorkspace does what currentWorkspace does, without warnings.
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

// isOtherWorkspace reports whether the workspace is not the one of the working directory.
func (f *commandLine) isOtherWorkspace() bool { return f.isRemote() || f.workspace != "" }

// workspacePath converts a path as typed to a slash-separated one relative to the root of ws;
// the root itself is "". Directories on the way are resolved, the last name is not, because a
// link may be meant itself. If ws is not the workspace we are in, relative paths start at its
// root.
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

// workspacePaths converts several paths like workspacePath. It returns nil, which means
// everything, if there are none or the root is one of them.
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

// resolveSymlinks returns dir with links resolved, or dir itself if that fails.
func resolveSymlinks(dir string) string {
	if r, err := filepath.EvalSymlinks(dir); err == nil {
		return r
	}
	return dir
}

// printAnswer writes the answer of a command: value as JSON, or the text that draw returns.
func (f *commandLine) printAnswer(value any, draw func(l term.Style) string) error {
	if f.json {
		return f.writeJSON(value)
	}
	return f.printText(draw(f.stdoutStyle()))
}

// printTitledAnswer is printAnswer with the titles of restore targets, which titles of
// checkpoints need.
func (f *commandLine) printTitledAnswer(g term.TargetTitles, value any, draw func(l term.Style) string) error {
	return f.printAnswer(value, func(l term.Style) string {
		l.Titles = g
		return draw(l)
	})
}

// outputError returns the error of a command that did its work but could not write its answer,
// or nil if err is nil.
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

// printHints prints what to do next, as pairs of a label and a command, to a terminal.
// Programs that read the output get no hints.
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

// printWarnings prints what went wrong although the command succeeded.
func (f *commandLine) printWarnings(ws []retake.Warning) {
	if f.json {
		return
	}
	for _, w := range ws {
		fmt.Fprintf(f.Err, "%s %s\n", f.stderrStyle().Yellow("!"), termtext.Escape(w.Text))
	}
}

// fromWorkingDir returns dir as an absolute path; a relative one starts at workingDir.
func (f *commandLine) fromWorkingDir(dir string) string {
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(f.workingDir(), dir)
}
