package verify

import (
	"regexp"
	"slices"
	"strings"

	"github.com/retake-dev/retake/internal/pure/pattern"
)

// FindClaim reports whether an agent claims that tests pass or that a build succeeds, and
// returns the name of the verification it means. The text is split into sentences and
// clauses; of those that mention tests (or a build) and an outcome, the last one decides. A
// clause with a condition, a wish, a doubt, a failure or a partial count is no claim. When
// in doubt there is none.
func FindClaim(words string) (name string, ok bool) {
	words = words[max(0, len(words)-maxClaimBytes):]
	tests, build := false, false
	for _, part := range splitParts(words) {
		switch p := strings.ToLower(part); {
		case testsPattern().MatchString(p) || countPattern().MatchString(p) || allGreenPattern().MatchString(p):
			if said := readClaim(p, testsPassPatterns); said != claimUnsaid {
				tests = said == claimYes
			}
		case buildPattern().MatchString(p):
			if said := readClaim(p, buildPassPatterns); said != claimUnsaid {
				build = said == claimYes
			}
		}
	}
	switch {
	case tests:
		return "test", true
	case build:
		return "build", true
	}
	return "", false
}

// maxClaimBytes is more than an agent says at the end of a turn.
const maxClaimBytes = 64 << 10

// claimState is what one clause says about an outcome.
type claimState int

const (
	claimUnsaid claimState = iota // nothing of how it ends
	claimYes
	claimNo
)

// readClaim returns what one clause claims.
func readClaim(part string, works []func() *regexp.Regexp) claimState {
	claimed := slices.ContainsFunc(works, func(w func() *regexp.Regexp) bool { return w().MatchString(part) })
	part = noFailurePattern().ReplaceAllString(part, " ")
	switch {
	case outcomePattern().MatchString(part) && (doubtPattern().MatchString(part) || isPartialCount(part)), notRunPattern().MatchString(part):
		return claimNo
	case claimed:
		return claimYes
	}
	return claimUnsaid
}

// isPartialCount recognizes "198 of 212" and "198/212".
func isPartialCount(part string) bool {
	for _, m := range sharePattern().FindAllStringSubmatch(part, -1) {
		if m[1] != m[2] {
			return true
		}
	}
	return false
}

// splitParts splits at the ends of sentences, at lines, and before words that may retract
// what was said. A dot inside a word or a number ends nothing.
func splitParts(words string) []string {
	words = strings.NewReplacer("’", "'", "**", "", "`", "", "*", "", "✅", " ", "✔", " ", "\t", " ").Replace(words)
	return partSeparators().Split(words, -1)
}

var partSeparators = pattern.Lazy(`[!;\n]+|\.(?:\s|$)|\s[—–-]\s|(?i:,?\s+but\s+)|(?i:,\s+(?:so|and now|and you)\s+)`)

const (
	// afterVerb is what may follow a verb of success: nothing, or no object.
	afterVerb = `(?:\s*$|\s*[,.:()\[\]]|\s+(?:now|again|locally|cleanly|successfully|fine|too|as well|in|on|with|without|after|and|for|across|under|including|at|here|together|overall|end to end)\b)`
	fewWords  = `(?:[\s:]+\S+){0,8}?[\s:]+` // a few words between
)

var (
	testsPattern    = pattern.Lazy(`\b(?:tests?|testsuite|specs?|suites?|pytest|jest|vitest)\b`)
	countPattern    = pattern.Lazy(`\b\d+(?:/\d+)?\s+(?:passed|passing)\b`)
	allGreenPattern = pattern.Lazy(`^\W*(?:(?:all|everything)(?:'s| is| are)?\s+)(?:green|passing|passed|passes)\W*$`)
	buildPattern    = pattern.Lazy(`\b(?:builds?|compiles?|compilation|typechecks?|type-checks?)\b`)

	testsPassPatterns = []func() *regexp.Regexp{
		pattern.Lazy(`\b(?:tests?|testsuite|specs?|suites?|pytest|jest|vitest)\b` + fewWords + `?(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?|succeeding|successful|successfully|ok)\b` + afterVerb),
		pattern.Lazy(`\b(?:tests?|testsuite|specs?|suites?)\s+(?:pass|passes|passed|passing|green)\b` + afterVerb),
		pattern.Lazy(`\b(?:passing|green)\s+(?:tests?|test suite|suite)\b` + afterVerb),
		countPattern, allGreenPattern,
	}
	buildPassPatterns = []func() *regexp.Regexp{
		pattern.Lazy(`\b(?:builds?|compilation)\b` + fewWords + `?(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?|succeeding|successful|successfully|cleanly|clean|works)\b` + afterVerb),
		pattern.Lazy(`\b(?:builds?|compiles?|typechecks?|type-checks?)\s+(?:cleanly|successfully|fine|now|again|without (?:any )?(?:errors?|warnings?|problems?))`),
	}

	// noFailure is taken out before doubts are looked for.
	noFailurePattern = pattern.Lazy(`\b(?:0|no|zero|without|without any)\s+(?:test\s+|new\s+)?(?:fail(?:ed|ures?|ing)|errors?|warnings?|regressions?|problems?|issues?)(?:\s+tests?)?\b|\bno longer fail(?:s|ing)?\b|\b(?:0|no)\s+skipped\b`)
	sharePattern     = pattern.Lazy(`\b(\d+)\s*(?:/|of|out of)\s*(?:the\s+)?(\d+)\b`)
	doubtPattern     = pattern.Lazy(`\?|n't\b|\b(?:not|never|no|cannot|none|neither|nor|fail|fails|failed|failing|failures?|broken|breaks?|red|errors?|` +
		`should|would|could|may|might|must|will|shall|can|needs?|need to|want|wants|wanted|expect|expects|expected|hope|hopefully|probably|presumably|likely|perhaps|maybe|assume|assuming|assumed|seem|seems|appear|appears|believe|think|` +
		`if|once|until|unless|when|whether|before|ensure|ensures|ensuring|make sure|making sure|so that|verify|confirm that|check that|let me|let's|please|try|trying|try to|to get|to make|in order to|goal|todo|next|pending|` +
		`most|some|many|several|few|half|almost|nearly|mostly|partially|only|except|apart from|other than|all but|unable|skipped all|untested|unverified|previously|used to)\b`)
	outcomePattern = pattern.Lazy(`\b(?:pass(?:es|ed|ing)?|green|succe\w*|fail\w*|broken|breaks?|red|ok|clean\w*|works?)\b`)
	notRunPattern  = pattern.Lazy(`(?:n't|\bnot|\bnever|\bunable to|\bcannot|\bwithout|\bskipped)(?:\s+(?:yet|been|able to|actually|have|had|be))*\s+(?:run|ran|running|execut\w+|verif\w+)\b`)
)
