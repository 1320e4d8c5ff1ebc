package secrets

import "strings"

// prefixToken is a secret that is recognized by its prefix.
type prefixToken struct {
	prefix      string
	kind        string
	isTokenByte func(byte) bool // of the bytes after the prefix
	minLength   int             // of the bytes after the prefix
	exact       bool            // minLength is the exact length
}

func tokenTriggers() []trigger {
	var list []trigger
	for _, t := range prefixTokens() {
		list = append(list, trigger{text: t.prefix, match: t.match})
	}
	return append(list,
		trigger{text: "SG.", match: matchSendgrid},
		trigger{text: "eyJ", match: matchJWT},
		trigger{text: "hooks.slack.com/services/", match: matchSlackHook},
		trigger{text: "-----BEGIN", match: matchPrivateKey},
	)
}

func prefixTokens() []prefixToken {
	return []prefixToken{
		{"AKIA", "aws access key", isUpperOrDigit, 16, true},
		{"ASIA", "aws access key", isUpperOrDigit, 16, true},
		{"ghp_", "github token", isAlnum, 30, false},
		{"gho_", "github token", isAlnum, 30, false},
		{"ghu_", "github token", isAlnum, 30, false},
		{"ghs_", "github token", isAlnum, 30, false},
		{"ghr_", "github token", isAlnum, 30, false},
		{"github_pat_", "github token", isWordByte, 22, false},
		{"glpat-", "gitlab token", isWordOrDash, 20, false},
		{"gldt-", "gitlab token", isWordOrDash, 20, false},
		{"glrt-", "gitlab token", isWordOrDash, 20, false},
		{"glcbt-", "gitlab token", isWordOrDash, 20, false},
		{"xoxb-", "slack token", isWordOrDash, 20, false},
		{"xoxp-", "slack token", isWordOrDash, 20, false},
		{"xoxa-", "slack token", isWordOrDash, 20, false},
		{"xoxr-", "slack token", isWordOrDash, 20, false},
		{"xoxs-", "slack token", isWordOrDash, 20, false},
		{"xapp-", "slack token", isWordOrDash, 20, false},
		{"sk_live_", "stripe key", isAlnum, 16, false},
		{"sk_test_", "stripe key", isAlnum, 16, false},
		{"rk_live_", "stripe key", isAlnum, 16, false},
		{"rk_test_", "stripe key", isAlnum, 16, false},
		{"whsec_", "stripe key", isAlnum, 24, false},
		{"sk-ant-", "anthropic key", isWordOrDash, 20, false},
		{"sk-proj-", "openai key", isWordOrDash, 20, false},
		{"sk-svcacct-", "openai key", isWordOrDash, 20, false},
		{"sk-admin-", "openai key", isWordOrDash, 20, false},
		{"sk-", "openai key", isAlnum, 32, false},
		{"AIza", "google key", isWordOrDash, 35, true},
		{"GOCSPX-", "google key", isWordOrDash, 20, false},
		{"ya29.", "google token", isWordOrDash, 20, false},
		{"npm_", "npm token", isAlnum, 36, true},
		{"pypi-AgE", "pypi token", isWordOrDash, 40, false},
		{"SK", "twilio key", isLowerHex, 32, true},
		{"hf_", "hugging face token", isAlnum, 30, false},
		{"dop_v1_", "digitalocean token", isLowerHex, 64, true},
		{"shpat_", "shopify token", isLowerHex, 32, true},
		{"dckr_pat_", "docker token", isWordOrDash, 20, false},
	}
}

func (t prefixToken) match(s string, i int) (secretMatch, bool) {
	from := i + len(t.prefix)
	if !isWordStart(s, i) {
		return secretMatch{}, false
	}
	to := scanWhile(s, from, lookahead, t.isTokenByte)
	if to-from < t.minLength || t.exact && (to-from != t.minLength || to < len(s) && isWordOrDash(s[to])) {
		return secretMatch{}, false
	}
	if hasFewBytes(s[from:to]) || isPlaceholder(s[from:to]) {
		return secretMatch{}, false
	}
	return secretMatch{i, scanWhile(s, to, 0, t.isTokenByte), t.kind}, true
}

// hasFewBytes reports whether a text has few distinct bytes, as examples do.
func hasFewBytes(s string) bool {
	var seen [256]bool
	n := 0
	for i := range len(s) {
		if !seen[s[i]] {
			seen[s[i]] = true
			n++
		}
	}
	return n < 6
}

func matchSendgrid(s string, i int) (secretMatch, bool) {
	if !isWordStart(s, i) {
		return secretMatch{}, false
	}
	mid := scanWhile(s, i+3, lookahead, isWordOrDash)
	if mid-i-3 < 16 || mid >= len(s) || s[mid] != '.' {
		return secretMatch{}, false
	}
	to := scanWhile(s, mid+1, lookahead, isWordOrDash)
	if to-mid < 32 || hasFewBytes(s[mid:to]) {
		return secretMatch{}, false
	}
	return secretMatch{i, scanWhile(s, to, 0, isWordOrDash), "sendgrid key"}, true
}

// matchJWT matches three parts; the first two are JSON objects in base64, which begin with
// eyJ.
func matchJWT(s string, i int) (secretMatch, bool) {
	if !isWordStart(s, i) || i > 0 && s[i-1] == '-' {
		return secretMatch{}, false
	}
	one := scanWhile(s, i, 0, isWordOrDash)
	if one-i < 10 || !strings.HasPrefix(s[one:], ".eyJ") {
		return secretMatch{}, false
	}
	two := scanWhile(s, one+1, 0, isWordOrDash)
	if two-one < 10 || two >= len(s) || s[two] != '.' {
		return secretMatch{}, false
	}
	to := scanWhile(s, two+1, 0, isWordOrDash)
	return secretMatch{i, to, "jwt"}, to-two > 8
}

func matchSlackHook(s string, i int) (secretMatch, bool) {
	from := i + len("hooks.slack.com/services/")
	in := func(c byte) bool { return isAlnum(c) || c == '/' }
	to := scanWhile(s, from, lookahead, in)
	if to-from < 20 || hasFewBytes(s[from:to]) || isPlaceholder(s[from:to]) {
		return secretMatch{}, false
	}
	return secretMatch{from, scanWhile(s, to, 0, in), "slack webhook"}, true
}

// matchPrivateKey matches from the first line of a PEM key to its last. A key that was cut off
// is matched as far as its characters go.
func matchPrivateKey(s string, i int) (secretMatch, bool) {
	const dashes = "-----"
	head := scanWhile(s, i+len(dashes), 64, func(c byte) bool { return isUpperOrDigit(c) || c == ' ' })
	if !strings.Contains(s[i:head], "PRIVATE KEY") || !strings.HasPrefix(s[head:], dashes) {
		return secretMatch{}, false
	}
	from := head + len(dashes)
	body := strings.Index(s[from:], dashes)
	if body >= 0 && strings.HasPrefix(s[from+body:], dashes+"END") {
		foot := from + body + len(dashes)
		if tail := strings.Index(s[foot:], dashes); tail >= 0 && tail <= 64 {
			return secretMatch{i, foot + tail + len(dashes), "private key"}, true
		}
		return secretMatch{i, foot + len("END"), "private key"}, true
	}
	to := scanWhile(s, from, 0, func(c byte) bool {
		return isAlnum(c) || isSpace(c) || strings.IndexByte("+/=\\:,", c) >= 0
	})
	return secretMatch{i, to, "private key"}, true
}
