package secrets

import (
	"strings"
	"sync"
)

// hit is one secret: the bytes from and to, and what they are.
type hit struct {
	from, to int
	kind     string
}

// trigger is how a secret, or the words before it, begin. The first two bytes
// are looked up in a table, so text without triggers costs a lookup per byte.
type trigger struct {
	text  string
	fold  bool // letters of either case
	match func(s string, at int) (hit, bool)
}

// at reports whether the trigger stands there.
func (t *trigger) at(s string, i int) bool {
	if len(s)-i < len(t.text) {
		return false
	}
	if !t.fold {
		return s[i:i+len(t.text)] == t.text
	}
	for k := range len(t.text) {
		if c := s[i+k]; c != t.text[k] && (c|0x20 != t.text[k] || !letter(c)) {
			return false
		}
	}
	return true
}

// table finds the triggers that begin with two bytes; group 0 is none.
type table struct {
	pairs  [1 << 16]uint8
	groups [][]trigger
}

// triggers are put together at the first use, not when a program starts.
var triggers = sync.OnceValue(func() *table {
	t := &table{groups: make([][]trigger, 1)}
	for _, group := range [][]trigger{tokenTriggers(), contextTriggers(), assignTriggers()} {
		for _, g := range group {
			t.add(g)
		}
	}
	return t
})

func (t *table) add(g trigger) {
	for _, a := range cases(g.text[0], g.fold) {
		for _, b := range cases(g.text[1], g.fold) {
			n := uint(a)<<8 | uint(b)
			if t.pairs[n] == 0 {
				t.groups = append(t.groups, nil)
				t.pairs[n] = uint8(len(t.groups) - 1)
			}
			t.groups[t.pairs[n]] = append(t.groups[t.pairs[n]], g)
		}
	}
}

func cases(c byte, fold bool) []byte {
	if !fold || !letter(c) {
		return []byte{c}
	}
	return []byte{c | 0x20, c &^ 0x20}
}

// scan finds secrets from left to right; they do not overlap.
func scan(s string) []hit {
	t := triggers()
	var hits []hit
	for i := 0; i+1 < len(s); {
		if t.pairs[uint(s[i])<<8|uint(s[i+1])] == 0 {
			i++
			continue
		}
		h, ok := t.look(s, i)
		if !ok || inMarks(s[h.from:h.to]) {
			i++
			continue
		}
		// What a value is by itself says more than the key before it.
		if same, ok := t.look(s, h.from); ok && same.from == h.from && same.to >= h.to {
			h = same
		}
		hits = append(hits, h)
		i = h.to
	}
	return hits
}

func (t *table) look(s string, i int) (hit, bool) {
	if i+1 >= len(s) {
		return hit{}, false
	}
	group := t.groups[t.pairs[uint(s[i])<<8|uint(s[i+1])]]
	for k := range group {
		g := &group[k]
		if !g.at(s, i) {
			continue
		}
		if h, ok := g.match(s, i); ok && h.to > h.from {
			return h, true
		}
	}
	return hit{}, false
}

// inMarks reports whether a value is a part of a mark. Such a value is a word
// like "password", and covering it would never end.
func inMarks(v string) bool { return len(v) <= len(allMarks) && strings.Contains(allMarks, v) }

const allMarks = "[masked: github token] [masked: gitlab token] [masked: slack token] [masked: slack webhook] " +
	"[masked: stripe key] [masked: openai key] [masked: anthropic key] [masked: google key] [masked: google token] " +
	"[masked: npm token] [masked: pypi token] [masked: sendgrid key] [masked: twilio key] [masked: hugging face token] " +
	"[masked: digitalocean token] [masked: shopify token] [masked: docker token] [masked: aws access key] " +
	"[masked: aws secret key] [masked: jwt] [masked: private key] [masked: url password] [masked: authorization] " +
	"[masked: bearer token] [masked: password] [masked: secret] [masked: token] [masked: api key] [masked: text]"

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }
func alnum(c byte) bool  { return letter(c) || digit(c) }
func wordy(c byte) bool  { return alnum(c) || c == '_' }
func dashed(c byte) bool { return wordy(c) || c == '-' }
func upper(c byte) bool  { return c >= 'A' && c <= 'Z' || digit(c) }
func hex(c byte) bool    { return digit(c) || c >= 'a' && c <= 'f' }
func space(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// free reports whether a word may begin there: after the start, after a byte
// that no word holds, after an escape as JSON writes it, after %XX of a URL.
func free(s string, i int) bool {
	if i == 0 || !wordy(s[i-1]) {
		return true
	}
	if i >= 2 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0 {
		return true
	}
	return i >= 3 && s[i-3] == '%'
}

// lookahead bounds what is read before something is taken for a secret. Only
// then the rest of it is read, and never again, so time stays linear.
const lookahead = 128

// run is the end of the bytes from i on that in takes, at most limit of them;
// no limit when it is 0.
func run(s string, i, limit int, in func(byte) bool) int {
	end := len(s)
	if limit > 0 && limit < end-i {
		end = i + limit
	}
	for i < end && in(s[i]) {
		i++
	}
	return i
}
