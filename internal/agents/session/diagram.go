package session

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
)

// Diagram draws the table for the docs: phases, signals, and the checkpoints they make.
func Diagram() string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n    [*] --> away\n")
	for _, r := range transitions {
		for _, in := range r.phases {
			to := r.to
			if r.signal == retake.SignalCompact || r.signal == retake.SignalTasks && in != Working {
				to = in
			}
			fmt.Fprintf(&b, "    %s --> %s: %s\n", in, to, arrowLabel(r))
		}
	}
	for _, r := range []rule{riskRule, taskRule, callRule} {
		fmt.Fprintf(&b, "    working --> working: %s\n", arrowLabel(r))
	}
	return b.String()
}

// arrowLabel returns the label of a rule's arrow.
func arrowLabel(r rule) string {
	text := string(r.signal)
	if r.save == "" {
		return text + " (" + r.label + ")"
	}
	text += " / " + string(r.save)
	if r.ifChanged {
		text += " if changed"
	}
	if r.wait {
		text += ", waited for"
	}
	return text + " (" + r.label + ")"
}
