package story

import (
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pattern"
)

var (
	green    = `(?:all )?(?:now |still |again )?(?:pass|passes|passed|passing|are passing|is passing|are green|is green|green|succeed|succeeds|succeeded|are all passing|are all green)\b`
	testsOK  = pattern.Late(`(?:^|\b([\w'-]+) )(?:test suite|suite|tests?|specs|tests and lint) ` + green)
	allOK    = pattern.Late(`\ball green(?: now| again| locally)?[.! ]*$|\beverything (?:is |now )*(?:passes|passing|green)(?: now| again)?[.! ]*$|\ball (?:ci |the |of the )?checks (?:now |still )?(?:pass|passed|passing|are passing|are green|succeed)\b`)
	buildOK  = pattern.Late(`\bbuilds? (?:now |still )?(?:passes|pass|passed|succeeds|succeeded|is green|is passing|is clean|green)\b|\bcompiles (?:cleanly|without errors)\b`)
	lintOK   = pattern.Late(`\b(?:lint|linter|linting|eslint) (?:now |still )?(?:passes|passed|passing|is clean|clean|is green|green)\b`)
	markOK   = pattern.Late(`[✔✅✓]\s*(?:all |the )?(?:(tests?|test suite|suite|specs)|(builds?)|(lint)|(all green|everything green|checks))(?: (?:pass\w*|green|ok|succeed\w*))?[.! ]*(?:$|[✔✅✓])`)
	partly   = pattern.Late(`^ (?:for|in|of|on|under|within|against) \D`)
	doubtful = pattern.Late(`\b(?:if|when|once|until|unless|should|would|could|must|may|might|make|makes|making|ensure|ensures|get|gets|let|want|wants|need|needs|whether|verify|check that|before|except|not|never|cannot|most|almost|some|expect|expected|hopefully|think|believe|assume|probably|likely|previously|earlier|will|todo|please|sure|confirm)\b|\w+n't\b|\?`)
	zero     = pattern.Late(`\b(?:0|no|zero|without|none) (?:tests? )?(?:fail\w*|errors?)\b`)
	failing  = pattern.Late(`\b(?:fails|failed|failing|fail|failures?|do not pass|does not pass|not passing|red|broken)\b|\b(?:don't|doesn't) pass\b`)
	repaired = pattern.Late(`\b(?:fix\w*|resolv\w*|no longer|was|were|had|previous\w*|before|used to|repair\w*|address\w*|the failing)\b`)
)

// generic are the words before "tests" that leave it all of them.
var generic = list("the all our my your every full whole entire existing and now that both these those with are test complete")

// verified is what a claim is about.
type verified int

const (
	tests verified = iota
	builds
	lints
	anything
)

// passes is the rule for words that say green where an answer says red.
func passes(q *inquiry) string {
	failed := map[verified]string{}
	for _, a := range q.answers {
		if a.Verdict == retake.Failed && !a.Claim {
			for _, v := range []verified{about(a.Name), anything} {
				if failed[v] == "" {
					failed[v] = a.Name
				}
			}
		}
	}
	if len(failed) == 0 {
		return ""
	}
	for _, s := range []saying{q.words, hear(q.said.Intent)} {
		if s.text == "" || s.before() || s.admitsFailure() {
			continue
		}
		for _, sentence := range s.sentences {
			for _, part := range cutAt(zero().ReplaceAllString(sentence, ""), ",;") {
				if v, what := claimed(part); what != "" && failed[v] != "" {
					return "says " + what + ", " + failed[v] + " failed"
				}
			}
		}
	}
	return ""
}

// about is what a verification looks at, by its name.
func about(name string) verified {
	name = strings.ToLower(name)
	for _, k := range []struct {
		about verified
		words []string
	}{{lints, []string{"lint", "fmt", "format", "prettier", "style", "vet"}}, {builds, []string{"build", "compile", "tsc", "type"}}} {
		for _, w := range k.words {
			if strings.Contains(name, w) {
				return k.about
			}
		}
	}
	return tests
}

// claimed is what a part of a sentence says is green, and the words for it.
func claimed(part string) (verified, string) {
	if doubtful().MatchString(part) {
		return 0, ""
	}
	if strings.Trim(part, " ✔✅✓.!") == "" {
		return anything, "✔"
	}
	if allOK().MatchString(part) {
		return anything, "all is green"
	}
	if m := markOK().FindStringSubmatch(part); m != nil {
		switch {
		case m[1] != "":
			return tests, "tests pass"
		case m[2] != "":
			return builds, "the build passes"
		case m[3] != "":
			return lints, "lint passes"
		}
		return anything, "all is green"
	}
	if allTests(part) {
		return tests, "tests pass"
	}
	if buildOK().MatchString(part) {
		return builds, "the build passes"
	}
	if lintOK().MatchString(part) {
		return lints, "lint passes"
	}
	return 0, ""
}

// allTests reports whether a part says that tests pass, and not only some of them.
func allTests(part string) bool {
	m := testsOK().FindStringSubmatchIndex(part)
	if m == nil || partly().MatchString(part[m[1]:]) {
		return false
	}
	if m[2] < 0 {
		return true
	}
	which := part[m[2]:m[3]]
	return generic()[which] || strings.Trim(which, "0123456789") == "" && strings.HasSuffix(part[:m[2]], "all ")
}

// admitsFailure reports whether the words tell of something that still fails.
func (s saying) admitsFailure() bool {
	for _, sentence := range s.sentences {
		for _, part := range cutAt(zero().ReplaceAllString(sentence, ""), ",;") {
			if failing().MatchString(part) && !repaired().MatchString(part) {
				return true
			}
		}
	}
	return false
}
