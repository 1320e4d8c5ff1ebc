package story

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// Said is what people and agents said about a checkpoint.
type Said struct {
	Intent string
	Prompt string
	Words  string // the agent's last ones
	Manual bool   // a person asked for the checkpoint
}

// kindMismatch is the kind of the flags that are made here.
const kindMismatch = "mismatch"

// manyFiles is so much that somebody should have said something.
const manyFiles = 100

// manyLost is so much that a deletion should have been spoken of.
const manyLost = 10

// rules say when words and facts disagree. Each is plain: no model is asked. When in doubt
// none of them speaks, since a flag that is wrong once is not believed again.
//
//	passes     says that tests, the build or all is green; a verification of this
//	           checkpoint, run by us or by a person, failed. Hopes, conditions, requests,
//	           and claims about some of the tests do not count.
//	docs       says documents, a typo or comments and nothing else; settings, keys of
//	           .env files, packages that somebody asked for, tables or code changed. Code
//	           may change where the words can mean what is written inside it.
//	form       says it formats, renames or moves and nothing else; files of people were
//	           deleted, or keys, packages or tables changed that no rename explains.
//	only       says only X, X being a path or a kind of file; something else changed.
//	insists    the agent's own words say that it only renamed, moved, formatted,
//	           commented or documented, whatever was asked; as docs and form.
//	unchanged  says no changes, only looked, read only, or asks a question that is no
//	           request; code or settings changed, and the answer does not tell of it.
//	silence    says nothing, nobody asked for the checkpoint, and 100 or more files of code
//	           and settings changed.
//	loss       10 files of people, a key of a .env file or a table went and nothing came
//	           for it, and the words, which speak of something that was done, hold no word
//	           for taking away and do not name what went.
//
// What the agent's own words admit is no mismatch. Checkpoints in which only build output or
// files changed that always move, that restore something, that come before what is said,
// or in which several sessions worked, are never flagged.
var rules = []struct {
	name string
	find func(*inquiry) string
}{
	{"passes", passes},
	{"docs", docsOnly},
	{"form", formOnly},
	{"only", onlyThat},
	{"insists", insists},
	{"unchanged", unchanged},
	{"silence", silence},
	{"loss", loss},
}

// inquiry holds words and deeds against each other.
type inquiry struct {
	said    Said
	titles  []saying // intent and prompt: what was to be done
	words   saying   // what the agent says it did
	answers []retake.Answer
	deeds   deeds
}

// Mismatch tells where words and facts disagree, at most once for the same deed.
func Mismatch(said Said, st retake.Story, answers []retake.Answer) []retake.Flag {
	if exempt(st.From, st.To) {
		return nil
	}
	q := inquiry{said: said, words: hear(said.Words), answers: answers, deeds: done(st)}
	for _, s := range []string{said.Intent, said.Prompt} {
		if s := hear(s); s.text != "" && !s.before() {
			q.titles = append(q.titles, s)
		}
	}
	if st.Counts.Total() > 0 && !q.deeds.own {
		return nil
	}
	var flags []retake.Flag
	for _, r := range rules {
		if (r.name == "loss" || r.name == "insists") && len(flags) > 0 {
			continue // what is flagged already names what was done
		}
		if why := r.find(&q); why != "" {
			flags = append(flags, retake.Flag{Kind: kindMismatch, Why: why})
		}
	}
	return flags
}

