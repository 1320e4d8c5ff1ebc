package story

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// Statements is what people and agents said about a checkpoint.
type Statements struct {
	Intent       string
	Prompt       string
	FinalMessage string // the agent's last ones
	Manual       bool   // a person asked for the checkpoint
}

// kindMismatch is the kind of the flags that FindMismatches returns.
const kindMismatch = "mismatch"

// manyFiles is how many changed files need at least some statement.
const manyFiles = 100

// manyLost is how many deleted files need to be mentioned.
const manyLost = 10

// mismatchRules decide when statements and facts disagree. They are plain rules without a
// model. When in doubt a rule stays silent: after one wrong flag people ignore the others.
//
//	passes     claims that tests, the build or everything passes; a verification of this
//	           checkpoint, run by Retake or by a person, failed. Hopes, conditions,
//	           requests, and claims about some of the tests do not count.
//	docs       mentions documents, a typo or comments and nothing else; settings, .env
//	           keys, directly requested packages, tables or code changed. Code may change
//	           if the statement can mean text inside it.
//	form       mentions formatting, renaming or moving and nothing else; user files were
//	           deleted, or keys, packages or tables changed that no rename explains.
//	only       says "only X", X being a path or a kind of file; something else changed.
//	insists    the agent's own text says that it only renamed, moved, formatted, commented
//	           or documented, whatever was asked; then as docs and form.
//	unchanged  says that nothing changed, or asks a question that is not a request; code or
//	           settings changed, and the agent's text does not mention it.
//	silence    there is no statement, nobody asked for the checkpoint, and 100 or more files
//	           of code and settings changed.
//	loss       10 user files, an .env key or a table were deleted and nothing replaced them;
//	           the statements describe some action, but mention neither a removal nor what
//	           was deleted.
//
// What the agent's own text admits is not a mismatch. A checkpoint is never flagged if only
// build output or constantly changing files changed, if it is a restore, if it comes before
// what the statements describe, or if several sessions worked at once.
var mismatchRules = []struct {
	name string
	find func(*mismatchCheck) string
}{
	{"passes", passesRule},
	{"docs", docsRule},
	{"form", formRule},
	{"only", onlyRule},
	{"insists", insistsRule},
	{"unchanged", unchangedRule},
	{"silence", silenceRule},
	{"loss", lossRule},
}

// mismatchCheck compares statements with changes.
type mismatchCheck struct {
	statements Statements
	requests   []statement // intent and prompt: what was to be done
	agentText  statement   // the agent's final message
	answers    []retake.Answer
	changes    changeSummary
}

// FindMismatches returns where statements and facts disagree, at most once for the same
// change.
func FindMismatches(said Statements, st retake.Story, answers []retake.Answer) []retake.Flag {
	if isExempt(st.From, st.To) {
		return nil
	}
	q := mismatchCheck{statements: said, agentText: parseStatement(said.FinalMessage), answers: answers, changes: summarizeChanges(st)}
	for _, s := range []string{said.Intent, said.Prompt} {
		if s := parseStatement(s); s.text != "" && !s.isAboutFuture() {
			q.requests = append(q.requests, s)
		}
	}
	if st.Counts.Total() > 0 && !q.changes.hasUserChanges {
		return nil
	}
	var flags []retake.Flag
	for _, r := range mismatchRules {
		if (r.name == "loss" || r.name == "insists") && len(flags) > 0 {
			continue // what is flagged already names what was done
		}
		if why := r.find(&q); why != "" {
			flags = append(flags, retake.Flag{Kind: kindMismatch, Why: why})
		}
	}
	return flags
}

// isExempt reports whether the changes of a checkpoint are not what the statements are
// about.
func isExempt(from, to *retake.Checkpoint) bool {
	switch {
	case to == nil:
		return false
	case from == nil, to.Return != nil, to.Turn != nil && len(to.Turn.Contested) > 0:
		return true
	}
	switch to.Trigger {
	case retake.TriggerInit, retake.TriggerComplete, retake.TriggerSafety, retake.TriggerReturn, retake.TriggerFork, retake.TriggerPrompt, retake.TriggerRisk, retake.TriggerQuiet:
		return true
	case retake.TriggerManual, retake.TriggerTurn, retake.TriggerTask, retake.TriggerCall, retake.TriggerSession:
		return false
	}
	return false
}

// allStatements returns all statements, the one of the agent last.
func (q *mismatchCheck) allStatements() []statement {
	if q.agentText.text == "" {
		return q.requests
	}
	return append(append([]statement{}, q.requests...), q.agentText)
}

// silenceRule flags large changes that no statement accompanies.
func silenceRule(q *mismatchCheck) string {
	if q.statements.Manual || len(q.requests) > 0 || q.statements.Intent != "" || q.statements.Prompt != "" || len(q.agentText.words) > 2 {
		return ""
	}
	if n := q.changes.userFileCount(); n >= manyFiles {
		return "says nothing, changed " + fileCountText(n)
	}
	return ""
}

// docsRule flags statements that mention only documents.
func docsRule(q *mismatchCheck) string {
	inCode := false
	what, excuses := q.commonClaim(func(s statement) string {
		w, in := s.docsClaim()
		inCode = inCode || in
		return w
	})
	if what == "" {
		return ""
	}
	see := changeFilter{settings: true, keys: true, packages: true, tables: true, code: !inCode, skipSiteCode: true, lost: true}
	if what == claimedTypo && q.changes.codeLines <= maxTypoLines && q.changes.codeFilesDeleted == 0 {
		see.settings, see.code, see.lost = false, false, false
	}
	return q.flagReason(what, q.unadmittedChanges(q.changes.notableChanges(see), excuses))
}

