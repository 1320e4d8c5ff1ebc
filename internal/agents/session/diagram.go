package session

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
)

// Diagram draws the table, for the docs: phases, signals, and the checkpoints they make.
func Diagram() string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n    [*] --> away\n")
	for _, r := range table {
		for _, in := range r.in {
			to := r.to
			if r.on == retake.SignalCompact || r.on == retake.SignalTasks && in != Working {
				to = in
			}
			fmt.Fprintf(&b, "    %s --> %s: %s\n", in, to, arrow(r))
		}
	}
	for _, r := range []rule{riskRule, taskRule, callRule} {
		fmt.Fprintf(&b, "    working --> working: %s\n", arrow(r))
	}
	return b.String()
}

func arrow(r rule) string {
	text := string(r.on)
	if r.save == "" {
		return text + " (" + r.says + ")"
	}
	text += " / " + string(r.save)
	if r.changed {
		text += " if changed"
	}
	if r.wait {
		text += ", waited for"
	}
	return text + " (" + r.says + ")"
}
