package risk

import (
	"fmt"
	"strconv"
	"strings"
)

// Limits of brace expansion: more of it names too many files to be listed.
const (
	maxBraces     = 16
	maxBraceBytes = 4096
)

// expandBraces returns the words that the braces of an encoded word make.
func (j *callJudge) expandBraces(s string) []string {
	if strings.IndexByte(s, braceBegin) < 0 {
		if strings.IndexByte(s, braceComma) < 0 && strings.IndexByte(s, braceEnd) < 0 {
			return []string{s}
		}
		return []string{plainBraces(s)}
	}
	if strings.Count(s, string([]byte{braceBegin})) > maxBraces || len(s) > maxBraceBytes {
		return []string{unknownWord}
	}
	list := expandFirstBrace(s)
	for _, one := range list {
		if j.formBudget -= len(one); j.formBudget < 0 {
			return []string{unknownWord}
		}
	}
	return list
}

func plainBraces(s string) string {
	return mapBytes(s, func(c byte) byte {
		if c == braceBegin || c == braceComma || c == braceEnd {
			return charOf(c)
		}
		return c
	})
}

// expandFirstBrace expands the first brace of a text, and then the others.
func expandFirstBrace(s string) []string {
	open := strings.IndexByte(s, braceBegin)
	if open < 0 {
		return []string{plainBraces(s)}
	}
	before, elems, after, ok := splitBrace(s, open)
	if !ok {
		return prefixAll(plainBraces(s[:open])+"{", expandFirstBrace(s[open+1:]))
	}
	if len(elems) == 1 {
		if elems = sequence(elems[0]); elems == nil {
			return prefixAll(before+"{", expandFirstBrace(s[open+1:]))
		}
	}
	var out []string
	tails := expandFirstBrace(after)
	for _, e := range elems {
		for _, inner := range expandFirstBrace(e) {
			for _, tail := range tails {
				if len(out) == maxForms {
					return []string{unknownWord}
				}
				out = append(out, before+inner+tail)
			}
		}
	}
	return out
}

func prefixAll(prefix string, list []string) []string {
	for i := range list {
		list[i] = prefix + list[i]
	}
	return list
}

// splitBrace splits a text at the brace that opens at an index.
func splitBrace(s string, open int) (before string, elems []string, after string, ok bool) {
	depth, from := 0, open+1
	for i := open; i < len(s); i++ {
		switch s[i] {
		case braceBegin:
			depth++
		case braceComma:
			if depth == 1 {
				elems, from = append(elems, s[from:i]), i+1
			}
		case braceEnd:
			if depth--; depth == 0 {
				return plainBraces(s[:open]), append(elems, s[from:i]), s[i+1:], true
			}
		}
	}
	return "", nil, "", false
}

// sequence returns the elements of 1..9 and a..z; nil if a text is none.
func sequence(s string) []string {
	from, rest, ok := strings.Cut(s, "..")
	if !ok {
		return nil
	}
	to, step, hasStep := strings.Cut(rest, "..")
	by, ok := stepOf(step)
	if hasStep && !ok {
		return nil
	}
	if len(from) == 1 && len(to) == 1 && isLetters(from) && isLetters(to) {
		return count(int(from[0]), int(to[0]), by, func(n int) string { return string(rune(n)) })
	}
	a, err := strconv.Atoi(from)
	b, err2 := strconv.Atoi(to)
	if err != nil || err2 != nil {
		return nil
	}
	width := 0
	if strings.HasPrefix(from, "0") && len(from) > 1 || strings.HasPrefix(to, "0") && len(to) > 1 {
		width = max(len(from), len(to))
	}
	return count(a, b, by, func(n int) string { return fmt.Sprintf("%0*d", width, n) })
}

// stepOf returns the step of a sequence, and whether the text is one.
func stepOf(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return max(n, -n, 1), err == nil
}

// count returns the texts of the numbers between two, at most one more than maxForms.
func count(from, to, by int, text func(int) string) []string {
	var out []string
	up := from <= to
	for n := from; len(out) <= maxForms && (up && n <= to || !up && n >= to); {
		out = append(out, text(n))
		if up {
			n += by
		} else {
			n -= by
		}
	}
	return out
}
