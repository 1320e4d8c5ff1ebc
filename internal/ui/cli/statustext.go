package cli

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

func renderStatus(l term.Style, st retake.Status) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n\n", l.Bold(termtext.Escape(st.Workspace.Name)), l.Dim(l.DisplayPath(st.Workspace.Root)))
	say := func(sign, name, text string) {
		fmt.Fprintf(&b, "%s\n", l.HangingIndent("  "+sign+" "+termtext.Pad(name, 12)+text, 15+termtext.Width(l.Glyphs.Yes)))
	}
	room := termtext.Width(l.Glyphs.Yes)
	none := strings.Repeat(" ", room)
	yes, mind := l.Green(l.Glyphs.Yes), l.Yellow(termtext.Pad("!", room))
	if u := st.Workspace.Unprotected; u != nil {
		say(l.Red(l.Glyphs.No), "protected", l.Red("no: ")+termtext.Escape(u.Why))
		for line := range strings.Lines(u.Hint) {
			say(none, "", l.Dim(termtext.Escape(strings.TrimSuffix(line, "\n"))))
		}
	}
	if st.Latest == nil {
		say(mind, "protected", "no checkpoint yet: retake save")
	} else {
		c := *st.Latest
		text, _ := l.CheckpointTitle(c, l.Titles)
		if st.Workspace.Unprotected == nil {
			say(l.Green(termtext.Pad(l.Glyphs.Point, room)), "protected", l.JoinFacts("since "+l.ShortTime(st.Workspace.Created), term.CountCheckpoints(st.Count)))
		}
		say(none, "latest", fmt.Sprintf("%d  %s  %s  %s", c.Number, l.ShortTime(c.Time), l.Glyphs.Cut(text, max(l.Width-48, 20)), l.Dim(l.Ago(c.Time))))
		for _, r := range goodRows(l, st) {
			say(r.sign+strings.Repeat(" ", max(room-l.ShownWidth(r.sign), 0)), r.name, r.text)
		}
		say(none, "unsaved", renderNow(l, st))
		sign := yes
		if c.Coverage.Grade == retake.Partial {
			sign = l.Cyan(termtext.Pad("!", room))
		}
		say(sign, "saved", l.JoinFacts(term.GradeText(l, c.Coverage.Grade), term.CountFiles(c.Files)+", "+termtext.Bytes(c.Bytes)))
		b.WriteString(term.GapLines(l, c.Coverage.Gaps, strings.Repeat(" ", 15+room)))
	}
	b.WriteString("\n")
	if st.Tracking.Mode != "" {
		sign, text, below := trackingRow(l, rowMarks{yes: yes, no: l.Red(l.Glyphs.No), none: none}, st.Tracking)
		say(sign, "tracking", text)
		for _, line := range below {
			fmt.Fprintf(&b, "%s%s\n", strings.Repeat(" ", 15+room), line)
		}
	}
	say(levelMark(mind, yes, st.Protection), "isolation", levelText(st.Protection, len(st.Remotes) > 0))
	if st.Backup != nil {
		for _, r := range backupRows(l, *st.Backup) {
			say(r.sign+strings.Repeat(" ", max(room-l.ShownWidth(r.sign), 0)), r.name, r.text)
		}
	}
	for _, r := range remoteRows(l, st.Remotes) {
		say(r.sign+strings.Repeat(" ", max(room-l.ShownWidth(r.sign), 0)), r.name, r.text)
	}
	if d := st.Damage; d != nil {
		say(l.Red(l.Glyphs.No), "damaged", damageText(*d))
		say(none, "", l.Dim("look for the lost bytes: retake doctor --repair"))
	}
	for i, line := range backgroundLines(l, st.Background) {
		name, sign := "background", mind
		if i > 0 {
			name, sign = "", none
		}
		say(sign, name, line)
	}
	say(spaceMark(mind, yes, st.Store), "store", l.JoinFacts(termtext.Bytes(st.Store.Bytes), "disk "+termtext.Bytes(st.Store.Free)+" free, minimum "+termtext.Bytes(st.Store.Floor)))
	return b.String()
}

// maxDamagedNumbers is how many damaged checkpoints are named.
const maxDamagedNumbers = 6

// damageText says which checkpoints cannot be read back whole.
func damageText(d retake.DamageState) string {
	var names []string
	for _, n := range d.Checkpoints {
		if len(names) == maxDamagedNumbers {
			names = append(names, termtext.Count(int64(len(d.Checkpoints)-maxDamagedNumbers))+" more")
			break
		}
		names = append(names, fmt.Sprint(n))
	}
	return term.CountNoun(d.Paths, "path", "paths") + " of " + term.CountNoun(int64(len(d.Checkpoints)), "checkpoint", "checkpoints") + " cannot be read: " + strings.Join(names, ", ")
}

// statusRow is one row of the status; without a name it goes on with the one before.
type statusRow struct{ sign, name, text string }