// formRule flags statements that mention only formatting, renaming or moving. Mentioning a
// move does not excuse a loss.
func formRule(q *mismatchCheck) string {
	what, _ := q.commonClaim(statement.formClaim)
	var list []notableChange
	switch what {
	case "":
		return ""
	case claimedFormat:
		list = withoutFormatters(q.changes.notableChanges(changeFilter{values: true, keys: true, packages: true, tables: true, lost: true}))
	default:
		list = q.changes.notableChanges(changeFilter{packages: true, keysNet: true, tablesNet: true, lostNet: true})
	}
	return q.flagReason(what, q.unadmittedChanges(list, func(o notableChange) bool {
		return slices.ContainsFunc(q.primaryStatements(), func(s statement) bool { return s.mentionsChange(o) })
	}))
}

// primaryStatements returns the requests, or the agent's text if there are none.
func (q *mismatchCheck) primaryStatements() []statement {
	if len(q.requests) == 0 && q.agentText.text != "" {
		return []statement{q.agentText}
	}
	return q.requests
}

// commonClaim returns what all primary statements claim, in the words of the first, or ""
// if one claims something else. The returned function reports which changes the statements
// excuse.
func (q *mismatchCheck) commonClaim(says func(statement) string) (what string, excuses func(notableChange) bool) {
	list := q.primaryStatements()
	for _, s := range list {
		w := says(s)
		if w == "" {
			return "", nil
		}
		if what == "" {
			what = w
		}
	}
	return what, func(o notableChange) bool {
		return slices.ContainsFunc(list, func(s statement) bool { return s.excuses(o) })
	}
}

// flagReason returns the reason of a flag, or "" if there is no change to flag.
func (q *mismatchCheck) flagReason(what string, list []notableChange) string {
	if len(list) == 0 {
		return ""
	}
	return "says " + what + ", " + describeChanges(list)
}

// onlyRule flags statements of the form "only X".
func onlyRule(q *mismatchCheck) string {
	for _, s := range q.allStatements() {
		what, within := s.onlyScope()
		if what == "" {
			continue
		}
		if why := q.flagReason("only "+what, q.unadmittedChanges(q.changes.changesOutside(within), s.excuses)); why != "" {
			return why
		}
	}
	return ""
}

// insistsRule flags an agent that claims to have done only one harmless thing.
func insistsRule(q *mismatchCheck) string {
	what, see := q.agentText.onlyClaim()
	if what == "" {
		return ""
	}
	var left []notableChange
	for _, o := range q.changes.notableChanges(see) {
		if !q.agentText.mentionsChange(o) && (o.topic != topicLoss || !q.agentText.containsAny(removalVerbs)) {
			left = append(left, o)
		}
	}
	return q.flagReason("only "+what, left)
}

// unchangedRule flags statements that say that nothing changed, or that only ask a
// question.
func unchangedRule(q *mismatchCheck) string {
	if any := q.changes.allUserChanges(); len(any) > 0 {
		if q.agentText.saysNothingChanged() && !q.agentText.reportsChanges() {
			return "says no changes, " + describeChanges(any)
		}
		for _, s := range q.requests {
			if s.saysNothingChanged() && !q.agentText.reportsChanges() && !slices.ContainsFunc(q.requests, func(s statement) bool { return s.describesAction() || s.reportsChanges() }) {
				return "says no changes, " + describeChanges(any)
			}
		}
	}
	list := q.changes.notableChanges(changeFilter{settings: true, keys: true, code: true, lost: true})
	if len(list) > 0 && len(q.requests) > 0 && !q.agentText.reportsChanges() && !slices.ContainsFunc(q.requests, func(s statement) bool { return !s.isPlainQuestion() }) {
		return "asks a question, " + describeChanges(list)
	}
	return ""
}

// lossRule flags losses that no statement mentions.
func lossRule(q *mismatchCheck) string {
	spoke := false
	for _, s := range q.allStatements() {
		if s.mentionsRemoval() {
			return ""
		}
		spoke = spoke || s.describesAction()
	}
	if !spoke {
		return ""
	}
	var left []notableChange
	for _, o := range q.changes.significantLosses() {
		named := false
		for _, s := range q.allStatements() {
			named = named || s.mentionsChange(o)
		}
		if !named {
			left = append(left, o)
		}
	}
	if len(left) == 0 {
		return ""
	}
	return "not asked for: " + describeChanges(left)
}

// unadmittedChanges returns the changes that neither the agent's text admits nor the
// statement itself excuses.
func (q *mismatchCheck) unadmittedChanges(list []notableChange, excuses func(notableChange) bool) []notableChange {
	var left []notableChange
	for _, o := range list {
		if !q.agentText.admits(o) && !excuses(o) {
			left = append(left, o)
		}
	}
	return left
}

// describeChanges joins changes into one text: "changed settings and .env −KEY".
func describeChanges(list []notableChange) string {
	var lost, changed []string
	for _, o := range list {
		if o.isLoss {
			lost = append(lost, o.text)
		} else {
			changed = append(changed, o.text)
		}
	}
	var parts []string
	if len(lost) > 0 {
		parts = append(parts, "deleted "+joinNames(lost))
	}
	if len(changed) > 0 {
		parts = append(parts, "changed "+joinNames(changed))
	}
	return strings.Join(parts, ", ")
}

func joinNames(list []string) string {
	if len(list) > 3 {
		list = append(append([]string{}, list[:2]...), "more")
	}
	if len(list) == 1 {
		return list[0]
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
