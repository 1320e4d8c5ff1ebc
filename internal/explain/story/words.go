package story

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// maxHeard is as much of a text as is listened to.
const maxHeard = 4 << 10

// saying is a text taken apart. All of it is in lower case.
type saying struct {
	text      string
	sentences []string
	clauses   [][]string // words of each part of a sentence
	words     []string
}

// hear takes a text apart. Quotes and the word "after" around a prompt are ours, and no
// part of it.
func hear(s string) saying {
	if len(s) > maxHeard {
		s = s[:maxHeard]
	}
	s = strings.NewReplacer("’", "'", "‘", "'", "“", "", "”", "", "\"", "", "`", "", "**", "").Replace(strings.ToLower(s))
	s = strings.TrimSpace(s)
	s = strings.TrimPrefix(s, "after ")
	h := saying{text: strings.Join(strings.Fields(s), " "), words: wordsOf(s)}
	for _, line := range strings.Split(s, "\n") {
		for _, sentence := range cutAt(strings.Join(strings.Fields(line), " "), ".!?;") {
			h.sentences = append(h.sentences, sentence)
			h.clauses = append(h.clauses, clauses(sentence)...)
		}
	}
	return h
}

// cutAt splits at the signs that end a part: those before a space or the end.
func cutAt(s, signs string) []string {
	var out []string
	from := 0
	for i := range len(s) {
		if strings.IndexByte(signs, s[i]) >= 0 && (i+1 == len(s) || s[i+1] == ' ') {
			out = append(out, s[from:i+1])
			from = i + 1
		}
	}
	out = append(out, s[from:])
	return slices.DeleteFunc(out, func(p string) bool { return len(wordsOf(p)) == 0 && !strings.ContainsAny(p, "✔✅✓") })
}

