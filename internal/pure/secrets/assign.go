package secrets

import (
	"math"
	"strings"
)

// keyWords are how a key says that its value is a secret.
var keyWords = []string{
	"secret", "token", "password", "passwd", "passphrase", "pwd", "apikey", "api_key", "api-key", "access_key", "access-key", "accesskey",
	"private_key", "privatekey", "encryption_key", "encryptionkey", "signing_key", "signingkey", "auth_key", "authkey", "credential",
}

// keyTails may follow in the key; with another tail, as in tokenizer or
// token_type, the value is no secret.
var keyTails = []string{
	"", "s", "key", "value", "accesskey", "token", "secret", "string", "raw", "base", "prod", "production", "dev", "staging", "live", "test", "id",
}

func assignTriggers() []trigger {
	var list []trigger
	for _, w := range keyWords {
		list = append(list, trigger{text: w, fold: true, match: func(s string, i int) (hit, bool) { return assigned(s, i, w) }})
	}
	return list
}

// assigned takes KEY=value, "key": "value" also inside a string of JSON, and
// --key value.
func assigned(s string, i int, word string) (hit, bool) {
	end := run(s, i+len(word), 24, dashed)
	from, tight, ok := separator(s, i, end)
	if !ok || !tailIs(s[i+len(word):end]) {
		return hit{}, false
	}
	quote := byte(0)
	if n := run(s, from, 6, func(c byte) bool { return c == '\\' }); n < len(s) && strings.IndexByte("\"'`", s[n]) >= 0 {
		quote, from = s[n], n+1
	}
	in := unquoted
	if quote != 0 {
		in = func(c byte) bool { return c > ' ' && c != quote && c != '\\' && c != 0x7f }
	}
	to := run(s, from, lookahead, in)
	if !plausible(s[from:to], quote != 0, tight && strings.HasPrefix(word, "pass")) {
		return hit{}, false
	}
	to = run(s, to, 0, in)
	if quote != 0 && to < len(s) && s[to] == ' ' {
		return hit{}, false // a sentence
	}
	return hit{from, to, kindOf(s, i, word)}, true
}

// tailIs looks for the tail of a key, without its signs and digits.
func tailIs(tail string) bool {
	var b [24]byte
	n := 0
	for k := range min(len(tail), len(b)) {
		if letter(tail[k]) {
			b[n] = tail[k] | 0x20
			n++
		}
	}
	return among(keyTails, string(b[:n]))
}

// ends are the bytes that end a value without quotes.
var ends = [256]bool{
	',': true, ';': true, ')': true, '}': true, ']': true, '<': true, '>': true, '&': true, '|': true, '\\': true, '"': true, '\'': true, '`': true, 0x7f: true,
}

func unquoted(c byte) bool { return c > ' ' && !ends[c] }

// separator is where a value begins after a key; tight without spaces around.
func separator(s string, i, end int) (from int, tight, ok bool) {
	at := run(s, end, 6, func(c byte) bool { return c == '\\' || c == '"' || c == '\'' || c == ']' })
	sep := run(s, at, 4, func(c byte) bool { return c == ' ' })
	if sep >= len(s) {
		return 0, false, false
	}
	to := run(s, sep, 3, func(c byte) bool { return c == '=' || c == ':' || c == '>' })
	switch s[sep:to] {
	case "=", ":", "=>", ":=":
		from = run(s, to, 4, func(c byte) bool { return c == ' ' })
		return from, from == to && sep == end, true
	case "":
		return sep, false, sep > at && at == end && sep < len(s) && s[sep] != '-' && isFlag(s, i)
	}
	return 0, false, false
}

// isFlag reports whether the key that holds i begins with two dashes.
func isFlag(s string, i int) bool {
	for low := max(0, i-32); i > low && dashed(s[i-1]); {
		i--
	}
	return strings.HasPrefix(s[i:], "--")
}

func kindOf(s string, i int, word string) string {
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

func among(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// variable reports that a value is looked up elsewhere.
func variable(v string) bool {
	return v == "" || strings.IndexByte("$%{<[(*", v[0]) >= 0 || strings.Contains(v, "${") || strings.Contains(v, "{{")
}

// stand are parts of values that stand for a secret and are none.
var stand = []string{
	"xxx", "changeme", "change_me", "change-me", "example", "placeholder", "your", "dummy", "redacted", "masked", "process.env",
	"os.environ", "getenv", "import.meta", "***", "...", "…", "replace", "sample", "<", "$(", "${",
}

func placeholder(v string) bool {
	low := strings.ToLower(v)
	for _, p := range stand {
		if strings.Contains(low, p) {
			return true
		}
	}
	return false
}

// plausible reports whether a value looks as if nobody could guess it. Weak is
// for passwords in a shell, which people make up.
func plausible(v string, quoted, weak bool) bool {
	least := 8
	if weak {
		least = 6
	}
	if len(v) < least || variable(v) || path(v) {
		return false
	}
	if !mixed(v) && (len(v) < 32 || entropy(v) <= 4.2) {
		return false
	}
	return (weak || entropy(v) >= 2.7) && (quoted || !code(v)) && !placeholder(v)
}

// path reports a place instead of a value. Keys of 40 letters may begin as a path does.
func path(v string) bool {
	return (v[0] == '/' || v[0] == '.' || v[0] == '~') && len(v) != 40 || strings.Contains(v, "://")
}

// mixed reports letters with digits, or letters of both cases with signs.
func mixed(v string) bool {
	var digits, letters, signs int
	for i := range len(v) {
		switch c := v[i]; {
		case digit(c):
			digits++
		case letter(c):
			letters++
		case strings.IndexByte("-_.:", c) < 0:
			signs++
		}
	}
	return letters > 0 && (digits > 0 || signs > 0 && strings.ToLower(v) != v)
}

// code reports that an unquoted value is an expression: a call, or names with
// dots between.
func code(v string) bool {
	if strings.ContainsAny(v, "([") || strings.Contains(v, "::") {
		return true
	}
	parts := strings.Split(v, ".")
	if len(parts) < 2 {
		return false
	}
	for _, p := range parts {
		if p == "" || !letter(p[0]) || len(p) > 24 {
			return false
		}
	}
	return true
}

// entropy is in bits for each byte.
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
