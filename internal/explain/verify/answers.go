package verify

import (
	"maps"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// answerWeight orders verifications of one name: the heavier one counts, whichever is
// newer.
type answerWeight int

const (
	weightNone      answerWeight = iota // it did not run to its end, or on other files
	weightClaim                         // an agent claims it
	weightBisect                        // a bisect asked, with whatever command it was given
	weightElsewhere                     // it ran, at another path
	weightProper                        // it ran on these files where they belong
)

func weightOf(v retake.Verification) answerWeight {
	switch {
	case v.Verdict != retake.Passed && v.Verdict != retake.Failed:
		return weightNone
	case v.Claim:
		return weightClaim
	case v.Bisect:
		return weightBisect
	case v.Where == retake.Elsewhere:
		return weightElsewhere
	}
	return weightProper
}

// isNewer reports whether a started later; ids decide between equals, so that the order is
// total.
func isNewer(a, b retake.Verification) bool {
	if !a.Started.Equal(b.Started) {
		return a.Started.After(b.Started)
	}
	return a.ID > b.ID
}

// outranks reports whether v counts at a checkpoint instead of old. A run at the checkpoint
// itself stays there: a later run on equal files, at another checkpoint, had another
// environment and changes nothing. Then the heavier one counts, then the newer.
func outranks(cp retake.Checkpoint, v, old retake.Verification) bool {
	if own, was := ranAtCheckpoint(cp, v), ranAtCheckpoint(cp, old); own != was {
		return own
	}
	if w, was := weightOf(v), weightOf(old); w != was {
		return w > was
	}
	return isNewer(v, old)
}

// ranAtCheckpoint reports whether a command was run at this very checkpoint and gave a
// result. A claim, a bisect or a run without a result does not count.
func ranAtCheckpoint(cp retake.Checkpoint, v retake.Verification) bool {
	return v.Checkpoint == cp.ID && weightOf(v) > weightBisect
}

// standingByName returns, by name, the verification that counts at a checkpoint.
func standingByName(cp retake.Checkpoint, all []retake.Verification) map[string]retake.Verification {
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

// Answers returns, by name, the results that count at a checkpoint: its own newest result,
// or, if it has none, the newest result for equal content. A run in the proper place
// outweighs one at another path, then come a bisect, an agent's claim and a command that
// could not run. Was is the verdict at the checkpoint before, if it differs.
func Answers(cp retake.Checkpoint, before *retake.Checkpoint, all []retake.Verification) []retake.Answer {
	now := standingByName(cp, all)
	was := map[string]retake.Verification{}
	if before != nil {
		was = standingByName(*before, all)
	}
	out := make([]retake.Answer, 0, len(now))
	for _, name := range slices.Sorted(maps.Keys(now)) {
		v := now[name]
		a := retake.Answer{Name: name, Verdict: v.Verdict, Claim: v.Claim, Bisect: v.Bisect}
		if v.Checkpoint != cp.ID {
			a.As = v.Number
		}
		if b, ok := was[name]; ok && weightOf(b) > weightClaim && b.Verdict != v.Verdict {
			a.Was = b.Verdict
		}
		out = append(out, a)
	}
	return out
}

// IsGood reports whether a checkpoint is good: it is complete, and every standing
// verification passed when it was last run here, or, if it never was, on equal content.
// Without standing ones something must have passed and nothing failed.
func IsGood(cp retake.Checkpoint, all []retake.Verification, wanted []retake.Standing) bool {
	if cp.Coverage.Grade != retake.Complete || cp.Content == "" {
		return false
	}
	if len(wanted) == 0 {
		best := standingByName(cp, onlyProper(all))
		for name := range best {
			if !passedProperly(cp, name, all) {
				return false
			}
		}
		return len(best) > 0
	}
	for _, s := range wanted {
		if !passedProperly(cp, s.Name, withCommand(all, s.Command)) {
			return false
		}
	}
	return true
}

// passedProperly reports whether a name passed in the proper place, and the result that is
// shown is not a failure at another path.
func passedProperly(cp retake.Checkpoint, name string, all []retake.Verification) bool {
	proof, shown := standingByName(cp, onlyProper(all))[name], standingByName(cp, all)[name]
	return proof.Verdict == retake.Passed && shown.Verdict == retake.Passed
}

func onlyProper(all []retake.Verification) []retake.Verification {
	return slices.DeleteFunc(slices.Clone(all), func(v retake.Verification) bool { return weightOf(v) != weightProper })
}

func withCommand(all []retake.Verification, command string) []retake.Verification {
	return slices.DeleteFunc(slices.Clone(all), func(v retake.Verification) bool {
		return strings.TrimSpace(v.Command) != strings.TrimSpace(command)
	})
}
