package secrets

import "strings"

// token is a secret that tells by its first letters what it is.
type token struct {
	prefix string
	kind   string
	in     func(byte) bool // bytes after the prefix
	least  int             // so many of them at least
	exact  bool            // or exactly
}

func tokenTriggers() []trigger {
	var list []trigger
	for _, t := range tokens() {
		list = append(list, trigger{text: t.prefix, match: t.match})
	}
	return append(list,
		trigger{text: "SG.", match: sendgrid},
		trigger{text: "eyJ", match: jwt},
		trigger{text: "hooks.slack.com/services/", match: slackHook},
		trigger{text: "-----BEGIN", match: privateKey},
	)
}

func tokens() []token {
	return []token{
		{"AKIA", "aws access key", upper, 16, true},
		{"ASIA", "aws access key", upper, 16, true},
		{"ghp_", "github token", alnum, 30, false},
		{"gho_", "github token", alnum, 30, false},
		{"ghu_", "github token", alnum, 30, false},
		{"ghs_", "github token", alnum, 30, false},
		{"ghr_", "github token", alnum, 30, false},
		{"github_pat_", "github token", wordy, 22, false},
		{"glpat-", "gitlab token", dashed, 20, false},
		{"gldt-", "gitlab token", dashed, 20, false},
		{"glrt-", "gitlab token", dashed, 20, false},
		{"glcbt-", "gitlab token", dashed, 20, false},
		{"xoxb-", "slack token", dashed, 20, false},
		{"xoxp-", "slack token", dashed, 20, false},
		{"xoxa-", "slack token", dashed, 20, false},
		{"xoxr-", "slack token", dashed, 20, false},
		{"xoxs-", "slack token", dashed, 20, false},
		{"xapp-", "slack token", dashed, 20, false},
		{"sk_live_", "stripe key", alnum, 16, false},
		{"sk_test_", "stripe key", alnum, 16, false},
		{"rk_live_", "stripe key", alnum, 16, false},
		{"rk_test_", "stripe key", alnum, 16, false},
		{"whsec_", "stripe key", alnum, 24, false},
		{"sk-ant-", "anthropic key", dashed, 20, false},
		{"sk-proj-", "openai key", dashed, 20, false},
		{"sk-svcacct-", "openai key", dashed, 20, false},
		{"sk-admin-", "openai key", dashed, 20, false},
		{"sk-", "openai key", alnum, 32, false},
		{"AIza", "google key", dashed, 35, true},
		{"GOCSPX-", "google key", dashed, 20, false},
		{"ya29.", "google token", dashed, 20, false},
		{"npm_", "npm token", alnum, 36, true},
		{"pypi-AgE", "pypi token", dashed, 40, false},
		{"SK", "twilio key", hex, 32, true},
		{"hf_", "hugging face token", alnum, 30, false},
		{"dop_v1_", "digitalocean token", hex, 64, true},
		{"shpat_", "shopify token", hex, 32, true},
		{"dckr_pat_", "docker token", dashed, 20, false},
	}
}

func (t token) match(s string, i int) (hit, bool) {
	from := i + len(t.prefix)
	if !free(s, i) {
		return hit{}, false
	}
	to := run(s, from, lookahead, t.in)
	if to-from < t.least || t.exact && (to-from != t.least || to < len(s) && dashed(s[to])) {
		return hit{}, false
	}
	if fewBytes(s[from:to]) || placeholder(s[from:to]) {
		return hit{}, false
	}
	return hit{i, run(s, to, 0, t.in), t.kind}, true
}

// fewBytes reports that a text repeats itself, as examples do.
func fewBytes(s string) bool {
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

func sendgrid(s string, i int) (hit, bool) {
	if !free(s, i) {
		return hit{}, false
	}
	mid := run(s, i+3, lookahead, dashed)
	if mid-i-3 < 16 || mid >= len(s) || s[mid] != '.' {
		return hit{}, false
	}
	to := run(s, mid+1, lookahead, dashed)
	if to-mid < 32 || fewBytes(s[mid:to]) {
		return hit{}, false
	}
	return hit{i, run(s, to, 0, dashed), "sendgrid key"}, true
}

// jwt takes three parts; the first two are JSON objects in base64, which begin
// with eyJ.
func jwt(s string, i int) (hit, bool) {
	if !free(s, i) || i > 0 && s[i-1] == '-' {
		return hit{}, false
	}
	one := run(s, i, 0, dashed)
	if one-i < 10 || !strings.HasPrefix(s[one:], ".eyJ") {
		return hit{}, false
	}
	two := run(s, one+1, 0, dashed)
	if two-one < 10 || two >= len(s) || s[two] != '.' {
		return hit{}, false
	}
	to := run(s, two+1, 0, dashed)
	return hit{i, to, "jwt"}, to-two > 8
}

func slackHook(s string, i int) (hit, bool) {
	from := i + len("hooks.slack.com/services/")
	in := func(c byte) bool { return alnum(c) || c == '/' }
	to := run(s, from, lookahead, in)
	if to-from < 20 || fewBytes(s[from:to]) || placeholder(s[from:to]) {
		return hit{}, false
	}
	return hit{from, run(s, to, 0, in), "slack webhook"}, true
}

// privateKey goes from the first line of a key to its last. A key that was cut
// off goes as far as its letters do.
func privateKey(s string, i int) (hit, bool) {
	const dashes = "-----"
	head := run(s, i+len(dashes), 64, func(c byte) bool { return upper(c) || c == ' ' })
	if !strings.Contains(s[i:head], "PRIVATE KEY") || !strings.HasPrefix(s[head:], dashes) {
		return hit{}, false
	}
	from := head + len(dashes)
	body := strings.Index(s[from:], dashes)
	if body >= 0 && strings.HasPrefix(s[from+body:], dashes+"END") {
		foot := from + body + len(dashes)
		if tail := strings.Index(s[foot:], dashes); tail >= 0 && tail <= 64 {
			return hit{i, foot + tail + len(dashes), "private key"}, true
		}
		return hit{i, foot + len("END"), "private key"}, true
	}
	to := run(s, from, 0, func(c byte) bool {
		return alnum(c) || space(c) || strings.IndexByte("+/=\\:,", c) >= 0
	})
	return hit{i, to, "private key"}, true
}
