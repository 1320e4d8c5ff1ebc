package xray

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// nonEnvExtensions are the extensions of files that only look like .env files.
var nonEnvExtensions = []string{".ts", ".js", ".mjs", ".cjs", ".py", ".rb", ".go", ".sh", ".md", ".json", ".yaml", ".yml", ".toml", ".swp", ".gpg", ".age", ".enc"}

func isEnv(p fileLocation) bool {
	if p.name != ".env" && !strings.HasPrefix(p.name, ".env.") && p.ext != ".env" {
		return false
	}
	return p.isWorkspaceFile() && !strings.HasSuffix(p.name, "~") && !slices.Contains(nonEnvExtensions, p.ext)
}

// readEnv returns the keys, and of the values only a digest that tells them apart.
func readEnv(in input) ([]retake.Trait, error) {
	l := newTraitList(in)
	rest := strings.TrimPrefix(strings.ReplaceAll(string(in.data), "\r\n", "\n"), "\ufeff")
	for rest != "" {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "export "))
		key, value, ok := strings.Cut(line, "=")
		key = strings.TrimSpace(key)
		if !ok || !isEnvKey(key) {
			continue
		}
		value, rest = parseEnvValue(strings.TrimSpace(value), rest)
		l.set(retake.Trait{Kind: retake.FactEnv, Name: in.boundName(key), Value: in.digest(value)})
	}
	return l.traits, nil
}

// isEnvKey accepts names of variables, and the dots and dashes that some programs allow.
func isEnvKey(s string) bool {
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '_', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case i > 0 && (c == '.' || c == '-' || c >= '0' && c <= '9'):
		default:
			return false
		}
	}
	return s != ""
}

// parseEnvValue removes the quotes around a value, which may span lines. Without quotes a
// comment ends the value.
func parseEnvValue(v, rest string) (value, after string) {
	if v == "" || !strings.ContainsRune("\"'`", rune(v[0])) {
		v, _, _ = strings.Cut(v, " #")
		return strings.TrimSpace(v), rest
	}
	quote := v[0]
	if end := findQuoteEnd(v[1:], quote); end >= 0 {
		return v[1 : 1+end], rest
	}
	if end := findQuoteEnd(rest, quote); end >= 0 {
		_, after, _ = strings.Cut(rest[end:], "\n")
		return v[1:] + "\n" + rest[:end], after
	}
	return v, rest // a quote that never ends is a part of the value
}

func findQuoteEnd(s string, quote byte) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote == '"':
			i++
		case s[i] == quote:
			return i
		}
	}
	return -1
}
