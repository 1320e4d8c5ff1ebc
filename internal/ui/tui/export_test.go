package tui

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// Desk is the face without a terminal: keys go in one by one, and what would be on the
// screen comes out.
type Desk struct {
	m       *model
	heard   chan tea.Msg
	pending int
	Left    bool
}

// NewDesk sits down in front of a screen of a size.
func NewDesk(ctx context.Context, o Options, width, height int) *Desk {
	d := &Desk{m: newModel(ctx, o), heard: make(chan tea.Msg)}
	d.Resize(width, height)
	return d
}

// Resize makes the screen larger or smaller.
func (d *Desk) Resize(width, height int) { d.hear(tea.WindowSizeMsg{Width: width, Height: height}) }

func (d *Desk) hear(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			d.run(c)
		}
	case tea.QuitMsg:
		d.Left = true
	default:
		_, cmd := d.m.Update(msg)
		d.run(cmd)
	}
}

func (d *Desk) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	d.pending++
	go func() { d.heard <- cmd() }()
}

// Settle waits until nothing is under way any more.
func (d *Desk) Settle() {
	for d.pending > 0 {
		d.Hear()
	}
}

// Hear waits for one thing that is under way.
func (d *Desk) Hear() {
	select {
	case msg := <-d.heard:
		d.pending--
		d.hear(msg)
	case <-time.After(time.Minute):
		panic("nothing was heard for a minute")
	}
}

// Press presses keys by their names, and waits for what each of them asks for.
func (d *Desk) Press(keys ...string) {
	for _, k := range keys {
		d.Touch(k)
		d.Settle()
	}
}

var named = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "backspace": {Code: tea.KeyBackspace},
	"down": {Code: tea.KeyDown}, "up": {Code: tea.KeyUp}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
	"pgdown": {Code: tea.KeyPgDown}, "pgup": {Code: tea.KeyPgUp}, "space": {Code: tea.KeySpace, Text: " "},
	"ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+w": {Code: 'w', Mod: tea.ModCtrl},
}

// Touch presses one key and does not wait.
func (d *Desk) Touch(k string) {
	msg, ok := named[k]
	if !ok {
		r := []rune(k)
		if len(r) != 1 {
			panic("no key " + k)
		}
		msg = tea.KeyPressMsg{Code: r[0], Text: k}
	}
	d.hear(msg)
}

// Type types text, letter by letter.
func (d *Desk) Type(text string) {
	for _, r := range text {
		if r == ' ' {
			d.Press("space")
			continue
		}
		d.Press(string(r))
	}
}

// Paste pastes text.
func (d *Desk) Paste(text string) { d.hear(tea.PasteMsg{Content: text}) }

// Look looks again, as it does by itself every two seconds.
func (d *Desk) Look() {
	d.run(d.m.timelinePage().poll(d.m))
	d.Settle()
}

// Raw is the screen as it is handed to the terminal.
func (d *Desk) Raw() string { return d.m.View().Content }

// Screen is what can be read. A line that is turned over has a sign at its end.
func (d *Desk) Screen() string {
	var out []string
	for line := range strings.SplitSeq(d.Raw(), "\n") {
		sign := ""
		if strings.HasPrefix(line, "\x1b[7m") {
			sign = " <"
		}
		out = append(out, strings.TrimRight(term.StripANSI(line), " ")+sign)
	}
	return strings.Join(out, "\n") + "\n"
}

// Parting is what stays on the terminal afterwards.
func (d *Desk) Parting() string { return d.m.exitText() }

// Page names the page that is looked at.
func (d *Desk) Page() string {
	return strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", d.m.currentPage()), "*tui."), "Page")
}

// Chosen is the number of the checkpoint that the chosen row stands for; 0: none.
func (d *Desk) Chosen() int64 {
	if c := d.m.timelinePage().selectedCheckpoint(); c != nil {
		return c.Number
	}
	return 0
}

// Top is the row that the list begins with.
func (d *Desk) Top() int { return d.m.timelinePage().top }

// Loaded is how many checkpoints were read.
func (d *Desk) Loaded() int { return int(d.m.timelinePage().snapshot.view.Shown) }

// RunOn runs the real program on a pipe and a size.
func RunOn(ctx context.Context, o Options, in io.Reader, out io.Writer, width, height int) error {
	o.In, o.Out = in, out
	return runProgram(ctx, o, tea.WithInput(in), tea.WithOutput(out), tea.WithEnvironment([]string{"TERM=xterm-256color"}),
		tea.WithColorProfile(colorprofile.ANSI), tea.WithWindowSize(width, height))
}

type naked string

func (n naked) Init() tea.Cmd { return nil }
func (n naked) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, key := msg.(tea.KeyPressMsg); key {
		return n, tea.Quit
	}
	return n, nil
}

func (n naked) View() tea.View {
	v := tea.NewView(string(n))
	v.AltScreen = true
	return v
}

// RunNaked shows text that nobody escaped, until a key is pressed.
func RunNaked(ctx context.Context, text string, in io.Reader, out io.Writer) error {
	_, err := tea.NewProgram(naked(text), tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithEnvironment([]string{"TERM=xterm-256color"}),
		tea.WithColorProfile(colorprofile.ANSI), tea.WithWindowSize(80, 24)).Run()
	return err
}

// NewLook draws for a width.
func NewLook(width int) term.Style {
	return term.Style{Glyphs: termtext.Unicode, Width: width, Now: time.Date(2026, 11, 3, 11, 42, 0, 0, time.UTC)}
}
