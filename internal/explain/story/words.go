package story

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// maxStatementBytes is how much of a statement is examined.
const maxStatementBytes = 4 << 10

// statement is a text split into sentences, clauses and words, all in lower case.
type statement struct {
	text      string
	sentences []string
	clauses   [][]string // words of each part of a sentence
	words     []string
}

// parseStatement splits a text. Quotes and the word "after" around a prompt are added by
// Retake and are dropped.
func parseStatement(s string) statement {
	if len(s) > maxStatementBytes {
		s = s[:maxStatementBytes]
	}
	s = strings.NewReplacer("’", "'", "‘", "'", "“", "", "”", "", "\"", "", "`", "", "**", "").Replace(strings.ToLower(s))
	s = strings.TrimSpace(s)
	s = strings.TrimPrefix(s, "after ")
	h := statement{text: strings.Join(strings.Fields(s), " "), words: splitWords(s)}
	for _, line := range strings.Split(s, "\n") {
		for _, sentence := range splitAfter(strings.Join(strings.Fields(line), " "), ".!?;") {
			h.sentences = append(h.sentences, sentence)
			h.clauses = append(h.clauses, splitClauses(sentence)...)
		}
	}
	return h
}

// splitAfter splits a text after punctuation that is followed by a space or the end.
func splitAfter(s, signs string) []string {
	var out []string
	from := 0
	for i := range len(s) {
		if strings.IndexByte(signs, s[i]) >= 0 && (i+1 == len(s) || s[i+1] == ' ') {
			out = append(out, s[from:i+1])
			from = i + 1
		}
	}
	out = append(out, s[from:])
	return slices.DeleteFunc(out, func(p string) bool { return len(splitWords(p)) == 0 && !strings.ContainsAny(p, "✔✅✓") })
}

// splitClauses splits a sentence at commas, colons and conjunctions.
func splitClauses(sentence string) [][]string {
	var out [][]string
	for _, part := range splitAfter(sentence, ",:;") {
		var clause []string
		for _, w := range splitWords(part) {
			switch w {
			case "and", "then", "also", "plus", "but", "&", "while", "so":
				if len(clause) > 0 {
					out = append(out, clause)
				}
				clause = nil
			default:
				clause = append(clause, w)
			}
		}
		if len(clause) > 0 {
			out = append(out, clause)
		}
	}
	return out
}

// splitWords returns the words of a text without surrounding punctuation. The dot of ".env"
// is part of the word.
func splitWords(s string) []string {
	var out []string
	for w := range strings.FieldsSeq(s) {
		w = strings.TrimRight(w, ".,;:!?()[]{}'*_—–…")
		w = strings.TrimLeft(w, ",;:!?()[]{}'*_—–-")
		if strings.HasPrefix(w, "..") {
			w = strings.TrimLeft(w, ".")
		}
		if strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) || w == "&" {
			out = append(out, w)
		}
	}
	return out
}

// isAboutFuture reports whether the text describes what comes after the checkpoint.
func (s statement) isAboutFuture() bool { return len(s.words) > 0 && s.words[0] == "before" }

// containsAny reports whether one of the words is in the set. A nil set contains none.
func (s statement) containsAny(l wordSet) bool {
	if l == nil {
		return false
	}
	set := l()
	return slices.ContainsFunc(s.words, func(w string) bool { return set[w] })
}

// wordSet is a set of words, built on first use: the program starts for every event of an
// agent, and few of them need a story.
type wordSet func() map[string]bool

// newWordSet returns the set of the given words.
func newWordSet(words string) wordSet {
	return sync.OnceValue(func() map[string]bool { return parseWords(words) })
}