// exempt are checkpoints whose changes are not what the words are about.
func exempt(from, to *retake.Checkpoint) bool {
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

// all are the sayings, those of the agent last.
func (q *inquiry) all() []saying {
	if q.words.text == "" {
		return q.titles
	}
	return append(append([]saying{}, q.titles...), q.words)
}

// silence is the rule for checkpoints of which nobody says anything.
func silence(q *inquiry) string {
	if q.said.Manual || len(q.titles) > 0 || q.said.Intent != "" || q.said.Prompt != "" || len(q.words.words) > 2 {
		return ""
	}
	if n := q.deeds.people(); n >= manyFiles {
		return "says nothing, changed " + count(n)
	}
	return ""
}

// docsOnly is the rule for words that speak of documents alone.
func docsOnly(q *inquiry) string {
	inCode := false
	what, excuses := q.unanimous(func(s saying) string {
		w, in := s.documents()
		inCode = inCode || in
		return w
	})
	if what == "" {
		return ""
	}
	see := sight{settings: true, keys: true, packages: true, tables: true, code: !inCode, beside: true, lost: true}
	if what == sayTypo && q.deeds.lines <= typoLines && q.deeds.codeLost == 0 {
		see.settings, see.code, see.lost = false, false, false
	}
	return q.told(what, q.unadmitted(q.deeds.offences(see), excuses))
}

// formOnly is the rule for words that speak of form alone. That they speak of moving or
// renaming excuses no loss.
func formOnly(q *inquiry) string {
	what, _ := q.unanimous(saying.form)
	var list []offence
	switch what {
	case "":
		return ""
	case sayFormat:
		list = dropTools(q.deeds.offences(sight{values: true, keys: true, packages: true, tables: true, lost: true}))
	default:
		list = q.deeds.offences(sight{packages: true, keysNet: true, tablesNet: true, lostNet: true})
	}
	return q.told(what, q.unadmitted(list, func(o offence) bool {
		return slices.ContainsFunc(q.spoken(), func(s saying) bool { return s.names(o) })
	}))
}

// spoken are the sayings that tell what was to be done; the agent's words, when there are no
// others.
func (q *inquiry) spoken() []saying {
	if len(q.titles) == 0 && q.words.text != "" {
		return []saying{q.words}
	}
	return q.titles
}

// unanimous is what all sayings say, in the words of the first; empty when one of them says
// something else. With it comes what they excuse.
func (q *inquiry) unanimous(says func(saying) string) (what string, excuses func(offence) bool) {
	list := q.spoken()
	for _, s := range list {
		w := says(s)
		if w == "" {
			return "", nil
		}
		if what == "" {
			what = w
		}
	}
	return what, func(o offence) bool {
		return slices.ContainsFunc(list, func(s saying) bool { return s.excuses(o) })
	}
}

// told is the reason of a flag, or empty without an offence.
func (q *inquiry) told(what string, list []offence) string {
	if len(list) == 0 {
		return ""
	}
	return "says " + what + ", " + tellOffences(list)
}

// onlyThat is the rule for "only X".
func onlyThat(q *inquiry) string {
	for _, s := range q.all() {
		what, within := s.only()
		if what == "" {
			continue
		}
		if why := q.told("only "+what, q.unadmitted(q.deeds.beyond(within), s.excuses)); why != "" {
			return why
		}
	}
	return ""
}

// insists is the rule for an agent that says that it did only one harmless thing.
func insists(q *inquiry) string {
	what, see := q.words.insists()
	if what == "" {
		return ""
	}
	var left []offence
	for _, o := range q.deeds.offences(see) {
		if !q.words.names(o) && (o.topic != aboutLoss || !q.words.has(ending)) {
			left = append(left, o)
		}
	}
	return q.told("only "+what, left)
}

// unchanged is the rule for words that say that nothing changed, or ask for nothing.
func unchanged(q *inquiry) string {
	if any := q.deeds.any(); len(any) > 0 {
		if q.words.nothing() && !q.words.did() {
			return "says no changes, " + tellOffences(any)
		}
		for _, s := range q.titles {
			if s.nothing() && !q.words.did() && !slices.ContainsFunc(q.titles, func(s saying) bool { return s.acts() || s.did() }) {
				return "says no changes, " + tellOffences(any)
			}
		}
	}
	list := q.deeds.offences(sight{settings: true, keys: true, code: true, lost: true})
	if len(list) > 0 && len(q.titles) > 0 && !q.words.did() && !slices.ContainsFunc(q.titles, func(s saying) bool { return !s.question() }) {
		return "asks a question, " + tellOffences(list)
	}
	return ""
}

// loss is the rule for what went without a word.
func loss(q *inquiry) string {
	spoke := false
	for _, s := range q.all() {
		if s.takesAway() {
			return ""
		}
		spoke = spoke || s.acts()
	}
	if !spoke {
		return ""
	}
	var left []offence
	for _, o := range q.deeds.losses() {
		named := false
		for _, s := range q.all() {
			named = named || s.names(o)
		}
		if !named {
			left = append(left, o)
		}
	}
	if len(left) == 0 {
		return ""
	}
	return "not asked for: " + tellOffences(left)
}

// unadmitted are the offences that the agent's words do not tell of, and that the saying
// itself does not excuse.
func (q *inquiry) unadmitted(list []offence, excuses func(offence) bool) []offence {
	var left []offence
	for _, o := range list {
		if !q.words.admits(o) && !excuses(o) {
			left = append(left, o)
		}
	}
	return left
}

// tellOffences joins what was done: "changed settings and .env −KEY".
func tellOffences(list []offence) string {
	var lost, changed []string
	for _, o := range list {
		if o.lost {
			lost = append(lost, o.text)
		} else {
			changed = append(changed, o.text)
		}
	}
	var parts []string
	if len(lost) > 0 {
		parts = append(parts, "deleted "+join(lost))
	}
	if len(changed) > 0 {
		parts = append(parts, "changed "+join(changed))
	}
	return strings.Join(parts, ", ")
}

func join(list []string) string {
	if len(list) > 3 {
		list = append(append([]string{}, list[:2]...), "more")
	}
	if len(list) == 1 {
		return list[0]
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
