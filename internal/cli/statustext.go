package cli

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

func renderStatus(l look, st retake.Status) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n\n", l.bold(screen.Escape(st.Workspace.Name)), l.dim(l.path(st.Workspace.Root)))
	say := func(sign, name, text string) {
		fmt.Fprintf(&b, "  %s %s%s\n", sign, screen.Pad(name, 12), text)
	}
	room := screen.Width(l.g.Yes)
	none := strings.Repeat(" ", room)
	yes, mind := l.green(l.g.Yes), l.yellow(screen.Pad("!", room))
	if st.Latest == nil {
		say(mind, "protected", "no moment yet: retake save")
	} else {
		c := *st.Latest
		text, _ := l.titled(c, nil)
		say(l.green(screen.Pad(l.g.Point, room)), "protected", l.facts("since "+l.clock(st.Workspace.Created), moments(st.Count)))
		say(none, "latest", fmt.Sprintf("%d  %s  %s  %s", c.Number, l.clock(c.Time), l.g.Cut(text, max(l.width-48, 20)), l.dim(l.ago(c.Time))))
		for _, r := range goodRows(l, st) {
			say(r.sign+strings.Repeat(" ", max(room-l.shownWidth(r.sign), 0)), r.name, r.text)
		}
		say(none, "now", renderNow(l, st))
		sign := yes
		if c.Coverage.Grade == retake.Partial {
			sign = l.cyan(screen.Pad("!", room))
		}
		say(sign, "coverage", l.facts(grade(l, c.Coverage.Grade), files(c.Files)+", "+screen.Bytes(c.Bytes)))
		b.WriteString(gapLines(l, c.Coverage.Gaps, strings.Repeat(" ", 15+room)))
	}
	b.WriteString("\n")
	if st.Tracking.Mode != "" {
		sign, text, below := trackingRow(l, rowSigns{yes: yes, no: l.red(l.g.No), none: none}, st.Tracking)
		say(sign, "tracking", text)
		for _, line := range below {
			fmt.Fprintf(&b, "%s%s\n", strings.Repeat(" ", 15+room), line)
		}
	}
	say(levelSign(mind, yes, st.Protection), "level", levelText(st.Protection))
	if st.Backup != nil {
		for _, r := range backupRows(l, *st.Backup) {
			say(r.sign+strings.Repeat(" ", max(room-l.shownWidth(r.sign), 0)), r.name, r.text)
		}
	}
	say(roomSign(mind, yes, st.Store), "store", l.facts(screen.Bytes(st.Store.Bytes), "disk "+screen.Bytes(st.Store.Free)+" free, floor "+screen.Bytes(st.Store.Floor)))
	return b.String()
}

// statusRow is one row of the status; without a name it goes on with the one before.
type statusRow struct{ sign, name, text string }

// goodRows tell which moment is good, that it was proven, and what is wrong with the newest.
// Where nobody ever asked, there is nothing to tell.
func goodRows(l look, st retake.Status) []statusRow {
	var out []statusRow
	if g := st.Good; g != nil {
		names := goodNames(st)
		text, _ := l.titled(*g, nil)
		lead := fmt.Sprintf("%d  %s  ", g.Number, l.clock(g.Time))
		text = l.g.Cut(text, max(l.width-16-screen.Width(lead)-screen.Width(names)-5, 20))
		if names != "" {
			text += "     " + l.dim(names)
		}
		out = append(out, statusRow{l.green(l.g.Yes), "good", lead + text})
		if d := st.Drill; d != nil {
			out = append(out, drillRow(l, *d, g.Number))
		}
	} else if len(st.Answers) > 0 {
		out = append(out, statusRow{l.yellow("!"), "good", "no good yet"})
	}
	if len(st.Answers) == 0 || st.Good != nil && st.Latest != nil && st.Good.ID == st.Latest.ID {
		return out
	}
	ms := l.badges(st.Answers)
	w := worst(st.Answers)
	sign, color := l.sign(w.Verdict, false)
	if w.Claim {
		sign, color = "", plainText
	}
	return append(out, statusRow{color(sign), "newest", strings.TrimRight(l.verifyCell(ms, l.width-16, plainText), " ")})
}

// goodNames are the verifications that a good moment passed, as far as the newest tells.
func goodNames(st retake.Status) string {
	if st.Latest == nil || st.Good == nil || st.Good.ID != st.Latest.ID {
		return ""
	}
	var names []string
	for _, a := range st.Answers {
		if a.Verdict == retake.Passed && !a.Claim {
			names = append(names, screen.Escape(a.Name))
		}
	}
	return strings.Join(names, ", ")
}

// drillRow tells the last time that a good moment was restored and verified.
func drillRow(l look, d retake.Drill, good int64) statusRow {
	which := ""
	if d.Number != good {
		which = fmt.Sprintf("%d ", d.Number)
	}
	switch d.Verdict {
	case retake.Passed:
		return statusRow{text: l.dim(which + "proven restorable " + l.ago(d.At) + ", in a fork")}
	case retake.Failed:
		return statusRow{text: l.red(fmt.Sprintf("%d restored into a fork %s did not pass", d.Number, l.ago(d.At))) + l.dim(whyOf(l, d.Why))}
	default:
		return statusRow{text: l.cyan(fmt.Sprintf("%d could not be proven restorable %s", d.Number, l.ago(d.At))) + l.dim(whyOf(l, d.Why))}
	}
}

func whyOf(l look, why string) string {
	if why == "" {
		return ""
	}
	return ": " + l.words(why)
}

func renderNow(l look, st retake.Status) string {
	n := st.Now.Total()
	if st.Saving {
		return "a save is under way"
	}
	if n == 0 {
		return fmt.Sprintf("nothing changed since %d", st.Latest.Number)
	}
	return l.facts(fmt.Sprintf("%s changed since %d", files(n), st.Latest.Number), changedFacts(l, st.Now))
}

func levelText(level string) string {
	if level == "same-user" {
		return "same-user: a program that runs as you could delete the store"
	}
	return screen.Escape(level)
}

func levelSign(mind, yes, level string) string {
	if level == "same-user" {
		return mind
	}
	return yes
}

func roomSign(mind, yes string, s retake.StoreState) string {
	if s.Free < s.Floor {
		return mind
	}
	return yes
}