func parseWords(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// newVerbSet returns the set of the given verbs in their common forms.
func newVerbSet(verbs string) wordSet {
	return sync.OnceValue(func() map[string]bool { return verbForms(verbs) })
}

func verbForms(verbs string) map[string]bool {
	set := map[string]bool{}
	for v := range strings.FieldsSeq(verbs) {
		root := strings.TrimSuffix(v, "e")
		for _, f := range []string{v, v + "s", v + "es", v + "d", root + "ed", root + "ing", v + "ing"} {
			set[f] = true
		}
		end := v[len(v)-1:]
		set[v+end+"ed"], set[v+end+"ing"] = true, true
		if y, ok := strings.CutSuffix(v, "y"); ok {
			set[y+"ied"], set[y+"ies"] = true, true
		}
	}
	return set
}

// fillerWords may precede a verb and carry no meaning.
var fillerWords = newWordSet("please can could would you i we i've we've let's now just only have has had finally ok okay hey hi quickly carefully the a an to will i'll we'll it go ahead next first")

// trimFillers drops filler words at the beginning of a clause.
func trimFillers(clause []string) []string {
	for len(clause) > 0 && fillerWords()[clause[0]] {
		clause = clause[1:]
	}
	return clause
}

// topicWords are the words by which a statement mentions a topic.
var topicWords = map[changeTopic]wordSet{
	topicCode:     newWordSet("code codebase function functions method methods class classes api endpoint endpoints implementation implement implemented docstring docstrings jsdoc godoc javadoc tsdoc rustdoc comment comments inline openapi swagger types source example examples script scripts snippet snippets sdk cli annotate bug logic refactor refactored component components"),
	topicSettings: newWordSet("config configs configuration configure configured settings setting option options yaml json toml ci workflow workflows pipeline docker dockerfile compose nginx deploy deployment tsconfig lint eslint .env env environment"),
	topicKeys:     newWordSet("env .env environment secret secrets key keys variable variables vars credential credentials token tokens dotenv"),
	topicPackages: newWordSet("package packages dependency dependencies deps install installed upgrade upgraded bump bumped npm yarn pnpm pip poetry cargo library libraries module modules requirement requirements"),
	topicTables:   newWordSet("database databases db table tables schema schemas migration migrations migrate migrated sql column columns model models"),
}

// mentionsTopic reports whether the statement mentions a topic at all.
func (s statement) mentionsTopic(t changeTopic) bool { return s.containsAny(topicWords[t]) }

// excuses reports whether the statement mentions a change, or, for a loss, mentions any
// removal.
func (s statement) excuses(o notableChange) bool {
	return o.topic == topicLoss && s.mentionsRemoval() || s.mentionsChange(o)
}

// mentionsChange reports whether the statement mentions the topic or one of the names of a
// change.
func (s statement) mentionsChange(o notableChange) bool {
	if s.mentionsTopic(o.topic) {
		return true
	}
	return slices.ContainsFunc(o.mentions, func(n string) bool { return len(n) > 2 && strings.Contains(s.text, n) })
}

// admits is excuses for the agent's own text; mentioning a fix admits a change of code.
func (s statement) admits(o notableChange) bool {
	return s.text != "" && (s.excuses(o) || o.topic == topicCode && s.containsAny(repairVerbs))
}

var repairVerbs = newVerbSet("fix implement refactor patch rewrite")

// removalWords are words for removing something, and for work that usually removes
// something.
var removalWords wordSet = sync.OnceValue(func() map[string]bool {
	set := verbForms(`remove delete drop clean cleanup reset prune purge replace rewrite move rename migrate refactor uninstall undo revert restore rollback discard strip trim
		simplify consolidate merge split reorganize reorganise restructure tidy cut kill wipe eliminate deprecate retire switch swap convert upgrade clear empty rebase pull stash extract
		unify deduplicate dedupe substitute archive disable exclude revoke rotate redo overhaul modernize modernise streamline shrink reduce rework transition sync reinstall downgrade checkout squash erase destroy`)
	for w := range parseWords(`rid gone removal deletion cleanup rewrote rewritten unused dead obsolete redundant duplicate duplicates instead scratch fresh leftover leftovers legacy stale branch git without minus
		entferne entfernen lösche löschen gelöscht ersetze ersetzen aufräumen supprime supprimer supprimez remplacer elimina eliminar borra borrar quita quitar rimuovi remover remove apagar excluir удали удалить verwijder usuń ta-bort`) {
		set[w] = true
	}
	return set
})

// mentionsRemoval reports whether the statement mentions removing anything.
func (s statement) mentionsRemoval() bool {
	return s.containsAny(removalWords) || strings.Contains(s.text, "no longer") || strings.Contains(s.text, "check out") || strings.ContainsAny(s.text, "删移削삭除")
}

// actionVerbs are verbs of changing files.
var actionVerbs wordSet = sync.OnceValue(func() map[string]bool {
	set := verbForms(`add fix update implement create change edit make build set use install bump introduce support allow enable show hide handle wire connect style polish document extend adjust tweak optimize optimise
		integrate configure translate redesign improve modify patch correct write generate apply format include expose log validate cache render test cover complete finish refine publish`)
	for w := range parseWords("wrote written made built setup") {
		set[w] = true
	}
	return set
})

// describesAction reports whether a clause describes a change that is made.
func (s statement) describesAction() bool {
	return slices.ContainsFunc(s.clauses, func(c []string) bool {
		c = trimFillers(c)
		return len(c) > 1 && actionVerbs()[c[0]]
	})
}

var pastVerbs = newWordSet(`changed fixed added updated edited removed deleted implemented refactored renamed moved created wrote modified replaced patched introduced adjusted corrected switched rewrote bumped upgraded installed
	formatted applied cleaned dropped migrated extended improved converted simplified extracted`)

// reportsChanges reports whether the statement says that changes were made.
func (s statement) reportsChanges() bool {
	return slices.ContainsFunc(s.sentences, func(sentence string) bool {
		return !saysUnchanged(sentence) && slices.ContainsFunc(splitWords(sentence), func(w string) bool { return pastVerbs()[w] })
	})
}
