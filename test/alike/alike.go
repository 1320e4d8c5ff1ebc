// Package alike compares what the terminal and the console show of the same timelines. It runs
// the console's own code by Node, and never a browser.
package alike

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// Timeline is one timeline as the terminal asks for it, and as the console does.
type Timeline struct {
	Whole retake.TimelineView `json:"-"`
	Flat  retake.TimelineView `json:"flat"`
	Graph retake.TimelineView `json:"graph"`
}

// ErrNoConsole says that Node, or the console's packages, are not installed.
var ErrNoConsole = errors.New("the console cannot be run: install Node and run npm install in console")

// Compare returns for each timeline what only one of the two shows. Repository is the top
// directory.
func Compare(repository string, all []Timeline) ([][]string, error) {
	rows, err := askConsole(repository, all)
	if err != nil {
		return nil, err
	}
	out := make([][]string, len(all))
	for i := range all {
		out[i] = difference(terminalRows(&all[i].Whole), rows[i])
	}
	return out, nil
}

// askConsole returns the rows that the console shows of each timeline, as words.
func askConsole(repository string, all []Timeline) ([][][]string, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, ErrNoConsole
	}
	dir := filepath.Join(repository, "console")
	if _, err := os.Stat(filepath.Join(dir, "node_modules/rolldown")); err != nil {
		return nil, ErrNoConsole
	}
	data, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp("", "timelines-*.json")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // scratch
	if _, err := f.Write(data); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	c := exec.Command(node, filepath.Join(dir, "test/timelines.mjs"), f.Name())
	c.Stderr = os.Stderr
	text, err := c.Output()
	if err != nil {
		return nil, err
	}
	var out [][][]string
	if err := json.Unmarshal(bytes.TrimSpace(text), &out); err != nil {
		return nil, err
	}
	if len(out) != len(all) {
		return nil, fmt.Errorf("%d timelines were asked for, %d came", len(all), len(out))
	}
	return out, nil
}

// terminalRow is a row with the lines below it. Its head is a number, a range, the id of an
// effect, "fork" or "more".
type terminalRow struct{ head, text string }

const width = 3000 // nothing is cut

var (
	graph  = regexp.MustCompile(`^[●○◇→│╭╮╯╰┴┬┤├┼─┊⋮◆⊘· ]+`)
	number = regexp.MustCompile(`^(e?\d+) +\d\d:\d\d |^(\d+(?:–\d+)?) +(?:\d\d:\d\d .*auto-checkpoints|replaced by a restore)`)
	fork   = regexp.MustCompile(`^\d\d:\d\d +\S* +fork `)
	more   = regexp.MustCompile(`^\+\d+ forks?`)
)

// terminalRows draws a timeline and splits it into rows.
func terminalRows(v *retake.TimelineView) []terminalRow {
	now := time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
	if t := newest(v); !t.IsZero() {
		now = lateInTheDay(t).Add(time.Minute)
	}
	var out []terminalRow
	for line := range strings.Lines(term.RenderTimeline(term.Style{Glyphs: termtext.Unicode, Width: width, Now: now}, *v)) {
		text := strings.TrimSpace(graph.ReplaceAllString(line, ""))
		head := ""
		switch m := number.FindStringSubmatch(text); {
		case m != nil:
			head = m[1] + m[2]
		case fork.MatchString(text):
			head = "fork"
		case more.MatchString(text):
			head = "more"
		case len(out) == 0 || text == "" || strings.HasPrefix(text, "now "):
			continue
		default:
			out[len(out)-1].text += " " + text
			continue
		}
		out = append(out, terminalRow{head, text})
	}
	return out
}

// newest returns the time of the first row that has one.
func newest(v *retake.TimelineView) time.Time {
	for i := range v.Rows {
		if t := v.Rows[i].Time; !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

// lateInTheDay returns t in a zone in which it is 20:00 or later, so that the hours before it fall
// on the same day: a row of another day has a date instead of a clock time.
func lateInTheDay(t time.Time) time.Time {
	u := t.UTC()
	return t.In(time.FixedZone("evening", (20-u.Hour())*3600))
}

// difference lists rows that stand in one of the two alone, and words of the console that the
// row of the terminal does not hold.
func difference(terminal []terminalRow, console [][]string) []string {
	var out []string
	for i := range max(len(terminal), len(console)) {
		switch {
		case i >= len(console):
			return append(out, "only in the terminal: "+terminal[i].text)
		case i >= len(terminal):
			return append(out, fmt.Sprintf("only in the console: %q", console[i]))
		case console[i][0] != terminal[i].head:
			return append(out, fmt.Sprintf("row %d: the terminal has %s, the console %q", i, terminal[i].text, console[i]))
		}
		text := flatten(terminal[i].text)
		for _, word := range console[i][1:] {
			if !says(text, flatten(word)) {
				out = append(out, fmt.Sprintf("row %s: the terminal does not say %q: %s", terminal[i].head, word, text))
			}
		}
	}
	return out
}

// says reports whether a row of the terminal holds a word, or its beginning where it is cut.
func says(text, word string) bool {
	if strings.Contains(text, word) {
		return true
	}
	const shortest = 12 // of what a cut leaves
	runes := []rune(word)
	for n := len(runes) - 1; n >= shortest; n-- {
		if strings.Contains(text, string(runes[:n])+"…") {
			return true
		}
	}
	return false
}

// flatten leaves one space between words, and no dots between facts.
func flatten(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, " · ", " ")), " ")
}
