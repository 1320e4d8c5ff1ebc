package story

import (
	"regexp"
	"slices"
	"strings"

	"github.com/retake-dev/retake/internal/pure/pathclass"
	"github.com/retake-dev/retake/internal/pure/pattern"
)

// What a statement can claim, as flags show it.
const (
	claimedDocs     = "docs"
	claimedTypo     = "a typo"
	claimedComments = "comments"
	claimedFormat   = "formatting"
	claimedRename   = "a rename"
	claimedMove     = "a move"
)

// maxTypoLines is how many lines the repair of a typo may change.
const maxTypoLines = 60

// maxClaimWords is the most words of a statement that claims one thing and nothing else.
const maxClaimWords = 40

var (
	docNouns         = newWordSet("doc docs documentation readme readme.md readmes changelog changelog.md contributing.md")
	docVerbs         = newVerbSet("update fix write improve add edit correct polish extend rewrite proofread tidy revise expand refresh translate reword tweak change finish create make complete review adjust modify clarify")
	explainVerbs     = newVerbSet("explain describe mention clarify document reword proofread note")
	textNouns        = newWordSet("typo typos wording grammar spelling link links mistake mistakes section sections sentence paragraph badge badges screenshot screenshots note notes line lines entry title heading headings chapter page pages paragraphs instructions")
	wordsAfterDocs   = newWordSet("for about of in on to with only section sections file files folder that which typo typos again please wording links")
	separatingWords  = newWordSet("as in from per with to using by according based like for of on into via at see following so because until when where")
	conventionalDocs = pattern.Lazy(`^docs?(\([^)]*\))?!?: `)
	commentsPattern  = pattern.Lazy(`\b(code|inline|doc) comments?\b|\bcomments? only\b|\bonly (the )?comments?\b|\bcomment typos?\b|\btypos? in (a|the|some|code)? ?comments?\b`)
)

// docsClaim returns the claim of a statement that mentions documents and nothing else, else
// "". inCode reports whether these may be written inside code.
func (s statement) docsClaim() (what string, inCode bool) {
	if len(s.words) == 0 || len(s.words) > maxClaimWords {
		return "", false
	}
	inCode = s.mentionsTopic(topicCode)
	if conventionalDocs().MatchString(s.text) {
		return claimedDocs, inCode
	}
	if commentsPattern().MatchString(s.text) && len(s.clauses) == 1 {
		return claimedComments, true
	}
	for _, c := range s.clauses {
		switch c = trimFillers(c); {
		case len(c) == 0:
		case isDocsClause(c), docNouns()[c[0]] && len(c) <= 2:
			what = claimedDocs
		case isTypoClause(c):
			if what == "" {
				what = claimedTypo
			}
		case explainVerbs()[c[0]] && what == claimedDocs:
		default:
			return "", false
		}
	}
	return what, inCode
}

// isDocsClause recognizes a verb and the documents it applies to: "update the login docs".
// If a word such as "in" or "as" separates the two, the documents are only where something
// is described.
func isDocsClause(c []string) bool {
	if !docVerbs()[c[0]] {
		return false
	}
	for i, w := range c[1:] {
		switch {
		case docNouns()[w] || strings.HasSuffix(w, ".md"):
			rest := c[i+2:]
			return len(rest) == 0 || wordsAfterDocs()[rest[0]]
		case separatingWords()[w] && !textNouns()[c[i]], i > 4:
			return false
		}
	}
	return false
}

// isTypoClause recognizes a clause about fixing a typo.
func isTypoClause(c []string) bool {
	if c[0] != "fix" && c[0] != "fixes" && c[0] != "fixed" && c[0] != "correct" && c[0] != "corrected" && c[0] != "typo" && c[0] != "typos" {
		return false
	}
	for i, w := range c {
		if w == "typo" || w == "typos" {
			return i <= 4
		}
		if separatingWords()[w] {
			return false
		}
	}
	return false
}

var (
	formatPattern = pattern.Lazy(`^(please )?(just |only )?((run|ran|apply|applied) (prettier|gofmt|black|rustfmt|biome|clang-format|the (code )?formatter)|(re)?format(ted)? (the |all |all the )?(code|files?|everything|project|codebase|repo|sources?)|(sort|sorted|tidy|tidied|organi[sz]e|organi[sz]ed) (the )?imports|(fix|fixed) (the )?(formatting|indentation|whitespace)|(formatting|whitespace) only|only formatting)( (on|in|for|of|with|across) .*)?$`)
	renamePattern = pattern.Lazy(`^(please )?(just |only )?renam(e|ed|es) (the |a )?(\S+ ){1,4}(to|into|→) \S+( everywhere)?$|^(only|just) (a )?renam(e|es|ed)\b[^,]*$|^(pure |only )?renam(e|es) only$`)
	movePattern   = pattern.Lazy(`^(please )?(just |only )?mov(e|ed|es) (the )?\S*[./]\S* (to|into|under) (the )?\S*[./]\S*$`)
)

