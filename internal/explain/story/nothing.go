package story

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake/internal/pure/pattern"
)

var (
	anyFilePattern    = `(?:anything|a thing|any files?|files|any of the files)`
	noChangePattern   = pattern.Lazy(`^(?:there (?:were|are|was) )?no (?:file )?(?:changes|edits|modifications)(?: (?:were|was|are|have been))?(?: (?:made|needed|required|necessary))?(?: (?:to|in) (?:any |the |your )?(?:files?|code|codebase|repo|repository|workspace|project))?(?: yet| so far| at all| please)?$`)
	notTouchedPattern = pattern.Lazy(`^(?:nothing|no files?)(?: (?:was|were|has been|have been))? (?:changed|edited|modified|touched)(?: yet| so far| at all)?$`)
	didNotPattern     = pattern.Lazy(`^(?:i |we )?(?:did not|didn't|have not|haven't|do not|don't|dont|never) (?:change|edit|touch|modify|changed|edited|touched|modified|write)(?: to)? ` + anyFilePattern + `(?: yet| please)?$`)
	lookedPattern     = pattern.Lazy(`^(?:please |i |we |i've |this was )*(?:only|just) (?:looked|look|looking|read|reading|inspected|inspect|investigated|analy[sz]ed)(?: (?:at|around|into|through|over|the)\b.*)?$`)
	readOnlyPattern   = pattern.Lazy(`^(?:this is |this was |it's |stay |keep it |strictly )?read[- ]only(?: (?:please|review|analysis|investigation|look|question))?$`)
	withoutPattern    = pattern.Lazy(`\bwithout (?:changing|editing|touching|modifying) ` + anyFilePattern + `$`)
)

// saysUnchanged reports whether a sentence says that nothing was changed, or that nothing
// may be.
func saysUnchanged(sentence string) bool {
	s := strings.TrimRight(strings.TrimSpace(sentence), ".!?; ")
	return noChangePattern().MatchString(s) || notTouchedPattern().MatchString(s) || clauseSaysUnchanged(s)
}

// clauseSaysUnchanged is saysUnchanged for a clause. "No changes" in front of something
// else may be about that, so it does not count here.
func clauseSaysUnchanged(part string) bool {
	s := strings.TrimRight(strings.TrimSpace(part), ".!?; ,:")
	return didNotPattern().MatchString(s) || lookedPattern().MatchString(s) || readOnlyPattern().MatchString(s) || withoutPattern().MatchString(s)
}

// saysNothingChanged reports whether the statement says that nothing changed and describes
// no other action. One clause is enough: "please look at it, do not change anything".
func (s statement) saysNothingChanged() bool {
	said := slices.ContainsFunc(s.sentences, func(sentence string) bool {
		return saysUnchanged(sentence) || slices.ContainsFunc(splitAfter(sentence, ",;"), clauseSaysUnchanged)
	})
	return said && !s.describesAction()
}

var (
	questionWords  = newWordSet("what where which who when how is are does do did has have was were explain")
	requestWords   = newWordSet("can could would will should shall please fix add change update make remove implement write create build install use rename move refactor try need want help let's let do it how's suggest idea better improve delete replace run deploy start configure check test verify review")
	troublePattern = pattern.Lazy(`\b(fail\w*|broken|break\w*|errors?|crash\w*|wrong|slow|bugs?|issues?|problems?|missing|red|works?|working|not|\w+n't|warnings?|stuck|leak\w*|why|ready|done|finished|complete|correct|right|safe|secure|good|ok|best|possible|able)\b`)
	wishPattern    = pattern.Lazy(`^(how (do|can|could|should|would) (i|we|you)|what if|what about|how about|is it possible|do we|do you|are you|have you|is there (a|any) way)\b`)
)

// isPlainQuestion reports whether the text asks for an answer and for nothing else. A
// question about something that does not work is a request.
func (s statement) isPlainQuestion() bool {
	if !strings.HasSuffix(s.text, "?") || len(s.words) < 3 || len(s.words) > maxClaimWords || len(s.sentences) != 1 || !questionWords()[s.words[0]] {
		return false
	}
	if troublePattern().MatchString(s.text) || wishPattern().MatchString(s.text) {
		return false
	}
	return !slices.ContainsFunc(s.words[1:], func(w string) bool { return requestWords()[w] && w != "do" && w != "use" && w != "it" })
}
