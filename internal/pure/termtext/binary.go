package termtext

import "strings"

// IsBinary reports whether text is not readable: it contains a NUL, or more than a few control
// characters that text does not use.
func IsBinary(s string) bool {
	odd := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == 0:
			return true
		case c < ' ' && !strings.ContainsRune("\t\n\r\f\b\x1b", rune(c)), c == 0x7f:
			odd++
		}
	}
	return odd > len(s)/50
}
