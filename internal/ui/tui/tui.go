package tui

import (
	"context"
	"errors"
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// Options is everything the terminal interface needs from its program.
type Options struct {
	Service   retake.Service
	Workspace retake.Workspace

	In    io.Reader
	Out   io.Writer
	Env   []string // what the terminal is: TERM and its like
	Clock clock.Clock
	Home  string // shown as ~
	ASCII bool
	Color bool

	// ProposeForkDir is the place that is proposed for a fork, and At is where a typed place is. A
	// nil At says that the service finds the place by a name.
	ProposeForkDir func() string
	ResolveDir     func(typed string) string
}

// Run shows the workspace until the user quits or ctx ends.
func Run(ctx context.Context, o Options) error {
	profile := colorprofile.ASCII
	if o.Color {
		profile = colorprofile.ANSI
	}
	return runProgram(ctx, o, tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(o.Env), tea.WithColorProfile(profile))
}

func runProgram(ctx context.Context, o Options, how ...tea.ProgramOption) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	m := newModel(ctx, o)
	_, err := tea.NewProgram(m, append(how, tea.WithContext(ctx), tea.WithoutSignalHandler())...).Run()
	ended := ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled)
	if err != nil && !ended {
		return fmt.Errorf("show the terminal: %w", err)
	}
	text := m.exitText()
	if _, err := io.WriteString(o.Out, text); err != nil {
		return fmt.Errorf("say what was done: %w", err)
	}
	switch {
	case ended && text != "":
		return &retake.Error{Kind: retake.Canceled, What: "stopped", Safe: "What was done before is kept."}
	case ended:
		return ctx.Err()
	}
	return nil
}

// exitText returns what stays on the terminal after the program: the last result, whose
// commands are needed then.
func (m *model) exitText() string {
	if m.lastResult == nil {
		return ""
	}
	return m.lastResult()
}

// style returns how text is drawn here.
func (m *model) style() term.Style {
	l := term.Style{Glyphs: termtext.Unicode, Width: m.width, Now: m.options.Clock.Now(), Home: m.options.Home, ASCII: m.options.ASCII, Paint: term.Paint(m.options.Color), ListWord: "l lists all"}
	if l.ASCII {
		l.Glyphs = termtext.ASCII
	}
	return l
}
