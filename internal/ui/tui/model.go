package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/retake-dev/retake/internal/ui/term"
)

// The smallest terminal in which everything has its place.
const (
	leastWidth  = 60
	leastHeight = 15
)

// model is all that is on the screen. Only Update changes it.
type model struct {
	o             Options
	ctx           context.Context
	width, height int
	pages         []page // the last one is looked at, the first is the timeline
	note          string // a line of ours, until the next key

	done func() string // tells what was done last
}

// page is one screen.
type page interface {
	own() *base
	// key hears one key that no input line took.
	key(m *model, k string) tea.Cmd
	// draw gives at most height lines.
	draw(m *model, l term.Look, height int) []string
	// say is the last line, when nothing else has to be said.
	say(m *model, l term.Look) string
	// keys are the keys that are shown below, key and word by turns.
	keys() []string
}

// base is what all pages have.
type base struct {
	ctx   context.Context
	leave context.CancelFunc // ends what the page still asks for
	gone  bool
	began time.Time // when it asked for what it waits for; zero: it waits for nothing
	input *input    // a line that is being typed

	question string // what the line answers, painted; it stands where the keys are
}

func (b *base) own() *base { return b }

func newModel(ctx context.Context, o Options) *model {
	m := &model{o: o, ctx: ctx}
	m.pages = []page{newTimeline(m)}
	return m
}

func (m *model) newBase() base {
	ctx, leave := context.WithCancel(m.ctx)
	return base{ctx: ctx, leave: leave}
}

func (m *model) timeline() *timeline { return m.pages[0].(*timeline) }

func (m *model) page() page { return m.pages[len(m.pages)-1] }

// open puts a page above the others.
func (m *model) open(p page) { m.pages = append(m.pages, p) }

// back leaves the page that is looked at. The timeline stays.
func (m *model) back() {
	if len(m.pages) == 1 {
		return
	}
	b := m.page().own()
	b.gone = true
	b.leave()
	m.pages = m.pages[:len(m.pages)-1]
}

// home leaves all pages but the timeline.
func (m *model) home() {
	for len(m.pages) > 1 {
		m.back()
	}
}

// heard is an answer of the service, for the page that asked.
type heard struct {
	by   *base
	take func() tea.Cmd
}

// ask calls the service beside the keyboard, and hands the answer to take unless the page
// was left meanwhile.
func ask[T any](b *base, call func(ctx context.Context) (T, error), take func(T, error) tea.Cmd) tea.Cmd {
	ctx := b.ctx
	return func() tea.Msg {
		v, err := call(ctx)
		return heard{b, func() tea.Cmd { return take(v, err) }}
	}
}

// tick is the checkpoint to look again.
type tick struct{}

const lookEvery = 2 * time.Second

func nextTick() tea.Cmd { return tea.Tick(lookEvery, func(time.Time) tea.Msg { return tick{} }) }

// Init begins to look; the timeline is asked for when the size of the screen is known.
func (m *model) Init() tea.Cmd { return nextTick() }

// Update hears one message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		first := m.width == 0
		m.width, m.height = msg.Width, msg.Height
		if !m.small() {
			m.timeline().height, _ = share(m.height - 2)
		}
		if first {
			return m, m.timeline().begin(m)
		}
		return m, m.timeline().arrange(m)
	case tick:
		if m.width == 0 {
			return m, nextTick()
		}
		return m, tea.Batch(m.timeline().poll(m), nextTick())
	case heard:
		if msg.by.gone {
			return m, nil
		}
		return m, msg.take()
	case tea.PasteMsg:
		if in := m.page().own().input; in != nil {
			in.paste(msg.Content)
		}
		return m, nil
	case tea.KeyPressMsg:
		return m, m.press(msg)
	}
	return m, nil
}

func (m *model) press(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	switch k {
	case "ctrl+c":
		return m.interrupt()
	case "ctrl+z":
		return tea.Suspend
	}
	if m.applying() != nil {
		return nil
	}
	if m.small() {
		if k == "q" {
			return tea.Quit
		}
		return nil
	}
	m.note = ""
	p := m.page()
	if in := p.own().input; in != nil {
		return m.typed(in, k, msg.Text)
	}
	switch k {
	case "q":
		return tea.Quit
	case "?":
		if _, open := p.(*help); !open {
			m.open(newHelp(m))
		}
		return nil
	}
	return p.key(m, k)
}