// goodRows tell which checkpoint is good, that it was proven, and what is wrong with the newest.
// Where nobody ever asked, there is nothing to tell.
func goodRows(l term.Style, st retake.Status) []statusRow {
	var out []statusRow
	if g := st.Good; g != nil {
		names := goodNames(st)
		text, _ := l.CheckpointTitle(*g, l.Titles)
		lead := fmt.Sprintf("%d  %s  ", g.Number, l.ShortTime(g.Time))
		text = l.Glyphs.Cut(text, max(l.Width-16-termtext.Width(lead)-termtext.Width(names)-5, 20))
		if names != "" {
			text += "     " + l.Dim(names)
		}
		out = append(out, statusRow{l.Green(l.Glyphs.Yes), "last good", lead + text})
		if d := st.Drill; d != nil {
			out = append(out, drillRow(l, *d, g.Number))
		}
	} else if len(st.Answers) > 0 {
		out = append(out, statusRow{l.Yellow("!"), "last good", "none: no checkpoint has passed its checks"})
	}
	if len(st.Answers) == 0 || st.Good != nil && st.Latest != nil && st.Good.ID == st.Latest.ID {
		return out
	}
	w := worstAnswer(st.Answers)
	sign, color := l.VerdictMark(w.Verdict, false)
	if w.Claim {
		sign, color = "", term.Unpainted
	}
	return append(out, statusRow{color(sign), "checks", l.JoinFacts(checkTexts(st.Answers, st.Latest)...)})
}

// checkTexts tell what the checks of the newest checkpoint said, the failed ones first.
func checkTexts(answers []retake.Answer, newest *retake.Checkpoint) []string {
	names := map[string][]string{}
	for _, a := range answers {
		word := "has no result of"
		switch {
		case a.Claim:
			word = "has a reported result of"
		case a.Verdict == retake.Failed:
			word = "fails"
		case a.Verdict == retake.Passed:
			word = "passes"
		}
		name := termtext.Escape(a.Name)
		if a.Bisect {
			name = "bisect " + name
		}
		if a.As != 0 {
			name += fmt.Sprintf(" (same files as %d)", a.As)
		}
		names[word] = append(names[word], name)
	}
	number := ""
	if newest != nil {
		number = fmt.Sprint(newest.Number) + " "
	}
	var out []string
	for _, word := range []string{"fails", "has no result of", "has a reported result of", "passes"} {
		if len(names[word]) > 0 {
			out = append(out, number+word+" "+strings.Join(names[word], ", "))
			number = ""
		}
	}
	return out
}

// goodNames returns the verifications that a good checkpoint passed, as far as the newest one
// shows.
func goodNames(st retake.Status) string {
	if st.Latest == nil || st.Good == nil || st.Good.ID != st.Latest.ID {
		return ""
	}
	var names []string
	for _, a := range st.Answers {
		if a.Verdict == retake.Passed && !a.Claim {
			names = append(names, termtext.Escape(a.Name))
		}
	}
	return strings.Join(names, ", ")
}

// drillRow returns the row of the last time that a good checkpoint was restored and verified.
func drillRow(l term.Style, d retake.Drill, good int64) statusRow {
	which := ""
	if d.Number != good {
		which = fmt.Sprintf("%d ", d.Number)
	}
	switch d.Verdict {
	case retake.Passed:
		return statusRow{text: l.Dim(which + "proven restorable " + l.Ago(d.At) + ", in a fork")}
	case retake.Failed:
		return statusRow{text: l.Red(fmt.Sprintf("%d restored into a fork %s did not pass", d.Number, l.Ago(d.At))) + l.Dim(reasonText(l, d.Why))}
	default:
		return statusRow{text: l.Cyan(fmt.Sprintf("%d could not be proven restorable %s", d.Number, l.Ago(d.At))) + l.Dim(reasonText(l, d.Why))}
	}
}

func reasonText(l term.Style, why string) string {
	if why == "" {
		return ""
	}
	return ": " + l.EscapeText(why)
}

func renderNow(l term.Style, st retake.Status) string {
	n := st.Now.Total()
	if st.Saving {
		return "a save is under way"
	}
	if n == 0 {
		return fmt.Sprintf("nothing, all is in %d", st.Latest.Number)
	}
	return l.JoinFacts(fmt.Sprintf("%s changed since %d", term.CountFiles(n), st.Latest.Number), countFacts(l, st.Now))
}

func levelText(level string, remotes bool) string {
	if level == "same-user" && remotes {
		return "same user: a program that runs as you could delete the history, here and at its remotes"
	}
	if level == "same-user" {
		return "same user: a program that runs as you could delete the history. Keep a copy elsewhere: retake help remote"
	}
	if level == "separate-user" {
		return "separate user: only root can delete the history"
	}
	if level == "remote+lock" {
		return "locked remote: for a while nobody can delete what was uploaded"
	}
	return termtext.Escape(level)
}

func levelMark(mind, yes, level string) string {
	if level == "same-user" {
		return mind
	}
	return yes
}

func spaceMark(mind, yes string, s retake.StoreState) string {
	if s.Free < s.Floor {
		return mind
	}
	return yes
}

// backgroundLines tell which tasks failed the last time they ran. What works again is in the
// JSON and in the daemon's log.
func backgroundLines(l term.Style, tasks []retake.BackgroundTask) []string {
	var out []string
	for _, t := range tasks {
		if t.Failing {
			out = append(out, fmt.Sprintf("%s failed %s: %s %s", termtext.Escape(t.Name), term.CountNoun(t.Failures, "time", "times"),
				l.Glyphs.Cut(termtext.Escape(t.Error), 200), l.Dim("("+l.Ago(t.At)+")")))
		}
	}
	return out
}
