package term

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/view"
)

func (p Paint) magenta(s string) string { return p.sgr("35", s) }

// VerdictMark returns the glyph and the color of a verdict. The claim of an agent is never
// green or red.
func (l Style) VerdictMark(v retake.Verdict, claim bool) (sign string, color func(string) string) {
	plain := func(s string) string { return s }
	switch v {
	case retake.Passed:
		sign, color = l.Glyphs.Yes, l.Green
	case retake.Failed:
		sign, color = l.Glyphs.No, l.Red
	case retake.Running:
		sign, color = l.Glyphs.Wait, plain
	case retake.RanOnOther:
		sign, color = "≈", l.Cyan
		if l.ASCII {
			sign = "~="
		}
	default: // it could not run, or a later version knows more
		sign, color = "?", l.Cyan
	}
	if claim {
		return l.Glyphs.Quote(sign), plain
	}
	return sign, color
}

// Badge is one verification as a row shows it.
type Badge struct {
	Sign, Text string
	Color      func(string) string
	failed     bool
	word       bool // it is a word alone, which has the color
}

func (m Badge) width() int {
	if m.word {
		return termtext.Width(m.Text)
	}
	return termtext.Width(m.Sign) + 1 + termtext.Width(m.Text)
}

// Badges returns the verifications of a checkpoint, the gravest first. Those of another
// checkpoint with the same content name it once.
func (l Style) Badges(answers []retake.Answer) []Badge {
	sorted := slices.Clone(answers)
	slices.SortStableFunc(sorted, func(a, b retake.Answer) int { return cmp.Compare(view.VerdictRank(a), view.VerdictRank(b)) })
	var out []Badge
	seen := map[string]bool{}
	for _, a := range sorted {
		m := Badge{Text: termtext.Escape(a.Name), failed: view.VerdictRank(a) == 0}
		m.Sign, m.Color = l.VerdictMark(a.Verdict, a.Claim)
		if a.Bisect {
			m.Text = "bisect " + m.Text
		}
		if a.As != 0 {
			m.Text = fmt.Sprintf("like %d", a.As)
			if l.Width >= badgeTextFrom {
				m.Text = fmt.Sprintf("same as %d", a.As)
			}
		}
		if key := m.Sign + m.Text; !seen[key] {
			seen[key] = true
			out = append(out, m)
		}
	}
	return out
}

// badgeTextFrom is from which width on a badge is spelled out.
const badgeTextFrom = 100

// GravestBadges returns what a narrow row shows: the gravest badge, and how many more failed.
func GravestBadges(ms []Badge) []Badge {
	if len(ms) == 0 {
		return nil
	}
	first, more := ms[0], 0
	for _, m := range ms[1:] {
		if m.failed {
			more++
		}
	}
	if more > 0 {
		first.Text += fmt.Sprintf(" +%d", more)
	}
	return []Badge{first}
}

// badgesWidth is how many columns badges take beside each other.
func badgesWidth(ms []Badge) int {
	width := 0
	for i, m := range ms {
		width += m.width() + min(i, 1)
	}
	return width
}

// VerificationCell draws badges into a column; text paints everything but the glyphs. If not
// all fit, it counts the rest.
func (l Style) VerificationCell(ms []Badge, width int, text func(string) string) string {
	if len(ms) == 0 {
		return l.Dim(l.Glyphs.Dash) + strings.Repeat(" ", max(width-1, 0))
	}
	shown := len(ms)
	more := ""
	for shown > 1 && badgesWidth(ms[:shown])+termtext.Width(more) > width {
		shown--
		more = fmt.Sprintf(" +%d", len(ms)-shown)
	}
	if badgesWidth(ms[:shown])+termtext.Width(more) > width && shown == 1 {
		m := &ms[0]
		room := width - termtext.Width(m.Sign) - 1 - termtext.Width(more)
		if m.word {
			room = width
		}
		ms = []Badge{{Sign: m.Sign, Text: l.Glyphs.Cut(m.Text, room), Color: m.Color, word: m.word}}
		shown = 1
	}
	var parts []string
	for _, m := range ms[:shown] {
		if m.word {
			parts = append(parts, m.Color(m.Text))
			continue
		}
		parts = append(parts, m.Color(m.Sign)+" "+text(m.Text))
	}
	cell := strings.Join(parts, " ") + text(more)
	return cell + strings.Repeat(" ", max(width-l.ShownWidth(cell), 0))
}

// newestAnswers returns the newest answer for each name; vs is sorted newest first. Answers
// about the checkpoint itself come before those about others with the same content.
func newestAnswers(vs []retake.Verification, number int64) []retake.Answer {
	var out []retake.Answer
	seen := map[string]bool{}
	for _, v := range sortOwnFirst(vs, number) {
		if seen[v.Name] {
			continue
		}
		seen[v.Name] = true
		a := retake.Answer{Name: v.Name, Verdict: v.Verdict, Claim: v.Claim, Bisect: v.Bisect}
		if v.Number != number {
			a.As = v.Number
		}
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b retake.Answer) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func sortOwnFirst(vs []retake.Verification, number int64) []retake.Verification {
	var own, others []retake.Verification
	for _, v := range vs {
		if v.Number == number {
			own = append(own, v)
		} else {
			others = append(others, v)
		}
	}
	return append(own, others...)
}
