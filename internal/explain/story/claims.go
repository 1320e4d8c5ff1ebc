package story

import (
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pattern"
)

var (
	greenPattern   = `(?:all )?(?:now |still |again )?(?:pass|passes|passed|passing|are passing|is passing|are green|is green|green|succeed|succeeds|succeeded|are all passing|are all green)\b`
	testsOK        = pattern.Lazy(`(?:^|\b([\w'-]+) )(?:test suite|suite|tests?|specs|tests and lint) ` + greenPattern)
	allOK          = pattern.Lazy(`\ball green(?: now| again| locally)?[.! ]*$|\beverything (?:is |now )*(?:passes|passing|green)(?: now| again)?[.! ]*$|\ball (?:ci |the |of the )?checks (?:now |still )?(?:pass|passed|passing|are passing|are green|succeed)\b`)
	buildOK        = pattern.Lazy(`\bbuilds? (?:now |still )?(?:passes|pass|passed|succeeds|succeeded|is green|is passing|is clean|green)\b|\bcompiles (?:cleanly|without errors)\b`)
	lintOK         = pattern.Lazy(`\b(?:lint|linter|linting|eslint) (?:now |still )?(?:passes|passed|passing|is clean|clean|is green|green)\b`)
	checkMarkOK    = pattern.Lazy(`[✔✅✓]\s*(?:all |the )?(?:(tests?|test suite|suite|specs)|(builds?)|(lint)|(all green|everything green|checks))(?: (?:pass\w*|green|ok|succeed\w*))?[.! ]*(?:$|[✔✅✓])`)
	partialScope   = pattern.Lazy(`^ (?:for|in|of|on|under|within|against) \D`)
	doubtPattern   = pattern.Lazy(`\b(?:if|when|once|until|unless|should|would|could|must|may|might|make|makes|making|ensure|ensures|get|gets|let|want|wants|need|needs|whether|verify|check that|before|except|not|never|cannot|most|almost|some|expect|expected|hopefully|think|believe|assume|probably|likely|previously|earlier|will|todo|please|sure|confirm)\b|\w+n't\b|\?`)
	noFailures     = pattern.Lazy(`\b(?:0|no|zero|without|none) (?:tests? )?(?:fail\w*|errors?)\b`)
	failurePattern = pattern.Lazy(`\b(?:fails|failed|failing|fail|failures?|do not pass|does not pass|not passing|red|broken)\b|\b(?:don't|doesn't) pass\b`)
	repairPattern  = pattern.Lazy(`\b(?:fix\w*|resolv\w*|no longer|was|were|had|previous\w*|before|used to|repair\w*|address\w*|the failing)\b`)
)

// genericTestWords are words before "tests" that do not narrow them down.
var genericTestWords = newWordSet("the all our my your every full whole entire existing and now that both these those with are test complete")

// claimTopic is what a claim of success is about.
type claimTopic int

const (
	claimTests claimTopic = iota
	claimBuilds
	claimLints
	claimAnything
)

// passesRule flags a claim of success where a verification failed.
func passesRule(q *mismatchCheck) string {
	failed := map[claimTopic]string{}
	for _, a := range q.answers {
		if a.Verdict == retake.Failed && !a.Claim {
			for _, v := range []claimTopic{claimTopicOf(a.Name), claimAnything} {
				if failed[v] == "" {
					failed[v] = a.Name
				}
			}
		}
	}
	if len(failed) == 0 {
		return ""
	}
	for _, s := range []statement{q.agentText, parseStatement(q.statements.Intent)} {
		if s.text == "" || s.isAboutFuture() || s.admitsFailure() {
			continue
		}
		for _, sentence := range s.sentences {
			for _, part := range splitAfter(noFailures().ReplaceAllString(sentence, ""), ",;") {
				if v, what := parseClaim(part); what != "" && failed[v] != "" {
					return "says " + what + ", " + failed[v] + " failed"
				}
			}
		}
	}
	return ""
}

// claimTopicOf returns what a verification checks, judging by its name.
func claimTopicOf(name string) claimTopic {
	name = strings.ToLower(name)
	for _, k := range []struct {
		about claimTopic
		words []string
	}{{claimLints, []string{"lint", "fmt", "format", "prettier", "style", "vet"}}, {claimBuilds, []string{"build", "compile", "tsc", "type"}}} {
		for _, w := range k.words {
			if strings.Contains(name, w) {
				return k.about
			}
		}
	}
	return claimTests
}

// parseClaim returns what a part of a sentence claims is passing, and the words for it; ""
// if it claims nothing.
func parseClaim(part string) (claimTopic, string) {
	if doubtPattern().MatchString(part) {
		return 0, ""
	}
	if strings.Trim(part, " ✔✅✓.!") == "" {
		return claimAnything, "✔"
	}
	if allOK().MatchString(part) {
		return claimAnything, "all is green"
	}
	if m := checkMarkOK().FindStringSubmatch(part); m != nil {
		switch {
		case m[1] != "":
			return claimTests, "tests pass"
		case m[2] != "":
			return claimBuilds, "the build passes"
		case m[3] != "":
			return claimLints, "lint passes"
		}
		return claimAnything, "all is green"
	}
	if claimsAllTests(part) {
		return claimTests, "tests pass"
	}
	if buildOK().MatchString(part) {
		return claimBuilds, "the build passes"
	}
	if lintOK().MatchString(part) {
		return claimLints, "lint passes"
	}
	return 0, ""
}

// claimsAllTests reports whether a part says that tests pass, and does not mean only some
// of them.
func claimsAllTests(part string) bool {
	m := testsOK().FindStringSubmatchIndex(part)
	if m == nil || partialScope().MatchString(part[m[1]:]) {
		return false
	}
	if m[2] < 0 {
		return true
	}
	which := part[m[2]:m[3]]
	return genericTestWords()[which] || strings.Trim(which, "0123456789") == "" && strings.HasSuffix(part[:m[2]], "all ")
}

// admitsFailure reports whether the statement mentions something that still fails.
func (s statement) admitsFailure() bool {
	for _, sentence := range s.sentences {
		for _, part := range splitAfter(noFailures().ReplaceAllString(sentence, ""), ",;") {
			if failurePattern().MatchString(part) && !repairPattern().MatchString(part) {
				return true
			}
		}
	}
	return false
}
