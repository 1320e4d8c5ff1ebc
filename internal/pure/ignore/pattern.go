package ignore

import (
	"strings"

	"github.com/git-pkgs/gitignore"
)

// pattern is one line. Most lines are a plain name or a suffix; the others need the glob
// matcher.
type pattern struct {
	text    string // without !, leading and trailing slash
	negate  bool
	dirOnly bool
	anyDir  bool // contains no slash: matched against the last name only
	form    patternForm
	glob    *gitignore.Matcher
}

type patternForm int

const (
	formGlob patternForm = iota
	formPlain
	formSuffix // a * followed by plain text
)

const globChars = `*?[\`

// parsePattern parses one line. It returns false if it matches nothing.
func parsePattern(line string) (pattern, bool) {
	var p pattern
	line, _, _ = strings.Cut(line, "\x00") // git's strings end at NUL
	if strings.HasPrefix(line, "#") {
		return p, false
	}
	line = trimTrailingSpaces(line)
	line, p.negate = strings.CutPrefix(line, "!")
	line = unescapeSlashes(line)
	line, p.dirOnly = strings.CutSuffix(line, "/")
	p.anyDir = !strings.Contains(line, "/")
	p.text = normalizeStars(strings.TrimPrefix(line, "/"), p.anyDir)
	if p.text == "" || endsInBackslash(p.text) {
		return p, false
	}
	switch {
	case !strings.ContainsAny(p.text, globChars):
		p.form = formPlain
	case p.anyDir && p.text[0] == '*' && !strings.ContainsAny(p.text[1:], globChars):
		p.form = formSuffix
		p.text = p.text[1:]
	default:
		// Only a pattern for directories can distinguish the path that it matches
		// from the paths below it.
		p.glob = gitignore.New("")
		p.glob.AddPatterns([]byte("/"+protectSetStars(p.text)+"/"), "")
		return p, len(p.glob.Errors()) == 0
	}
	return p, true
}

func (p *pattern) match(path, name string, isDir bool) bool {
	if p.dirOnly && !isDir {
		return false
	}
	if p.anyDir {
		path = name
	}
	switch p.form {
	case formPlain:
		return path == p.text
	case formSuffix:
		return strings.HasSuffix(path, p.text)
	default:
		// As a file, the path itself does not match, but what is below it does.
		return p.glob.MatchPath(path, true) && !p.glob.MatchPath(path, false)
	}
}

// trimTrailingSpaces removes trailing spaces that are not escaped by a backslash.
func trimTrailingSpaces(s string) string {
	end := 0
	for i := 0; i < len(s); i++ {
		if s[i] == ' ' {
			continue
		}
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		end = i + 1
	}
	return s[:end]
}

// unescapeSlashes replaces an escaped slash by a plain one, which means the same.
func unescapeSlashes(s string) string {
	if !strings.Contains(s, `\/`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] != '/' {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// normalizeStars writes every form of "any directories" as **. At the end it matches what is
// below a directory, never the directory itself.
func normalizeStars(text string, anyDir bool) string {
	names := strings.Split(text, "/")
	for i, n := range names {
		if len(n) > 1 && strings.Trim(n, "*") == "" {
			names[i] = "**"
		}
	}
	if names[len(names)-1] == "**" {
		if anyDir {
			return "*"
		}
		names = append(names, "*")
	}
	return strings.Join(names, "/")
}

// endsInBackslash reports whether the last character is a backslash that escapes nothing.
func endsInBackslash(s string) bool {
	return (len(s)-len(strings.TrimRight(s, `\`)))%2 == 1
}

// protectSetStars adds a character that no name contains to every set with a * in it.
// Otherwise the matcher takes such a * for a wildcard if the set is followed by plain text,
// and does not match what the set allows.
func protectSetStars(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		end := i + 1
		switch s[i] {
		case '\\':
			end = min(i+2, len(s))
		case '[':
			end = findSetEnd(s, i)
		}
		part := s[i:end]
		if len(part) > 1 && part[0] == '[' && strings.Contains(part, "*") {
			part = part[:len(part)-1] + "\\\x00]"
		}
		b.WriteString(part)
		i = end
	}
	return b.String()
}

// findSetEnd returns where the set that begins at i ends, or i+1 if it is not a set.
func findSetEnd(s string, i int) int {
	j := i + 1
	if j < len(s) && (s[j] == '!' || s[j] == '^') {
		j++
	}
	for first := true; j < len(s); first = false {
		switch {
		case s[j] == ']' && !first:
			return j + 1
		case s[j] == '\\':
			j++
		case strings.HasPrefix(s[j:], "[:"):
			if n := strings.Index(s[j+2:], ":]"); n >= 0 {
				j += n + 3
			}
		}
		j++
	}
	return i + 1
}
