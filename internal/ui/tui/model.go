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

// model is the state of the screen. Only Update changes it.
type model struct {
	options       Options
	ctx           context.Context
	width, height int
	pages         []page // the last one is looked at, the first is the timeline
	notice        string // a line of ours, until the next key

	lastResult func() string // tells what was done last
}

// page is one screen; the last page of the model is shown.
type page interface {
	basePage() *pageBase
	// handleKey hears one key that no input line took.
	handleKey(m *model, k string) tea.Cmd
	// draw gives at most height lines.
	draw(m *model, l term.Style, height int) []string
	// statusLine is the last line, when nothing else has to be said.
	statusLine(m *model, l term.Style) string
	// keyHelp are the keys that are shown below, key and word by turns.
	keyHelp() []string
}

// pageBase is what all pages have: the context of their calls, and the line being typed.
type pageBase struct {
	ctx          context.Context
	cancel       context.CancelFunc // ends what the page still asks for
	closed       bool
	waitingSince time.Time  // when it asked for what it waits for; zero: it waits for nothing
	input        *inputLine // a line that is being typed

	question string // what the line answers, painted; it stands where the keys are
}

func (b *pageBase) basePage() *pageBase { return b }

func newModel(ctx context.Context, o Options) *model {
	m := &model{options: o, ctx: ctx}
	m.pages = []page{newTimelinePage(m)}
	return m
}

// newBase returns the base of a new page. Its context ends when the page is closed.
func (m *model) newBase() pageBase {
	ctx, leave := context.WithCancel(m.ctx)
	return pageBase{ctx: ctx, cancel: leave}
}

func (m *model) timelinePage() *timelinePage { return m.pages[0].(*timelinePage) }

func (m *model) currentPage() page { return m.pages[len(m.pages)-1] }

// openPage opens a page above the others.
func (m *model) openPage(p page) { m.pages = append(m.pages, p) }

// closePage closes the current page and cancels its calls. The timeline is never closed.
func (m *model) closePage() {
	if len(m.pages) == 1 {
		return
	}
	b := m.currentPage().basePage()
	b.closed = true
	b.cancel()
	m.pages = m.pages[:len(m.pages)-1]
}

// closeAllPages closes all pages but the timeline.
func (m *model) closeAllPages() {
	for len(m.pages) > 1 {
		m.closePage()
	}
}

// serviceReply is the reply of the service to a call of a page.
type serviceReply struct {
	page   *pageBase
	handle func() tea.Cmd
}

// callService calls the service in the background and passes the reply to take, unless the
// page was closed meanwhile.
func callService[T any](b *pageBase, call func(ctx context.Context) (T, error), take func(T, error) tea.Cmd) tea.Cmd {
	ctx := b.ctx
	return func() tea.Msg {
		v, err := call(ctx)
		return serviceReply{b, func() tea.Cmd { return take(v, err) }}
	}
}

// tick is the message to poll again.
type tick struct{}

const pollInterval = 2 * time.Second

func nextTick() tea.Cmd { return tea.Tick(pollInterval, func(time.Time) tea.Msg { return tick{} }) }

// Init starts polling; the timeline is requested once the size of the screen is known.
func (m *model) Init() tea.Cmd { return nextTick() }

// Update handles one message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		first := m.width == 0
		m.width, m.height = msg.Width, msg.Height
		if !m.isTooSmall() {
			m.timelinePage().height, _ = splitHeight(m.height - 2)
		}
		if first {
			return m, m.timelinePage().requestFirst(m)
		}
		return m, m.timelinePage().arrange(m)
	case tick:
		if m.width == 0 {
			return m, nextTick()
		}
		return m, tea.Batch(m.timelinePage().poll(m), nextTick())
	case serviceReply:
		if msg.page.closed {
			return m, nil
		}
		return m, msg.handle()
	case tea.PasteMsg:
		if in := m.currentPage().basePage().input; in != nil {
			in.paste(msg.Content)
		}
		return m, nil
	case tea.KeyPressMsg:
		return m, m.handleKeyPress(msg)
	}
	return m, nil
}

