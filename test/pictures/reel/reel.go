// Package reel makes a moving picture of an undo: five frames that follow each other for ever,
// each with a caption. It is SVG that moves by its own style, and it has a light and a dark form.
//
// It reads what a run gave and answers bytes, and touches nothing else.
//
//	R1  What a run decides comes from Run. A caption that a run does not hold is an error.
//	R2  A picture holds no script and names nothing outside of itself, so that it moves as an image.
//	R3  Who asked for less motion sees the last frame, whole and still.
//	R4  Text is at least 17 pixels high on a picture of 1200, and none leaves its pane.
package reel

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake/test/pictures/shot"
)

// Columns of the terminals that the screens of a run are made on.
const (
	Beside = 74 // a terminal that stands next to the photos
	Wide   = 82 // one that has the picture for itself
	spoken = 62 // of an agent, which says little
)

// Run is what happened: the turn of an agent, and how it was undone.
type Run struct {
	Agent, Workspace string
	Prompt, Words    string // what you said first, and the agent last
	Calls            []Call
	Number           int64 // of the checkpoint after the turn
	Saved            int64 // of the one just before the risky call; 0 when there is none

	Dir     string   // of the photos, "public/photos"
	Deleted []Photo  // those that the turn deleted
	Back    []string // the names of those that are there after the undo

	Found, Timeline, Plan, Result []shot.Row // what terminals showed
}

// Call is something that the agent did.
type Call struct {
	Tool, Text string
	Risky      bool
}

// Photo is a file, and the two colors that make a small drawing of it.
type Photo struct{ Name, Ink, Ground string }

// caption is one line below a frame; the second part of it has a color.
type caption struct{ plain, strong, class string }

// frame is one of the five.
type frame struct {
	seconds float64
	caption caption
	draw    func(begin float64) string // what is above the caption
}

// SVG draws a run on a light or a dark ground.
func SVG(r Run, dark bool) ([]byte, error) {
	if err := r.holds(); err != nil {
		return nil, fmt.Errorf("draw undo: %w", err)
	}
	frames, n := r.frames(), len(r.Deleted)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">`+"\n", width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", escape(fmt.Sprintf("“%s”: the agent says that it is done, and does not say that it deleted %d photos. "+
		"The timeline shows it, retake undo %d shows a plan, and all %d photos are back.", r.Prompt, n, r.Number, len(r.Back))))
	fmt.Fprintf(&b, "<style>%s</style>\n", style(frames, dark))
	begin := 0.0
	for i, f := range frames {
		fmt.Fprintf(&b, `<g class="frame n%d">`+"\n%s%s%s</g>\n", i+1, ground(), f.draw(begin), f.caption.svg(i+1, len(frames)))
		begin += f.seconds
	}
	b.WriteString("</svg>\n")
	return []byte(b.String()), nil
}

// holds reports what a caption says that the run does not.
func (r Run) holds() error {
	said := strings.ToLower(r.Words)
	switch {
	case !strings.Contains(said, "release is ready"):
		return fmt.Errorf("the agent does not say that the release is ready, but %q", r.Words)
	case strings.Contains(said, "photo"):
		return fmt.Errorf("the agent speaks of the photos: %q", r.Words)
	case len(r.Deleted) < 2:
		return fmt.Errorf("the turn deletes %d photos", len(r.Deleted))
	case r.Saved == 0:
		return errors.New("nothing was saved just before")
	case len(r.Calls) == 0 || len(r.Found) == 0 || len(r.Timeline) == 0 || len(r.Plan) == 0 || len(r.Result) == 0:
		return errors.New("a part of the run is empty")
	}
	for _, rows := range [][]shot.Row{r.Found, r.Timeline, r.Plan, r.Result} {
		if len(rows) > mostRows {
			return fmt.Errorf("a screen of %d lines is too long, from %q on", len(rows), rows[mostRows].Text)
		}
	}
	for _, p := range r.Deleted {
		if !slices.Contains(r.Back, p.Name) {
			return fmt.Errorf("%s is not back", p.Name)
		}
	}
	return nil
}

