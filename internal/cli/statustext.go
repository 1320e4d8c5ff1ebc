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
	say(roomSign(mind, yes, st.Store), "store", l.facts(screen.Bytes(st.Store.Bytes), "disk "+screen.Bytes(st.Store.Free)+" free, floor "+screen.Bytes(st.Store.Floor)))
	return b.String()
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