// onlyClaims is what agents say of a harmless turn, in any sentence of their final message.
var onlyClaims = []struct {
	what string
	text func() *regexp.Regexp
	see  changeFilter
}{
	{claimedDocs, pattern.Lazy(`\b(documentation|docs?|readme) (changes )?only\b|\b(only|just|nothing but) (the )?(documentation|docs|readme) (was|were|is|has|have|changed)\b`), changeFilter{settings: true, keys: true, packages: true, tables: true, code: true, skipSiteCode: true, lost: true}},
	{claimedComments, pattern.Lazy(`\b(only|just|nothing but) (a few |some |the |code )*comments?\b|\bcomments? only\b`), changeFilter{settings: true, keys: true, packages: true, tables: true, lost: true}},
	{claimedRename, pattern.Lazy(`\b(only|just|merely) (a )?renam(ed|es|e|ing)\b|\brenames? only\b`), changeFilter{packages: true, keysNet: true, tablesNet: true, lostNet: true, includeDocs: true}},
	{claimedMove, pattern.Lazy(`\b(only|just|merely) mov(ed|es|e|ing)\b`), changeFilter{packages: true, keysNet: true, tablesNet: true, lostNet: true, includeDocs: true}},
	{claimedFormat, pattern.Lazy(`\b(only|just|merely) (re)?format(ted|ting)\b|\bformatting only\b`), changeFilter{values: true, keys: true, packages: true, tables: true, lost: true}},
}

// removalVerbs admit a loss beside the one harmless thing; renaming and moving do not.
var removalVerbs = newVerbSet("remove delete drop clean prune purge discard uninstall erase wipe clear")

// onlyClaim returns the one thing that the statement claims was done, and the changes that
// contradict it.
func (s statement) onlyClaim() (what string, see changeFilter) {
	if len(s.words) > maxClaimWords {
		return "", changeFilter{}
	}
	for _, i := range onlyClaims {
		if i.text().MatchString(s.text) {
			return i.what, i.see
		}
	}
	return "", changeFilter{}
}

// formClaim returns the claim of a statement that mentions only formatting, renaming or
// moving, else "".
func (s statement) formClaim() string {
	if len(s.words) == 0 || len(s.words) > maxClaimWords || len(s.sentences) != 1 {
		return ""
	}
	text := strings.TrimRight(s.text, ".! ")
	switch {
	case formatPattern().MatchString(text):
		return claimedFormat
	case len(s.clauses) > 1:
		return ""
	case renamePattern().MatchString(text):
		return claimedRename
	case movePattern().MatchString(text):
		return claimedMove
	}
	return ""
}

var (
	scopePattern     = `(?P<x>[\w@.-]*/[\w@./-]*\w/?|[\w@-]+\.[a-z]{1,5}|docs|documentation|readme|tests|test files|config|configuration|settings|dependencies)`
	onlyVerbPattern  = pattern.Lazy(`\b(?:only (?:touched|changed|edited|modified|updated|touches|changes)|(?:only|just) (?:touch|change|edit|modify|update)) (?:the )?(?:file )?` + scopePattern + `(?: files?| directory| folder| file)?(?:$|[.;!?]| please$)`)
	verbOnlyPattern  = pattern.Lazy(`\b(?:touch|change|edit|modify|update|touched|changed|edited|modified|updated) only (?:the )?(?:file )?` + scopePattern + `(?: files?| directory| folder| file)?(?:$|[.;!?])`)
	onlyScopePattern = pattern.Lazy(`^(?:only|just) (?:the )?` + scopePattern + `(?: files?)?$|^` + strings.Replace(scopePattern, "?P<x>", "?P<y>", 1) + `[ -]only$`)
	scopeClasses     = map[string]pathclass.Class{"docs": pathclass.Docs, "documentation": pathclass.Docs, "readme": pathclass.Docs, "tests": pathclass.Test, "test files": pathclass.Test, "config": pathclass.Settings, "configuration": pathclass.Settings, "settings": pathclass.Settings, "dependencies": pathclass.Manifest}
	additionWords    = newWordSet("also then plus additionally too afterwards besides not unless except")
)

// onlyScope returns what "only X" allows: a path, or a class of files. A statement that
// goes on to something else makes no such claim.
func (s statement) onlyScope() (what string, w allowedScope) {
	if len(s.words) > maxClaimWords || s.containsAny(additionWords) {
		return "", allowedScope{}
	}
	for _, re := range []*regexp.Regexp{onlyVerbPattern(), verbOnlyPattern(), onlyScopePattern()} {
		m := re.FindStringSubmatch(strings.TrimSpace(s.text))
		if m == nil {
			continue
		}
		x := m[re.SubexpIndex("x")]
		if i := re.SubexpIndex("y"); x == "" && i >= 0 {
			x = m[i]
		}
		if s.namesOtherPath(x) {
			return "", allowedScope{}
		}
		if c, ok := scopeClasses[x]; ok {
			return x, allowedScope{class: c}
		}
		return x, allowedScope{path: x}
	}
	return "", allowedScope{}
}

// namesOtherPath reports whether the text names a path other than x.
func (s statement) namesOtherPath(x string) bool {
	return slices.ContainsFunc(s.words, func(w string) bool {
		return w != strings.TrimRight(x, "/") && w != x && pathPattern().MatchString(w)
	})
}

var pathPattern = pattern.Lazy(`^[\w@.-]*/[\w@./-]+$|^[\w@-]+\.(ts|tsx|js|jsx|go|py|rb|rs|java|md|json|yml|yaml|toml|css|html|php|c|h|cpp|cs|sql|sh|vue|env)$|^\.env`)