func (m *model) handleKeyPress(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	switch k {
	case "ctrl+c":
		return m.interrupt()
	case "ctrl+z":
		return tea.Suspend
	}
	if m.applyingPlan() != nil {
		return nil
	}
	if m.isTooSmall() {
		if k == "q" {
			return tea.Quit
		}
		return nil
	}
	m.notice = ""
	p := m.currentPage()
	if in := p.basePage().input; in != nil {
		return m.typeKey(in, k, msg.Text)
	}
	switch k {
	case "q":
		return tea.Quit
	case "?":
		if _, open := p.(*helpPage); !open {
			m.openPage(newHelpPage(m))
		}
		return nil
	}
	return p.handleKey(m, k)
}

// typeKey passes a key to the line being typed. Esc gives the line up.
func (m *model) typeKey(in *inputLine, k, text string) tea.Cmd {
	b := m.currentPage().basePage()
	switch k {
	case "esc":
		b.input = nil
		if in.onEscape != nil {
			return in.onEscape()
		}
		return nil
	case "enter":
		b.input = nil
		return in.onEnter(in.text())
	}
	if q, ok := m.currentPage().(*planPage); ok && in.noPaste && arrowKeys[k] { // what is asked about can be read
		q.moveByKey(k)
		return nil
	}
	in.handleKey(k, text)
	return nil
}

var arrowKeys = map[string]bool{"up": true, "down": true, "pgup": true, "pgdown": true}

// applyingPlan returns the plan that is being applied, or nil. No page is opened above it.
func (m *model) applyingPlan() *planPage {
	if p, ok := m.currentPage().(*planPage); ok && p.isApplying() {
		return p
	}
	return nil
}

// interrupt quits, unless files are being changed: then it first stops that between two files.
func (m *model) interrupt() tea.Cmd {
	if p := m.applyingPlan(); p != nil {
		return p.cancelApply(m)
	}
	return tea.Quit
}

func (m *model) isTooSmall() bool { return m.width < leastWidth || m.height < leastHeight }

// View draws the current page, its keys and the status line.
func (m *model) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	if m.width == 0 {
		return v
	}
	l := m.style()
	if m.isTooSmall() {
		v.SetContent(m.tooSmallText())
		return v
	}
	p := m.currentPage()
	foot := []string{keyHelpLine(l, p.keyHelp())}
	if q := p.basePage().question; q != "" { // it is never cut
		foot = wrapLines(l, []string{q})
		foot = foot[:min(len(foot), m.height/2)]
	}
	room := m.height - 1 - len(foot)
	lines := p.draw(m, l, room)
	for len(lines) < room {
		lines = append(lines, "")
	}
	lines = append(append(lines[:room], foot...), m.lastLine(l, p))
	for i, line := range lines {
		lines[i] = l.ClipColumns(line, 0, m.width)
	}
	v.SetContent(strings.Join(lines, "\n"))
	if in := p.basePage().input; in != nil {
		v.Cursor = tea.NewCursor(min(in.cursorColumn(l), m.width-1), m.height-1)
	}
	return v
}

func (m *model) tooSmallText() string {
	text := fmt.Sprintf("Too small: %d × %d. It needs %d × %d. q leaves.", m.width, m.height, leastWidth, leastHeight)
	if m.options.ASCII {
		text = strings.ReplaceAll(text, "×", "x")
	}
	lines := term.Wrap(text, max(m.width, 1))
	return strings.Join(lines[:min(len(lines), max(m.height, 1))], "\n")
}

// lastLine returns the line being typed, or the status.
func (m *model) lastLine(l term.Style, p page) string {
	b := p.basePage()
	switch {
	case b.input != nil:
		return b.input.draw(l, m.width)
	case m.notice != "":
		return m.notice
	case !b.waitingSince.IsZero() && l.Now.Sub(b.waitingSince) >= waitNoticeAfter:
		return l.Yellow("!") + " the service has not answered for " + fmt.Sprint(int(l.Now.Sub(b.waitingSince).Seconds())) + " s; esc goes back"
	}
	return p.statusLine(m, l)
}

// waitNoticeAfter is how long to wait before a page says that it waits.
const waitNoticeAfter = 5 * time.Second

var asciiKeys = strings.NewReplacer("–", "-", "↓", "down", "↑", "up", "←", "left", "→", "right")

// keyHelpLine lists keys as far as they fit; the last pair is always kept.
func keyHelpLine(l term.Style, pairs []string) string {
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
