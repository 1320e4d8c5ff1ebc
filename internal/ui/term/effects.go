package term

import (
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// outcomeWord says how an effect ended; what failed needs no attention.
func outcomeWord(l Style, e retake.Effect) string {
	if e.Failed() {
		return l.Dim(e.Word())
	}
	return l.Yellow(e.Word())
}

// effectsText names effects by their outcome: "e1, e2 stay done, e3 failed".
func effectsText(effects []retake.Effect) string {
	var order []string
	ids := map[string][]string{}
	for _, e := range effects {
		if len(ids[e.Word()]) == 0 {
			order = append(order, e.Word())
		}
		ids[e.Word()] = append(ids[e.Word()], termtext.Escape(e.ID))
	}
	var parts []string
	for _, word := range order {
		text := word
		if word == (retake.Effect{}).Word() && len(ids[word]) > 1 {
			text = "can't be undone"
		}
		parts = append(parts, strings.Join(ids[word], ", ")+" "+text)
	}
	return strings.Join(parts, ", ")
}

// uncertainText stands beside an effect in a list of those that stay done.
func uncertainText(e retake.Effect) string {
	if e.Outcome == retake.OutcomeUnknown {
		return "  " + e.Word()
	}
	return ""
}