// clauses splits a sentence at commas, colons and the words that join.
func clauses(sentence string) [][]string {
	var out [][]string
	for _, part := range cutAt(sentence, ",:;") {
		var clause []string
		for _, w := range wordsOf(part) {
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

// wordsOf are the words of a text without the signs around them; the point of ".env" is a
// part of it.
func wordsOf(s string) []string {
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

// before reports whether the text speaks of what comes after the checkpoint.
func (s saying) before() bool { return len(s.words) > 0 && s.words[0] == "before" }

// has reports whether one of the words is in a lexicon; no lexicon holds none.
func (s saying) has(l lexicon) bool {
	if l == nil {
		return false
	}
	set := l()
	return slices.ContainsFunc(s.words, func(w string) bool { return set[w] })
}

// lexicon is a set of words. It is made when it is first asked: every event of an agent
// starts the program, and few of them tell a story.
type lexicon func() map[string]bool

// list makes a set of words.
func list(words string) lexicon {
	return sync.OnceValue(func() map[string]bool { return setOf(words) })
}

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// forms makes a set of verbs in the forms that people use.
func forms(verbs string) lexicon {
	return sync.OnceValue(func() map[string]bool { return formsOf(verbs) })
}

func formsOf(verbs string) map[string]bool {
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

// fillers stand before a verb and say nothing.
var fillers = list("please can could would you i we i've we've let's now just only have has had finally ok okay hey hi quickly carefully the a an to will i'll we'll it go ahead next first")

// strip leaves out what stands before the verb.
func strip(clause []string) []string {
	for len(clause) > 0 && fillers()[clause[0]] {
		clause = clause[1:]
	}
	return clause
}

// speaks are the words by which a saying speaks of a topic.
var speaks = map[topic]lexicon{
	aboutCode:     list("code codebase function functions method methods class classes api endpoint endpoints implementation implement implemented docstring docstrings jsdoc godoc javadoc tsdoc rustdoc comment comments inline openapi swagger types source example examples script scripts snippet snippets sdk cli annotate bug logic refactor refactored component components"),
	aboutSettings: list("config configs configuration configure configured settings setting option options yaml json toml ci workflow workflows pipeline docker dockerfile compose nginx deploy deployment tsconfig lint eslint .env env environment"),
	aboutKeys:     list("env .env environment secret secrets key keys variable variables vars credential credentials token tokens dotenv"),
	aboutPackages: list("package packages dependency dependencies deps install installed upgrade upgraded bump bumped npm yarn pnpm pip poetry cargo library libraries module modules requirement requirements"),
	aboutTables:   list("database databases db table tables schema schemas migration migrations migrate migrated sql column columns model models"),
}

// speaksOf reports whether the words touch a topic at all.
func (s saying) speaksOf(t topic) bool { return s.has(speaks[t]) }

// excuses reports whether the words name an offence, or speak of taking away when it is a
// loss.
func (s saying) excuses(o offence) bool {
	return o.topic == aboutLoss && s.takesAway() || s.names(o)
}

// names reports whether the words name what an offence is about.
func (s saying) names(o offence) bool {
	if s.speaksOf(o.topic) {
		return true
	}
	return slices.ContainsFunc(o.names, func(n string) bool { return len(n) > 2 && strings.Contains(s.text, n) })
}

// admits is names for the words of the agent; that it fixed something admits code.
func (s saying) admits(o offence) bool {
	return s.text != "" && (s.excuses(o) || o.topic == aboutCode && s.has(repairs))
}

var repairs = forms("fix implement refactor patch rewrite")

// taking are the words for taking away, and those for work in which things go by nature.
var taking lexicon = sync.OnceValue(func() map[string]bool {
	set := formsOf(`remove delete drop clean cleanup reset prune purge replace rewrite move rename migrate refactor uninstall undo revert restore rollback discard strip trim
		simplify consolidate merge split reorganize reorganise restructure tidy cut kill wipe eliminate deprecate retire switch swap convert upgrade clear empty rebase pull stash extract
		unify deduplicate dedupe substitute archive disable exclude revoke rotate redo overhaul modernize modernise streamline shrink reduce rework transition sync reinstall downgrade checkout squash erase destroy`)
	for w := range setOf(`rid gone removal deletion cleanup rewrote rewritten unused dead obsolete redundant duplicate duplicates instead scratch fresh leftover leftovers legacy stale branch git without minus
		entferne entfernen lösche löschen gelöscht ersetze ersetzen aufräumen supprime supprimer supprimez remplacer elimina eliminar borra borrar quita quitar rimuovi remover remove apagar excluir удали удалить verwijder usuń ta-bort`) {
		set[w] = true
	}
	return set
})

// takesAway reports whether the words speak of taking away at all.
func (s saying) takesAway() bool {
	return s.has(taking) || strings.Contains(s.text, "no longer") || strings.Contains(s.text, "check out") || strings.ContainsAny(s.text, "删移削삭除")
}

// acting are the verbs of doing something to files.
var acting lexicon = sync.OnceValue(func() map[string]bool {
	set := formsOf(`add fix update implement create change edit make build set use install bump introduce support allow enable show hide handle wire connect style polish document extend adjust tweak optimize optimise
		integrate configure translate redesign improve modify patch correct write generate apply format include expose log validate cache render test cover complete finish refine publish`)
	for w := range setOf("wrote written made built setup") {
		set[w] = true
	}
	return set
})

// acts reports whether a clause tells of something that is done.
func (s saying) acts() bool {
	return slices.ContainsFunc(s.clauses, func(c []string) bool {
		c = strip(c)
		return len(c) > 1 && acting()[c[0]]
	})
}

var doing = list(`changed fixed added updated edited removed deleted implemented refactored renamed moved created wrote modified replaced patched introduced adjusted corrected switched rewrote bumped upgraded installed
	formatted applied cleaned dropped migrated extended improved converted simplified extracted`)

// did reports whether the words tell of changes that were made.
func (s saying) did() bool {
	return slices.ContainsFunc(s.sentences, func(sentence string) bool {
		return !untouched(sentence) && slices.ContainsFunc(wordsOf(sentence), func(w string) bool { return doing()[w] })
	})
}