// typed hands a key to the line that is being typed. Esc gives the line up.
func (m *model) typed(in *input, k, text string) tea.Cmd {
	b := m.page().own()
	switch k {
	case "esc":
		b.input = nil
		if in.left != nil {
			return in.left()
		}
		return nil
	case "enter":
		b.input = nil
		return in.done(in.text())
	}
	if q, ok := m.page().(*plan); ok && in.strict && arrows[k] { // what is asked about can be read
		q.move(k)
		return nil
	}
	in.key(k, text)
	return nil
}

var arrows = map[string]bool{"up": true, "down": true, "pgup": true, "pgdown": true}

// applying is the plan that is being applied, or nil. Nothing is opened above it.
func (m *model) applying() *plan {
	if p, ok := m.page().(*plan); ok && p.applying() {
		return p
	}
	return nil
}

// interrupt leaves, unless files are being changed: then that is ended first, between two
// files.
func (m *model) interrupt() tea.Cmd {
	if p := m.applying(); p != nil {
		return p.stop(m)
	}
	return tea.Quit
}

func (m *model) small() bool { return m.width < leastWidth || m.height < leastHeight }

// View draws the page that is looked at, its keys, and a line for us.
func (m *model) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	if m.width == 0 {
		return v
	}
	l := m.look()
	if m.small() {
		v.SetContent(m.smallText())
		return v
	}
	p := m.page()
	foot := []string{keyLine(l, p.keys())}
	if q := p.own().question; q != "" { // it is never cut
		foot = wrapped(l, []string{q})
		foot = foot[:min(len(foot), m.height/2)]
	}
	room := m.height - 1 - len(foot)
	lines := p.draw(m, l, room)
	for len(lines) < room {
		lines = append(lines, "")
	}
	lines = append(append(lines[:room], foot...), m.lastLine(l, p))
	for i, line := range lines {
		lines[i] = l.Clip(line, 0, m.width)
	}
	v.SetContent(strings.Join(lines, "\n"))
	if in := p.own().input; in != nil {
		v.Cursor = tea.NewCursor(min(in.column(l), m.width-1), m.height-1)
	}
	return v
}

func (m *model) smallText() string {
	text := fmt.Sprintf("Too small: %d × %d. It needs %d × %d. q leaves.", m.width, m.height, leastWidth, leastHeight)
	if m.o.ASCII {
		text = strings.ReplaceAll(text, "×", "x")
	}
	lines := term.Wrap(text, max(m.width, 1))
	return strings.Join(lines[:min(len(lines), max(m.height, 1))], "\n")
}

// lastLine is what is being typed, or what we say.
func (m *model) lastLine(l term.Look, p page) string {
	b := p.own()
	switch {
	case b.input != nil:
		return b.input.draw(l, m.width)
	case m.note != "":
		return m.note
	case !b.began.IsZero() && l.Now.Sub(b.began) >= patience:
		return l.Yellow("!") + " the service has not answered for " + fmt.Sprint(int(l.Now.Sub(b.began).Seconds())) + " s; esc goes back"
	}
	return p.say(m, l)
}

// patience is how long we wait before we say that we do.
const patience = 5 * time.Second

var asciiKeys = strings.NewReplacer("–", "-", "↓", "down", "↑", "up", "←", "left", "→", "right")

// keyLine names keys as far as they fit; the last pair always stays.
func keyLine(l term.Look, pairs []string) string {
	if l.ASCII {
		pairs = slices.Clone(pairs)
		for i, p := range pairs {
			pairs[i] = asciiKeys.Replace(p)
		}
	}
	for {
		var b strings.Builder
		for i := 0; i+1 < len(pairs); i += 2 {
			if i > 0 {
				b.WriteString("  ")
			}
			b.WriteString(l.Bold(pairs[i]) + " " + l.Dim(pairs[i+1]))
		}
		if n := len(pairs); n <= 2 || l.ShownWidth(b.String()) <= l.Width {
			return b.String()
		}
		n := len(pairs)
		pairs = append(pairs[:n-4:n-4], pairs[n-2:]...)
	}
}