// frames are the five, in their order.
func (r Run) frames() []frame {
	return []frame{
		{3, caption{plain: "Your agent says the release is ready."}, r.turn},
		{3, caption{"It did not say that ", fmt.Sprintf("it deleted %d photos.", len(r.Deleted)), "r"}, r.found},
		{3, caption{"The timeline does. ", "Everything was saved just before.", "g"}, r.timeline},
		{2.5, caption{plain: "You see every change before it happens."}, r.plan},
		{2.5, caption{strong: fmt.Sprintf("%d photos are back.", len(r.Back)), class: "g"}, r.result},
	}
}

// turn is what you see of an agent: it does one thing after the other, and tells you the last.
func (r Run) turn(begin float64) string {
	const bold, yellow, off, bullet = "\x1b[1m", "\x1b[33m", "\x1b[0m", "• "
	lines := []string{bold + "> " + r.Prompt + off, ""}
	for _, c := range r.Calls {
		text := c.Text
		if c.Risky {
			text = yellow + text + off
		}
		lines = append(lines, fmt.Sprintf(bullet+"%s(%s)", c.Tool, text))
	}
	lines = append(lines, "", bullet+bold+r.Words+off)
	rows := shot.Read(strings.Join(lines, "\r\n"), spoken).Rows()
	t := terminal{pane: wholePane(r.Agent + " · " + r.Workspace), rows: rows, columns: spoken, come: map[int]float64{}}
	shown := 0
	for i, row := range rows[1:] {
		if row.Text != "" {
			t.come[i+1] = begin + .4 + .35*float64(shown)
			shown++
		}
	}
	return t.svg()
}

// found is what one command tells after that, and the photos, which go.
func (r Run) found(begin float64) string {
	left, right := twoPanes(r.title(), r.Dir)
	t := terminal{pane: left, rows: r.Found, columns: Beside}
	t.mark("bad", begin+.5, is(r.Number), r.speaksOfPhotos, func(s string) bool { return strings.HasPrefix(s, "FAIL") })
	return t.svg() + gallery{pane: right, photos: r.Deleted, here: 0, begin: begin + .3, leave: true}.svg()
}

func (r Run) timeline(begin float64) string {
	t := terminal{pane: wholePane(r.title()), rows: r.Timeline, columns: Wide}
	t.mark("bad", begin+.4, is(r.Number), r.speaksOfPhotos)
	t.mark("good", begin+1.2, is(r.Saved))
	return t.svg()
}

func (r Run) plan(begin float64) string {
	t := terminal{pane: wholePane(r.title()), rows: r.Plan, columns: Beside}
	t.mark("good", begin+.5, r.speaksOfPhotos)
	return t.svg()
}

// result is what the undo did, and the photos, which come back.
func (r Run) result(begin float64) string {
	left, right := twoPanes(r.title(), r.Dir)
	t := terminal{pane: left, rows: r.Result, columns: Beside}
	t.mark("good", begin+.4,
		func(s string) bool { return strings.Contains(s, "brought back") },
		func(s string) bool { return strings.HasPrefix(s, "ok") && strings.Contains(s, "photo") })
	return t.svg() + gallery{pane: right, photos: r.Deleted, here: len(r.Back), begin: begin + .2}.svg()
}

func (r Run) title() string { return "retake · " + r.Workspace }

// is finds the line of a checkpoint: a sign, then its number.
func is(number int64) func(string) bool {
	return func(line string) bool {
		words := strings.Fields(line)
		return len(words) > 1 && strings.Contains("●○◇", words[0]) && words[1] == fmt.Sprint(number)
	}
}

func (r Run) speaksOfPhotos(line string) bool { return strings.Contains(line, r.Dir+"/") }
