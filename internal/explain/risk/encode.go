package risk

import (
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
)

// encodeLit encodes the text of a literal: backslashes are resolved, and what is a pattern or a brace
// becomes a mark.
func encodeLit(v string, quoted bool) string {
	if !strings.ContainsAny(v, `\*?[{,}`) || quoted && strings.IndexByte(v, '\\') < 0 {
		return v
	}
	var b strings.Builder
	for i := 0; i < len(v); i++ {
		c := v[i]
		if c == '\\' && i+1 < len(v) && (!quoted || strings.IndexByte("\"\\$`\n", v[i+1]) >= 0) {
			if i++; v[i] != '\n' {
				b.WriteByte(v[i])
			}
			continue
		}
		if !quoted {
			c = markOf(c)
		}
		b.WriteByte(c)
	}
	return b.String()
}

// markOf returns the mark of a character that means more than itself.
func markOf(c byte) byte {
	switch c {
	case '*':
		return anyText
	case '?':
		return anyByte
	case '[':
		return setBegin
	case '{':
		return braceBegin
	case ',':
		return braceComma
	case '}':
		return braceEnd
	}
	return c
}

// charOf returns the character of a mark.
func charOf(c byte) byte {
	switch c {
	case anyText:
		return '*'
	case anyByte:
		return '?'
	case setBegin:
		return '['
	case braceBegin:
		return '{'
	case braceComma:
		return ','
	case braceEnd:
		return '}'
	}
	return c
}

// mapBytes replaces the bytes of an encoded text.
func mapBytes(s string, replace func(byte) byte) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = replace(c)
	}
	return string(b)
}

// unquoteAll returns values of a variable as they count without quotes: split, and with patterns.
func unquoteAll(values []string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = mapBytes(v, func(c byte) byte {
			switch c {
			case ' ', '\t', '\n':
				return fieldBreak
			case '*', '?', '[':
				return markOf(c)
			}
			return c
		})
	}
	return out
}

// unescapeANSI returns the text of $'...'.
func unescapeANSI(v string) string {
	var b strings.Builder
	for v != "" {
		if len(v) > 1 && v[0] == '\\' && strings.IndexByte(`'"?`, v[1]) >= 0 {
			b.WriteByte(v[1])
			v = v[2:]
			continue
		}
		r, isRune, rest, err := strconv.UnquoteChar(v, 0)
		if err != nil {
			return unknownWord
		}
		if isRune {
			b.WriteRune(r)
		} else {
			b.WriteByte(byte(r))
		}
		v = rest
	}
	if !utf8.ValidString(b.String()) {
		return unknownWord
	}
	return b.String()
}

// decodeForm returns the form of an encoded word whose braces are expanded.
func decodeForm(s string) form {
	f := form{}
	switch {
	case len(s) > maxPathBytes:
		return form{unknown: true}
	case s != "" && s[0] == homeDir:
		f.home, s = true, s[1:]
	case s != "" && s[0] == startDir:
		f.start, s = true, s[1:]
	}
	if (f.home || f.start) && s != "" && s[0] != '/' {
		return form{unknown: true}
	}
	if f.text, f.glob, f.unknown = decodeText(s); f.unknown || strings.Contains(f.text, "{}") {
		return form{unknown: true} // {} stands for a name that another program puts there
	}
	return f
}

// decodeText returns the text of an encoded word, as a pattern if it is one.
func decodeText(s string) (text string, glob, unknown bool) {
	var plain, pattern strings.Builder
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case unknownPart, homeDir, startDir, 0:
			return "", false, true
		case setBegin:
			set, n := patternSet(s[i:])
			glob = glob || n > 1
			plain.WriteByte('[')
			pattern.WriteString(set)
			i += n
		case anyText, anyByte:
			glob = true
			pattern.WriteByte(charOf(c))
			i++
		default:
			plain.WriteByte(c)
			writeEscaped(&pattern, c)
			i++
		}
	}
	if glob {
		return pattern.String(), true, false
	}
	return plain.String(), false, false
}

// patternSet returns the set that a text begins with, such as [a-z], in the form of path.Match, and how
// many bytes of the text it takes. One that path.Match does not know becomes "?".
func patternSet(s string) (string, int) {
	const longest = 64
	s = s[:min(len(s), longest)]
	end := setEnd(s)
	if end >= len(s) || s[end] == '/' {
		return `\[`, 1
	}
	inner := mapBytes(s[1:end], charOf)
	if inner[0] == '!' {
		inner = "^" + inner[1:]
	}
	set := "[" + inner + "]"
	if _, err := path.Match(set, "x"); err != nil || strings.ContainsAny(inner, `[\`) || !utf8.ValidString(inner) {
		set = "?"
	}
	return set, end + 1
}

// setEnd returns where the set ends that a text begins with.
func setEnd(s string) int {
	end := 1
	if end < len(s) && (s[end] == '!' || s[end] == '^') {
		end++
	}
	if end < len(s) && s[end] == ']' {
		end++ // the first one belongs to the set
	}
	for end < len(s) && s[end] != ']' && s[end] != '/' {
		if class := strings.Index(s[end:], ":]"); s[end] == setBegin && class > 0 {
			end += class + 1 // [:digit:]
		}
		end++
	}
	return end
}

func writeEscaped(b *strings.Builder, c byte) {
	if strings.IndexByte(`*?[\`, c) >= 0 {
		b.WriteByte('\\')
	}
	b.WriteByte(c)
}

// escapeGlob returns a pattern that matches a path only.
func escapeGlob(p string) string {
	if !strings.ContainsAny(p, `*?[\`) {
		return p
	}
	var b strings.Builder
	for i := range len(p) {
		writeEscaped(&b, p[i])
	}
	return b.String()
}

// unescapeGlob returns the path that a pattern without special characters matches.
func unescapeGlob(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		if p[i] == '\\' && i+1 < len(p) {
			i++
		}
		b.WriteByte(p[i])
	}
	return b.String()
}

// hasPattern reports whether a pattern matches more than one path.
func hasPattern(p string) bool {
	for i := 0; i < len(p); i++ {
		if p[i] == '\\' {
			i++
		} else if strings.IndexByte("*?[", p[i]) >= 0 {
			return true
		}
	}
	return false
}
