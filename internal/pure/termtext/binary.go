package termtext

import "strings"

// IsBinary reports whether text would not be read by anybody: it holds a NUL, or
// more than a few of the controls that text has no use for.
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
