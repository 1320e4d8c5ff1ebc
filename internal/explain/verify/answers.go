package verify

import (
	"maps"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// weight orders verifications of one name: a heavier one answers, whatever is newer.
type weight int

const (
	nothing weight = iota // it did not run to its end, or on other files
	word                  // an agent says so
	search                // a bisect asked, with whatever command it was given
	away                  // it ran, at another path
	proper                // it ran on these files where they belong
)

func weigh(v retake.Verification) weight {
	switch {
	case v.Verdict != retake.Passed && v.Verdict != retake.Failed:
		return nothing
	case v.Claim:
		return word
	case v.Bisect:
		return search
	case v.Where == retake.Elsewhere:
		return away
	}
	return proper
}

// newer: the later start; ids decide between equals, so that the order is one.
func newer(a, b retake.Verification) bool {
	if !a.Started.Equal(b.Started) {
		return a.Started.After(b.Started)
	}
	return a.ID > b.ID
}

// outranks reports whether v stands before old at a checkpoint. What was run at the
// checkpoint itself stays there: a later run on equal files, at another checkpoint, met
// another world around the files and rewrites nothing. Then the heavier one stands, then
// the newer.
func outranks(cp retake.Checkpoint, v, old retake.Verification) bool {
	if own, was := ranAt(cp, v), ranAt(cp, old); own != was {
		return own
	}
	if w, was := weigh(v), weigh(old); w != was {
		return w > was
	}
	return newer(v, old)
}

// ranAt reports whether a command was run at this very checkpoint and answered. A claim, a
// bisect, or a run that came to no answer, leaves the checkpoint as one that was never asked.
func ranAt(cp retake.Checkpoint, v retake.Verification) bool {
	return v.Checkpoint == cp.ID && weigh(v) > search
}

// standing finds, by name, the verification that stands at a checkpoint.
func standing(cp retake.Checkpoint, all []retake.Verification) map[string]retake.Verification {
	best := map[string]retake.Verification{}
	if cp.Content == "" {
		return best
	}
	for _, v := range all {
		if v.Content != cp.Content {
			continue
		}
		if old, ok := best[v.Name]; !ok || outranks(cp, v, old) {
			best[v.Name] = v
		}
	}
	return best
}

// Answers tells, by name, what stands at a checkpoint: its own newest answer, and where it
// was never asked, the newest answer about equal content. What ran where it belongs is
// heavier than what ran at another path, that is heavier than an answer to a bisect, then
// an agent's claim, then a command that could not run. Was is what was seen at the checkpoint before, when that
// is another verdict.
func Answers(cp retake.Checkpoint, before *retake.Checkpoint, all []retake.Verification) []retake.Answer {
	now := standing(cp, all)
	was := map[string]retake.Verification{}
	if before != nil {
		was = standing(*before, all)
	}
	out := make([]retake.Answer, 0, len(now))
	for _, name := range slices.Sorted(maps.Keys(now)) {
		v := now[name]
		a := retake.Answer{Name: name, Verdict: v.Verdict, Claim: v.Claim, Bisect: v.Bisect}
		if v.Checkpoint != cp.ID {
			a.As = v.Number
		}
		if b, ok := was[name]; ok && weigh(b) > word && b.Verdict != v.Verdict {
			a.Was = b.Verdict
		}
		out = append(out, a)
	}
	return out
}

// Good reports whether a checkpoint is good: it is complete, and every standing
// verification passed when it was last asked here, or, where it never was, on equal
// content. Without standing ones something passed, and nothing failed.
func Good(cp retake.Checkpoint, all []retake.Verification, wanted []retake.Standing) bool {
	if cp.Coverage.Grade != retake.Complete || cp.Content == "" {
		return false
	}
	if len(wanted) == 0 {
		best := standing(cp, properOnly(all))
		for name := range best {
			if !passes(cp, name, all) {
				return false
			}
		}
		return len(best) > 0
	}
	for _, s := range wanted {
		if !passes(cp, s.Name, byCommand(all, s.Command)) {
			return false
		}
	}
	return true
}

// passes reports whether a name passed where it belongs, and its own row does not say that
// it failed at another path.
func passes(cp retake.Checkpoint, name string, all []retake.Verification) bool {
	proof, shown := standing(cp, properOnly(all))[name], standing(cp, all)[name]
	return proof.Verdict == retake.Passed && shown.Verdict == retake.Passed
}

func properOnly(all []retake.Verification) []retake.Verification {
	return slices.DeleteFunc(slices.Clone(all), func(v retake.Verification) bool { return weigh(v) != proper })
}

func byCommand(all []retake.Verification, command string) []retake.Verification {
	return slices.DeleteFunc(slices.Clone(all), func(v retake.Verification) bool {
		return strings.TrimSpace(v.Command) != strings.TrimSpace(command)
	})
}
