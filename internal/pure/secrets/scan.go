package secrets

import (
	"strings"
	"sync"
)

// secretMatch is one secret: its range in the text, and its kind.
type secretMatch struct {
	from, to int
	kind     string
}

// trigger is how a secret, or what is before it, begins. The first two bytes are looked up in
// a table, so text without triggers costs one lookup per byte.
type trigger struct {
	text  string
	fold  bool // ignore case
	match func(s string, at int) (secretMatch, bool)
}

// matchesAt reports whether the text has the trigger at i.
func (t *trigger) matchesAt(s string, i int) bool {
	if len(s)-i < len(t.text) {
		return false
	}
	if !t.fold {
		return s[i:i+len(t.text)] == t.text
	}
	for k := range len(t.text) {
		if c := s[i+k]; c != t.text[k] && (c|0x20 != t.text[k] || !isLetter(c)) {
			return false
		}
	}
	return true
}

// triggerTable finds triggers by their first two bytes; group 0 is empty.
type triggerTable struct {
	pairs  [1 << 16]uint8
	groups [][]trigger
}

// triggers is built at its first use, not at the start of the program.
var triggers = sync.OnceValue(func() *triggerTable {
	t := &triggerTable{groups: make([][]trigger, 1)}
	for _, group := range [][]trigger{tokenTriggers(), contextTriggers(), assignTriggers()} {
		for _, g := range group {
			t.add(g)
		}
	}
	return t
})

func (t *triggerTable) add(g trigger) {
	for _, a := range caseVariants(g.text[0], g.fold) {
		for _, b := range caseVariants(g.text[1], g.fold) {
			n := uint(a)<<8 | uint(b)
			if t.pairs[n] == 0 {
				t.groups = append(t.groups, nil)
				t.pairs[n] = uint8(len(t.groups) - 1)
			}
			t.groups[t.pairs[n]] = append(t.groups[t.pairs[n]], g)
		}
	}
}

func caseVariants(c byte, fold bool) []byte {
	if !fold || !isLetter(c) {
		return []byte{c}
	}
	return []byte{c | 0x20, c &^ 0x20}
}

// findSecrets finds secrets from left to right; they do not overlap.
func findSecrets(s string) []secretMatch {
	t := triggers()
	var hits []secretMatch
	for i := 0; i+1 < len(s); {
		if t.pairs[uint(s[i])<<8|uint(s[i+1])] == 0 {
			i++
			continue
		}
		h, ok := t.matchAt(s, i)
		if !ok || isPartOfMark(s[h.from:h.to]) {
			i++
			continue
		}
		// The form of a value says more than the key before it.
		if same, ok := t.matchAt(s, h.from); ok && same.from == h.from && same.to >= h.to {
			h = same
		}
		hits = append(hits, h)
		i = h.to
	}
	return hits
}

// matchAt returns the first secret of a trigger that begins at i.
func (t *triggerTable) matchAt(s string, i int) (secretMatch, bool) {
	if i+1 >= len(s) {
		return secretMatch{}, false
	}
	group := t.groups[t.pairs[uint(s[i])<<8|uint(s[i+1])]]
	for k := range group {
		g := &group[k]
		if !g.matchesAt(s, i) {
			continue
		}
		if h, ok := g.match(s, i); ok && h.to > h.from {
			return h, true
		}
	}
	return secretMatch{}, false
}

// isPartOfMark reports whether a value is part of a mark. Such a value is a word like
// "password", and masking it would never end.
func isPartOfMark(v string) bool { return len(v) <= len(allMarks) && strings.Contains(allMarks, v) }

const allMarks = "[masked: github token] [masked: gitlab token] [masked: slack token] [masked: slack webhook] " +
	"[masked: stripe key] [masked: openai key] [masked: anthropic key] [masked: google key] [masked: google token] " +
	"[masked: npm token] [masked: pypi token] [masked: sendgrid key] [masked: twilio key] [masked: hugging face token] " +
	"[masked: digitalocean token] [masked: shopify token] [masked: docker token] [masked: aws access key] " +
	"[masked: aws secret key] [masked: jwt] [masked: private key] [masked: url password] [masked: authorization] " +
	"[masked: bearer token] [masked: password] [masked: secret] [masked: token] [masked: api key] [masked: text]"

func isLetter(c byte) bool       { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool        { return c >= '0' && c <= '9' }
func isAlnum(c byte) bool        { return isLetter(c) || isDigit(c) }
func isWordByte(c byte) bool     { return isAlnum(c) || c == '_' }
func isWordOrDash(c byte) bool   { return isWordByte(c) || c == '-' }
func isUpperOrDigit(c byte) bool { return c >= 'A' && c <= 'Z' || isDigit(c) }
func isLowerHex(c byte) bool     { return isDigit(c) || c >= 'a' && c <= 'f' }
func isSpace(c byte) bool        { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// isWordStart reports whether a word may begin at i: at the start, after a byte that is not
// part of a word, after a JSON escape, after %XX of a URL.
func isWordStart(s string, i int) bool {
	if i == 0 || !isWordByte(s[i-1]) {
		return true
	}
	if i >= 2 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0 {
		return true
	}
	return i >= 3 && s[i-3] == '%'
}

// lookahead bounds what is read before something is recognized as a secret. Only then the rest
// of it is read, and never again, so the time stays linear.
const lookahead = 128

// scanWhile returns the end of the bytes from i on for which in returns true, at most limit of
// them; 0 means no limit.
func scanWhile(s string, i, limit int, in func(byte) bool) int {
	end := len(s)
	if limit > 0 && limit < end-i {
		end = i + limit
	}
	for i < end && in(s[i]) {
		i++
	}
	return i
}
