package view

import (
	"fmt"
	"path"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// Flags are what a person must know of a checkpoint before they trust it, the gravest first.
func Flags(c *retake.Checkpoint, f retake.Finding) []retake.RowFlag {
	var out []retake.RowFlag
	add := func(tone retake.FlagTone, word, why string) {
		out = append(out, retake.RowFlag{Word: word, Why: why, Tone: tone})
	}
	if f.Damaged > 0 {
		add(retake.ToneMismatch, "damaged", termtext.CountNoun(f.Damaged, "path", "paths")+" cannot be read from the store")
	}
	if f.Gist != nil {
		for _, f := range f.Gist.Flags {
			add(retake.ToneMismatch, f.Kind, f.Why)
		}
	}
	if c.Turn != nil && c.Turn.Risk != "" {
		add(retake.ToneWarning, "risky", c.Turn.Risk)
	}
	addRescueFlags(add, c.Rescues)
	if c.Coverage.Grade == retake.Partial {
		add(retake.ToneNote, string(retake.Partial), shortGapsText(c.Coverage.Gaps))
	}
	if c.Return != nil && len(c.Return.Failed) > 0 {
		add(retake.ToneNote, "not all", termtext.CountNoun(int64(len(c.Return.Failed)), "path", "paths")+" moved on and stayed")
	}
	if c.Turn != nil {
		addTurnFlags(add, c.Turn)
	}
	return out
}

// addRescueFlags adds what was saved from outside of the workspace, and what was not.
func addRescueFlags(add func(tone retake.FlagTone, word, why string), rescues []retake.Rescue) {
	var saved, lost []string
	for _, r := range rescues {
		if r.IsSaved() {
			saved = append(saved, SavedText(&r))
		} else {
			lost = append(lost, NotSavedText(&r))
		}
	}
	if len(lost) > 0 {
		add(retake.ToneWarning, "not saved", strings.Join(lost, "; "))
	}
	if len(saved) > 0 {
		add(retake.ToneNote, "also saved", strings.Join(saved, "; "))
	}
}

// SavedText says what a rescue has: "/home/ana/tax, 312 files".
func SavedText(r *retake.Rescue) string {
	switch {
	case r.Workspace != "":
		return fmt.Sprintf("%s, in its checkpoint %d", r.Dir, r.Checkpoint)
	case r.Count > 1:
		return fmt.Sprintf("%s in %s, %s", termtext.CountNoun(r.Count, "name", "names"), r.Dir, countFiles(r.Files))
	default:
		return r.Place() + ", " + countFiles(r.Files)
	}
}

// NotSavedText says what a rescue lacks, and why.
func NotSavedText(r *retake.Rescue) string {
	if r.Dir == "" && len(r.Names) > 0 {
		return r.NotSaved + " (" + strings.Join(r.Names, ", ") + ")"
	}
	if r.Dir == "" {
		return r.NotSaved
	}
	return r.Place() + " (" + r.NotSaved + ")"
}

// addTurnFlags adds what is odd about how a turn went.
func addTurnFlags(add func(tone retake.FlagTone, word, why string), t *retake.Turn) {
	if len(t.Contested) > 0 {
		add(retake.ToneNote, "overlap", "also at work: "+strings.Join(t.Contested, ", "))
	}
	if t.Running > 0 {
		add(retake.ToneNote, "not quiescent", termtext.CountNoun(int64(t.Running), "job ran", "jobs ran")+" on in the background")
	}
	if n := len(t.Subagents); n > 0 {
		add(retake.ToneNote, termtext.CountNoun(int64(n), "sub-agent", "sub-agents"), subagentsText(t.Subagents))
	}
	if t.Failed != "" {
		add(retake.ToneWarning, "interrupted", t.Failed)
	}
	if t.Late > 0 {
		add(retake.ToneNote, "late", "the files were read "+termtext.Duration(t.Late)+" after the signal")
	}
}

// maxSubagentsShown is how many sub-agents a flag names.
const maxSubagentsShown = 4

// subagentsText says what the sub-agents of a turn were asked for.
func subagentsText(all []retake.Subagent) string {
	var out []string
	for _, s := range all[:min(len(all), maxSubagentsShown)] {
		text := s.Task
		if text == "" {
			text = s.Name
		}
		if text == "" {
			text = "no description"
		}
		out = append(out, text)
	}
	if more := len(all) - maxSubagentsShown; more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, "; ")
}

// shortGapsText names a path that was moving while it is the only one, and counts the rest.
func shortGapsText(gaps []retake.Gap) string {
	groups := GroupGaps(gaps)
	if len(groups) == 0 || len(groups[0]) != 1 || !groups[0][0].Reason.Held() {
		return GapCountsText(gaps)
	}
	first := path.Base(groups[0][0].Path) + " was moving"
	for _, g := range groups[1:] {
		first += ", " + GapCountText(g[0].Reason, len(g))
	}
	return first
}
