package ignore

import (
	"strings"

	"github.com/git-pkgs/gitignore"
)

// pattern is one line. Most lines are a plain name or an ending; the rest is
// for the glob.
type pattern struct {
	text    string // without !, the slash in front and the slash at the end
	negate  bool
	dirOnly bool
	anyDir  bool // holds no slash: matched against the name alone
	form    form
	glob    *gitignore.Matcher
}

type form int

const (
	formGlob form = iota
	formPlain
	formEnding // a * and then plain text
)

const wild = `*?[\`

// parse reads one line; false when it matches nothing.
func parse(line string) (pattern, bool) {
	var p pattern
	line, _, _ = strings.Cut(line, "\x00") // where git's own strings end
	if strings.HasPrefix(line, "#") {
		return p, false
	}
	line = trimSpaces(line)
	line, p.negate = strings.CutPrefix(line, "!")
	line = bareSlashes(line)
	line, p.dirOnly = strings.CutSuffix(line, "/")
	p.anyDir = !strings.Contains(line, "/")
	p.text = stars(strings.TrimPrefix(line, "/"), p.anyDir)
	if p.text == "" || loneBackslash(p.text) {
		return p, false
	}
	switch {
	case !strings.ContainsAny(p.text, wild):
		p.form = formPlain
	case p.anyDir && p.text[0] == '*' && !strings.ContainsAny(p.text[1:], wild):
		p.form = formEnding
		p.text = p.text[1:]
	default:
		// A pattern for directories tells the path it matches from the paths
		// below it; any other one does not.
		p.glob = gitignore.New("")
		p.glob.AddPatterns([]byte("/"+guardStars(p.text)+"/"), "")
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
	case formEnding:
		return strings.HasSuffix(path, p.text)
	default:
		// As a file, the path itself is refused and what lies below is not.
		return p.glob.MatchPath(path, true) && !p.glob.MatchPath(path, false)
	}
}

// trimSpaces removes the spaces at the end that no backslash holds.
func trimSpaces(s string) string {
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

// bareSlashes writes an escaped slash, which means a slash, as one.
func bareSlashes(s string) string {
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

// stars writes every form of "any directories" as **. At the end it stands for
// what lies below, and never for the directory itself.
func stars(text string, anyDir bool) string {
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

// loneBackslash reports whether the last character is a backslash that holds nothing.
func loneBackslash(s string) bool {
	return (len(s)-len(strings.TrimRight(s, `\`)))%2 == 1
}

// guardStars adds a character that no name holds to every set with a * in it:
// the matcher takes such a * for a wildcard when the set ends in plain text, and
// refuses what the set allows.
func guardStars(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		end := i + 1
		switch s[i] {
		case '\\':
			end = min(i+2, len(s))
		case '[':
			end = setEnd(s, i)
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

// setEnd answers where the set that begins at i is over, or i+1 when it is none.
func setEnd(s string, i int) int {
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
