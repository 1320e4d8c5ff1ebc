package secrets

import (
	"math"
	"strings"
)

// keyWords are words in a key that mean that its value is a secret.
var keyWords = []string{
	"secret", "token", "password", "passwd", "passphrase", "pwd", "apikey", "api_key", "api-key", "access_key", "access-key", "accesskey",
	"private_key", "privatekey", "encryption_key", "encryptionkey", "signing_key", "signingkey", "auth_key", "authkey", "credential",
}

// keyTails may follow the word in the key. With another tail, as in tokenizer or token_type,
// the value is not a secret.
var keyTails = []string{
	"", "s", "key", "value", "accesskey", "token", "secret", "string", "raw", "base", "prod", "production", "dev", "staging", "live", "test", "id",
}

func assignTriggers() []trigger {
	var list []trigger
	for _, w := range keyWords {
		list = append(list, trigger{text: w, fold: true, match: func(s string, i int) (secretMatch, bool) { return matchAssignment(s, i, w) }})
	}
	return list
}

// matchAssignment matches KEY=value, "key": "value" also inside a JSON string, and --key
// value.
func matchAssignment(s string, i int, word string) (secretMatch, bool) {
	end := scanWhile(s, i+len(word), 24, isWordOrDash)
	from, tight, ok := findSeparator(s, i, end)
	if !ok || !isKeyTail(s[i+len(word):end]) {
		return secretMatch{}, false
	}
	quote := byte(0)
	if n := scanWhile(s, from, 6, func(c byte) bool { return c == '\\' }); n < len(s) && strings.IndexByte("\"'`", s[n]) >= 0 {
		quote, from = s[n], n+1
	}
	in := isUnquoted
	if quote != 0 {
		in = func(c byte) bool { return c > ' ' && c != quote && c != '\\' && c != 0x7f }
	}
	to := scanWhile(s, from, lookahead, in)
	if !isPlausible(s[from:to], quote != 0, tight && strings.HasPrefix(word, "pass")) {
		return secretMatch{}, false
	}
	to = scanWhile(s, to, 0, in)
	if quote != 0 && to < len(s) && s[to] == ' ' {
		return secretMatch{}, false // a sentence
	}
	return secretMatch{from, to, assignmentKind(s, i, word)}, true
}

// isKeyTail reports whether the rest of a key, without signs and digits, is one of keyTails.
func isKeyTail(tail string) bool {
	var b [24]byte
	n := 0
	for k := range min(len(tail), len(b)) {
		if isLetter(tail[k]) {
			b[n] = tail[k] | 0x20
			n++
		}
	}
	return containsString(keyTails, string(b[:n]))
}

// valueEnds are the bytes that end an unquoted value.
var valueEnds = [256]bool{
	',': true, ';': true, ')': true, '}': true, ']': true, '<': true, '>': true, '&': true, '|': true, '\\': true, '"': true, '\'': true, '`': true, 0x7f: true,
}

func isUnquoted(c byte) bool { return c > ' ' && !valueEnds[c] }

// findSeparator returns where the value after a key begins. tight means that there are no
// spaces around the separator.
func findSeparator(s string, i, end int) (from int, tight, ok bool) {
	at := scanWhile(s, end, 6, func(c byte) bool { return c == '\\' || c == '"' || c == '\'' || c == ']' })
	sep := scanWhile(s, at, 4, func(c byte) bool { return c == ' ' })
	if sep >= len(s) {
		return 0, false, false
	}
	to := scanWhile(s, sep, 3, func(c byte) bool { return c == '=' || c == ':' || c == '>' })
	switch s[sep:to] {
	case "=", ":", "=>", ":=":
		from = scanWhile(s, to, 4, func(c byte) bool { return c == ' ' })
		return from, from == to && sep == end, true
	case "":
		return sep, false, sep > at && at == end && sep < len(s) && s[sep] != '-' && isFlag(s, i)
	}
	return 0, false, false
}

// isFlag reports whether the key that contains position i begins with two dashes.
func isFlag(s string, i int) bool {
	for low := max(0, i-32); i > low && isWordOrDash(s[i-1]); {
		i--
	}
	return strings.HasPrefix(s[i:], "--")
}

// assignmentKind returns the kind of secret for a key.
func assignmentKind(s string, i int, word string) string {
	key := strings.ToLower(s[max(0, i-16):min(len(s), i+24)])
	switch {
	case strings.HasPrefix(word, "pass") || word == "pwd":
		return "password"
	case strings.Contains(key, "aws") && strings.Contains(key, "secret"):
		return "aws secret key"
	case strings.HasPrefix(word, "api"):
		return "api key"
	case word == "token":
		return "token"
	}
	return "secret"
}

func containsString(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// isVariable reports whether a value is a reference, such as $NAME, and not the secret itself.
func isVariable(v string) bool {
	return v == "" || strings.IndexByte("$%{<[(*", v[0]) >= 0 || strings.Contains(v, "${") || strings.Contains(v, "{{")
}

// placeholderParts are parts of values that stand in for a secret.
var placeholderParts = []string{
	"xxx", "changeme", "change_me", "change-me", "example", "placeholder", "your", "dummy", "redacted", "masked", "process.env",
	"os.environ", "getenv", "import.meta", "***", "...", "…", "replace", "sample", "<", "$(", "${",
}

func isPlaceholder(v string) bool {
	low := strings.ToLower(v)
	for _, p := range placeholderParts {
		if strings.Contains(low, p) {
			return true
		}
	}
	return false
}

// isPlausible reports whether a value looks too random to guess. weak is for passwords on a
// command line, which people make up.
func isPlausible(v string, quoted, weak bool) bool {
	least := 8
	if weak {
		least = 6
	}
	if len(v) < least || isVariable(v) || isPath(v) {
		return false
	}
	if !isMixed(v) && (len(v) < 32 || entropy(v) <= 4.2) {
		return false
	}
	return (weak || entropy(v) >= 2.7) && (quoted || !isExpression(v)) && !isPlaceholder(v)
}

// isPath reports whether a value is a path or a URL. Keys of 40 characters may begin like a
// path.
func isPath(v string) bool {
	return (v[0] == '/' || v[0] == '.' || v[0] == '~') && len(v) != 40 || strings.Contains(v, "://")
}

// isMixed reports whether a value has letters with digits, or letters of both cases with
// signs.
func isMixed(v string) bool {
	var digits, letters, signs int
	for i := range len(v) {
		switch c := v[i]; {
		case isDigit(c):
			digits++
		case isLetter(c):
			letters++
		case strings.IndexByte("-_.:", c) < 0:
			signs++
		}
	}
	return letters > 0 && (digits > 0 || signs > 0 && strings.ToLower(v) != v)
}

// isExpression reports whether an unquoted value is source code: a call, or names separated by
// dots.
func isExpression(v string) bool {
	if strings.ContainsAny(v, "([") || strings.Contains(v, "::") {
		return true
	}
	parts := strings.Split(v, ".")
	if len(parts) < 2 {
		return false
	}
	for _, p := range parts {
		if p == "" || !isLetter(p[0]) || len(p) > 24 {
			return false
		}
	}
	return true
}

// entropy returns the entropy in bits per byte.
func entropy(v string) float64 {
	var count [256]int
	for i := range len(v) {
		count[v[i]]++
	}
	bits := 0.0
	for i := range len(v) {
		if n := count[v[i]]; n > 0 {
			p := float64(n) / float64(len(v))
			bits -= p * math.Log2(p)
			count[v[i]] = 0
		}
	}
	return bits
}
