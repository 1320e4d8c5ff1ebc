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
	away                  // it ran, at another path
	proper                // it ran on these files where they belong
)

func weigh(v retake.Verification) weight {
	switch {
	case v.Verdict != retake.Passed && v.Verdict != retake.Failed:
		return nothing
	case v.Claim:
		return word
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

// standing finds, by name, the newest of the heaviest verifications of a content.
func standing(content retake.ContentID, all []retake.Verification) map[string]retake.Verification {
	best := map[string]retake.Verification{}
	if content == "" {
		return best
	}
	for _, v := range all {
		if v.Content != content {
			continue
		}
		old, ok := best[v.Name]
		if w, was := weigh(v), weigh(old); !ok || w > was || w == was && newer(v, old) {
			best[v.Name] = v
		}
	}
	return best
}

// Answers tells, by name, what stands at a checkpoint: the newest answer about its
// content. What ran where it belongs is heavier than what ran at another path, that is
// heavier than an agent's claim, and that than a command that could not run. Was is what
// was seen at the moment before, when that is another verdict.
func Answers(cp retake.Checkpoint, before *retake.Checkpoint, all []retake.Verification) []retake.Answer {
	now := standing(cp.Content, all)
	was := map[string]retake.Verification{}
	if before != nil {
		was = standing(before.Content, all)
	}
	out := make([]retake.Answer, 0, len(now))
	for _, name := range slices.Sorted(maps.Keys(now)) {
		v := now[name]
		a := retake.Answer{Name: name, Verdict: v.Verdict, Claim: v.Claim, As: asked(cp, v, all)}
		if b, ok := was[name]; ok && weigh(b) > word && b.Verdict != v.Verdict {
			a.Was = b.Verdict
		}
		out = append(out, a)
	}
	return out
}

// asked is the number of the moment that was asked; 0 when this one was, and said the
// same.
func asked(cp retake.Checkpoint, v retake.Verification, all []retake.Verification) int64 {
	here := func(o retake.Verification) bool {
		return o.Checkpoint == cp.ID && o.Name == v.Name && o.Content == cp.Content && o.Verdict == v.Verdict && weigh(o) == weigh(v)
	}
	if v.Checkpoint == cp.ID || slices.ContainsFunc(all, here) {
		return 0
	}
	return v.Number
}

// Good reports whether a checkpoint is good: it is complete, and every standing
// verification passed on its content when it was last seen there. Without standing ones
// something passed, and nothing failed.
func Good(cp retake.Checkpoint, all []retake.Verification, wanted []retake.Standing) bool {
	if cp.Coverage.Grade != retake.Complete || cp.Content == "" {
		return false
	}
	seen := slices.DeleteFunc(slices.Clone(all), func(v retake.Verification) bool { return weigh(v) != proper })
	if len(wanted) == 0 {
		best := standing(cp.Content, seen)
		for _, v := range best {
			if v.Verdict != retake.Passed {
				return false
			}
		}
		return len(best) > 0
	}
	for _, s := range wanted {
		only := slices.DeleteFunc(slices.Clone(seen), func(v retake.Verification) bool {
			return strings.TrimSpace(v.Command) != strings.TrimSpace(s.Command)
		})
		if v, ok := standing(cp.Content, only)[s.Name]; !ok || v.Verdict != retake.Passed {
			return false
		}
	}
	return true
}
