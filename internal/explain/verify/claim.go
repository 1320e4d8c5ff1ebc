package verify

import (
	"regexp"
	"slices"
	"strings"

	"github.com/retake-dev/retake/internal/pure/pattern"
)

// Claim tells whether an agent says that tests pass, or that a build succeeds, and the
// name of the verification that it speaks of. The rule: the text is cut into sentences
// and parts of them; of the parts that speak of tests (or a build) and of how they end,
// the last one decides. A part with a condition, a wish, a doubt, a failure or a share
// that is not all of them is no claim. When in doubt there is none.
func Claim(words string) (name string, ok bool) {
	words = words[max(0, len(words)-maxWords):]
	tests, build := false, false
	for _, part := range parts(words) {
		switch p := strings.ToLower(part); {
		case aboutTests().MatchString(p) || counted().MatchString(p) || allGreen().MatchString(p):
			if said := settled(p, testsPass); said != unsaid {
				tests = said == yes
			}
		case aboutBuild().MatchString(p):
			if said := settled(p, buildWorks); said != unsaid {
				build = said == yes
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

// maxWords is more than an agent says at the end of a turn.
const maxWords = 64 << 10

type saying int

const (
	unsaid saying = iota // nothing of how it ends
	yes
	no
)

// settled says what one part says.
func settled(part string, works []func() *regexp.Regexp) saying {
	claimed := slices.ContainsFunc(works, func(w func() *regexp.Regexp) bool { return w().MatchString(part) })
	part = noFailure().ReplaceAllString(part, " ")
	switch {
	case ends().MatchString(part) && (doubt().MatchString(part) || notAll(part)), unrun().MatchString(part):
		return no
	case claimed:
		return yes
	}
	return unsaid
}

// notAll: "198 of 212", "198/212".
func notAll(part string) bool {
	for _, m := range share().FindAllStringSubmatch(part, -1) {
		if m[1] != m[2] {
			return true
		}
	}
	return false
}

// parts cuts at the ends of sentences, at lines, and before what may take back what was
// said. A dot inside a word or a number ends nothing.
func parts(words string) []string {
	words = strings.NewReplacer("’", "'", "**", "", "`", "", "*", "", "✅", " ", "✔", " ", "\t", " ").Replace(words)
	return cuts().Split(words, -1)
}

var cuts = pattern.Late(`[!;\n]+|\.(?:\s|$)|\s[—–-]\s|(?i:,?\s+but\s+)|(?i:,\s+(?:so|and now|and you)\s+)`)

const (
	// beyond is what may follow a word that says how it ends: nothing, or no object.
	beyond = `(?:\s*$|\s*[,.:()\[\]]|\s+(?:now|again|locally|cleanly|successfully|fine|too|as well|in|on|with|without|after|and|for|across|under|including|at|here|together|overall|end to end)\b)`
	gap    = `(?:[\s:]+\S+){0,8}?[\s:]+` // a few words between
)

var (
	aboutTests = pattern.Late(`\b(?:tests?|testsuite|specs?|suites?|pytest|jest|vitest)\b`)
	counted    = pattern.Late(`\b\d+(?:/\d+)?\s+(?:passed|passing)\b`)
	allGreen   = pattern.Late(`^\W*(?:(?:all|everything)(?:'s| is| are)?\s+)(?:green|passing|passed|passes)\W*$`)
	aboutBuild = pattern.Late(`\b(?:builds?|compiles?|compilation|typechecks?|type-checks?)\b`)

	testsPass = []func() *regexp.Regexp{
		pattern.Late(`\b(?:tests?|testsuite|specs?|suites?|pytest|jest|vitest)\b` + gap + `?(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?|succeeding|successful|successfully|ok)\b` + beyond),
		pattern.Late(`\b(?:tests?|testsuite|specs?|suites?)\s+(?:pass|passes|passed|passing|green)\b` + beyond),
		pattern.Late(`\b(?:passing|green)\s+(?:tests?|test suite|suite)\b` + beyond),
		counted, allGreen,
	}
	buildWorks = []func() *regexp.Regexp{
		pattern.Late(`\b(?:builds?|compilation)\b` + gap + `?(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?|succeeding|successful|successfully|cleanly|clean|works)\b` + beyond),
		pattern.Late(`\b(?:builds?|compiles?|typechecks?|type-checks?)\s+(?:cleanly|successfully|fine|now|again|without (?:any )?(?:errors?|warnings?|problems?))`),
	}

	// noFailure is taken out before doubts are looked for.
	noFailure = pattern.Late(`\b(?:0|no|zero|without|without any)\s+(?:test\s+|new\s+)?(?:fail(?:ed|ures?|ing)|errors?|warnings?|regressions?|problems?|issues?)(?:\s+tests?)?\b|\bno longer fail(?:s|ing)?\b|\b(?:0|no)\s+skipped\b`)
	share     = pattern.Late(`\b(\d+)\s*(?:/|of|out of)\s*(?:the\s+)?(\d+)\b`)
	doubt     = pattern.Late(`\?|n't\b|\b(?:not|never|no|cannot|none|neither|nor|fail|fails|failed|failing|failures?|broken|breaks?|red|errors?|` +
		`should|would|could|may|might|must|will|shall|can|needs?|need to|want|wants|wanted|expect|expects|expected|hope|hopefully|probably|presumably|likely|perhaps|maybe|assume|assuming|assumed|seem|seems|appear|appears|believe|think|` +
		`if|once|until|unless|when|whether|before|ensure|ensures|ensuring|make sure|making sure|so that|verify|confirm that|check that|let me|let's|please|try|trying|try to|to get|to make|in order to|goal|todo|next|pending|` +
		`most|some|many|several|few|half|almost|nearly|mostly|partially|only|except|apart from|other than|all but|unable|skipped all|untested|unverified|previously|used to)\b`)
	ends  = pattern.Late(`\b(?:pass(?:es|ed|ing)?|green|succe\w*|fail\w*|broken|breaks?|red|ok|clean\w*|works?)\b`)
	unrun = pattern.Late(`(?:n't|\bnot|\bnever|\bunable to|\bcannot|\bwithout|\bskipped)(?:\s+(?:yet|been|able to|actually|have|had|be))*\s+(?:run|ran|running|execut\w+|verif\w+)\b`)
)
