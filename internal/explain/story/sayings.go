package story

import (
	"regexp"
	"slices"
	"strings"

	"github.com/retake-dev/retake/internal/pure/pathclass"
	"github.com/retake-dev/retake/internal/pure/pattern"
)

// What words can say, as it is told in a flag.
const (
	sayDocs     = "docs"
	sayTypo     = "a typo"
	sayComments = "comments"
	sayFormat   = "formatting"
	sayRename   = "a rename"
	sayMove     = "a move"
)

// typoLines is as much as the repair of a typo may change.
const typoLines = 60

// longest is the most words of a text that says one thing and nothing else.
const longest = 40

var (
	docNouns  = list("doc docs documentation readme readme.md readmes changelog changelog.md contributing.md")
	docVerbs  = forms("update fix write improve add edit correct polish extend rewrite proofread tidy revise expand refresh translate reword tweak change finish create make complete review adjust modify clarify")
	tellVerbs = forms("explain describe mention clarify document reword proofread note")
	textNouns = list("typo typos wording grammar spelling link links mistake mistakes section sections sentence paragraph badge badges screenshot screenshots note notes line lines entry title heading headings chapter page pages paragraphs instructions")
	afterDocs = list("for about of in on to with only section sections file files folder that which typo typos again please wording links")
	between   = list("as in from per with to using by according based like for of on into via at see following so because until when where")
	conv      = pattern.Late(`^docs?(\([^)]*\))?!?: `)
	commented = pattern.Late(`\b(code|inline|doc) comments?\b|\bcomments? only\b|\bonly (the )?comments?\b|\bcomment typos?\b|\btypos? in (a|the|some|code)? ?comments?\b`)
)

// documents reports whether the words speak of documents alone, and whether those may be
// written inside code.
func (s saying) documents() (what string, inCode bool) {
	if len(s.words) == 0 || len(s.words) > longest {
		return "", false
	}
	inCode = s.speaksOf(aboutCode)
	if conv().MatchString(s.text) {
		return sayDocs, inCode
	}
	if commented().MatchString(s.text) && len(s.clauses) == 1 {
		return sayComments, true
	}
	for _, c := range s.clauses {
		switch c = strip(c); {
		case len(c) == 0:
		case docClause(c), docNouns()[c[0]] && len(c) <= 2:
			what = sayDocs
		case typoClause(c):
			if what == "" {
				what = sayTypo
			}
		case tellVerbs()[c[0]] && what == sayDocs:
		default:
			return "", false
		}
	}
	return what, inCode
}

// docClause knows a verb and the documents it is done to: "update the login docs". Where a
// word such as "in" or "as" stands between the two, the documents are only where something
// is told.
func docClause(c []string) bool {
	if !docVerbs()[c[0]] {
		return false
	}
	for i, w := range c[1:] {
		switch {
		case docNouns()[w] || strings.HasSuffix(w, ".md"):
			rest := c[i+2:]
			return len(rest) == 0 || afterDocs()[rest[0]]
		case between()[w] && !textNouns()[c[i]], i > 4:
			return false
		}
	}
	return false
}

func typoClause(c []string) bool {
	if c[0] != "fix" && c[0] != "fixes" && c[0] != "fixed" && c[0] != "correct" && c[0] != "corrected" && c[0] != "typo" && c[0] != "typos" {
		return false
	}
	for i, w := range c {
		if w == "typo" || w == "typos" {
			return i <= 4
		}
		if between()[w] {
			return false
		}
	}
	return false
}

var (
	formatted = pattern.Late(`^(please )?(just |only )?((run|ran|apply|applied) (prettier|gofmt|black|rustfmt|biome|clang-format|the (code )?formatter)|(re)?format(ted)? (the |all |all the )?(code|files?|everything|project|codebase|repo|sources?)|(sort|sorted|tidy|tidied|organi[sz]e|organi[sz]ed) (the )?imports|(fix|fixed) (the )?(formatting|indentation|whitespace)|(formatting|whitespace) only|only formatting)( (on|in|for|of|with|across) .*)?$`)
	renamed   = pattern.Late(`^(please )?(just |only )?renam(e|ed|es) (the |a )?(\S+ ){1,4}(to|into|→) \S+( everywhere)?$|^(only|just) (a )?renam(e|es|ed)\b[^,]*$|^(pure |only )?renam(e|es) only$`)
	moved     = pattern.Late(`^(please )?(just |only )?mov(e|ed|es) (the )?\S*[./]\S* (to|into|under) (the )?\S*[./]\S*$`)
)

