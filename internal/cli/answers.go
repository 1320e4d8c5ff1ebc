package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

func (p paint) magenta(s string) string { return p.code("35", s) }

// sign is the glyph of a verdict and its color. What an agent says is never green or red.
func (l look) sign(v retake.Verdict, claim bool) (sign string, color func(string) string) {
	plain := func(s string) string { return s }
	switch v {
	case retake.Passed:
		sign, color = l.g.Yes, l.green
	case retake.Failed:
		sign, color = l.g.No, l.red
	case retake.Running:
		sign, color = l.g.Wait, plain
	case retake.RanOnOther:
		sign, color = "≈", l.cyan
		if l.ascii {
			sign = "~="
		}
	default: // it could not run, or a later version knows more
		sign, color = "?", l.cyan
	}
	if claim {
		return l.g.Quote(sign), plain
	}
	return sign, color
}

// gravity orders verdicts, the gravest first. What could not run says nothing about the
// files, so it stands behind what does.
func gravity(a retake.Answer) int {
	if a.Claim {
		return 5
	}
	switch a.Verdict {
	case retake.Failed:
		return 0
	case retake.Running:
		return 1
	case retake.RanOnOther:
		return 3
	case retake.CouldNotRun:
		return 4
	default:
		return 2
	}
}

// badge is one answer as a row shows it.
type badge struct {
	sign, text string
	color      func(string) string
	failed     bool
}

func (m badge) width() int { return screen.Width(m.sign) + 1 + screen.Width(m.text) }

// badges are the answers about a moment, the gravest first. Those that were given about
// another moment with the same content say which, once.
func (l look) badges(answers []retake.Answer) []badge {
	sorted := slices.Clone(answers)
	slices.SortStableFunc(sorted, func(a, b retake.Answer) int { return cmp.Compare(gravity(a), gravity(b)) })
	var out []badge
	seen := map[string]bool{}
	for _, a := range sorted {
		m := badge{text: screen.Escape(a.Name), failed: gravity(a) == 0}
		m.sign, m.color = l.sign(a.Verdict, a.Claim)
		if a.As != 0 {
			m.text = fmt.Sprintf("as %d", a.As)
		}
		if key := m.sign + m.text; !seen[key] {
			seen[key] = true
			out = append(out, m)
		}
	}
	return out
}

// gravest is what a narrow row shows: one answer, and how many more failed.
func gravest(ms []badge) []badge {
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
		first.text += fmt.Sprintf(" +%d", more)
	}
	return []badge{first}
}

// badgesWidth is how many columns badges take beside each other.
func badgesWidth(ms []badge) int {
	width := 0
	for i, m := range ms {
		width += m.width() + min(i, 1)
	}
	return width
}

// verifyCell draws badges into a column; text paints what is not a sign. Where they do not
// fit, it says how many more there are.
func (l look) verifyCell(ms []badge, width int, text func(string) string) string {
	if len(ms) == 0 {
		return l.dim(l.g.Dash) + strings.Repeat(" ", max(width-1, 0))
	}
	shown := len(ms)
	more := ""
	for shown > 1 && badgesWidth(ms[:shown])+screen.Width(more) > width {
		shown--
		more = fmt.Sprintf(" +%d", len(ms)-shown)
	}
	if badgesWidth(ms[:shown])+screen.Width(more) > width && shown == 1 {
		m := &ms[0]
		room := width - screen.Width(m.sign) - 1 - screen.Width(more)
		ms = []badge{{sign: m.sign, text: l.g.Cut(m.text, room), color: m.color}}
		shown = 1
	}
	var parts []string
	for _, m := range ms[:shown] {
		parts = append(parts, m.color(m.sign)+" "+text(m.text))
	}
	cell := strings.Join(parts, " ") + text(more)
	return cell + strings.Repeat(" ", max(width-l.shownWidth(cell), 0))
}

// answersOf are the newest answers by name, of verifications that are listed newest first.
func answersOf(vs []retake.Verification, number int64) []retake.Answer {
	var out []retake.Answer
	seen := map[string]bool{}
	for _, v := range vs {
		if seen[v.Name] {
			continue
		}
		seen[v.Name] = true
		a := retake.Answer{Name: v.Name, Verdict: v.Verdict, Claim: v.Claim}
		if v.Number != number {
			a.As = v.Number
		}
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b retake.Answer) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