// insistence is what agents say of a harmless turn, in any sentence of their last words.
var insistence = []struct {
	what string
	text func() *regexp.Regexp
	see  sight
}{
	{sayDocs, pattern.Late(`\b(documentation|docs?|readme) (changes )?only\b|\b(only|just|nothing but) (the )?(documentation|docs|readme) (was|were|is|has|have|changed)\b`), sight{settings: true, keys: true, packages: true, tables: true, code: true, beside: true, lost: true}},
	{sayComments, pattern.Late(`\b(only|just|nothing but) (a few |some |the |code )*comments?\b|\bcomments? only\b`), sight{settings: true, keys: true, packages: true, tables: true, lost: true}},
	{sayRename, pattern.Late(`\b(only|just|merely) (a )?renam(ed|es|e|ing)\b|\brenames? only\b`), sight{packages: true, keysNet: true, tablesNet: true, lostNet: true, pages: true}},
	{sayMove, pattern.Late(`\b(only|just|merely) mov(ed|es|e|ing)\b`), sight{packages: true, keysNet: true, tablesNet: true, lostNet: true, pages: true}},
	{sayFormat, pattern.Late(`\b(only|just|merely) (re)?format(ted|ting)\b|\bformatting only\b`), sight{values: true, keys: true, packages: true, tables: true, lost: true}},
}

// ending are the words that admit a loss beside the one harmless thing: renaming and
// moving do not.
var ending = forms("remove delete drop clean prune purge discard uninstall erase wipe clear")

// insists reports what the words say was the only thing that was done.
func (s saying) insists() (what string, see sight) {
	if len(s.words) > longest {
		return "", sight{}
	}
	for _, i := range insistence {
		if i.text().MatchString(s.text) {
			return i.what, i.see
		}
	}
	return "", sight{}
}

// form reports whether the words speak of nothing but form.
func (s saying) form() string {
	if len(s.words) == 0 || len(s.words) > longest || len(s.sentences) != 1 {
		return ""
	}
	text := strings.TrimRight(s.text, ".! ")
	switch {
	case formatted().MatchString(text):
		return sayFormat
	case len(s.clauses) > 1:
		return ""
	case renamed().MatchString(text):
		return sayRename
	case moved().MatchString(text):
		return sayMove
	}
	return ""
}

var (
	thing  = `(?P<x>[\w@.-]*/[\w@./-]*\w/?|[\w@-]+\.[a-z]{1,5}|docs|documentation|readme|tests|test files|config|configuration|settings|dependencies)`
	onlyTo = pattern.Late(`\b(?:only (?:touched|changed|edited|modified|updated|touches|changes)|(?:only|just) (?:touch|change|edit|modify|update)) (?:the )?(?:file )?` + thing + `(?: files?| directory| folder| file)?(?:$|[.;!?]| please$)`)
	toOnly = pattern.Late(`\b(?:touch|change|edit|modify|update|touched|changed|edited|modified|updated) only (?:the )?(?:file )?` + thing + `(?: files?| directory| folder| file)?(?:$|[.;!?])`)
	onlyX  = pattern.Late(`^(?:only|just) (?:the )?` + thing + `(?: files?)?$|^` + strings.Replace(thing, "?P<x>", "?P<y>", 1) + `[ -]only$`)
	kindOf = map[string]pathclass.Class{"docs": pathclass.Docs, "documentation": pathclass.Docs, "readme": pathclass.Docs, "tests": pathclass.Test, "test files": pathclass.Test, "config": pathclass.Settings, "configuration": pathclass.Settings, "settings": pathclass.Settings, "dependencies": pathclass.Manifest}
	beside = list("also then plus additionally too afterwards besides not unless except")
)

// only is what "only X" allows: a path, or a kind of file. Words that go on to something
// else say no such thing.
func (s saying) only() (what string, w within) {
	if len(s.words) > longest || s.has(beside) {
		return "", within{}
	}
	for _, re := range []*regexp.Regexp{onlyTo(), toOnly(), onlyX()} {
		m := re.FindStringSubmatch(strings.TrimSpace(s.text))
		if m == nil {
			continue
		}
		x := m[re.SubexpIndex("x")]
		if i := re.SubexpIndex("y"); x == "" && i >= 0 {
			x = m[i]
		}
		if s.otherPaths(x) {
			return "", within{}
		}
		if c, ok := kindOf[x]; ok {
			return x, within{class: c}
		}
		return x, within{path: x}
	}
	return "", within{}
}

// otherPaths reports whether the text names a path beside x.
func (s saying) otherPaths(x string) bool {
	return slices.ContainsFunc(s.words, func(w string) bool {
		return w != strings.TrimRight(x, "/") && w != x && pathLike().MatchString(w)
	})
}

var pathLike = pattern.Late(`^[\w@.-]*/[\w@./-]+$|^[\w@-]+\.(ts|tsx|js|jsx|go|py|rb|rs|java|md|json|yml|yaml|toml|css|html|php|c|h|cpp|cs|sql|sh|vue|env)$|^\.env`)
