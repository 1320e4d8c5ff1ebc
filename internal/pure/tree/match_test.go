package tree_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake/internal/pure/tree"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		paths, path string
		want        bool
	}{
		{"a", "a", true}, {"a", "a/b/c", true}, {"a", "ab", false}, {"a/b", "a", false},
		{"a/", "a/b", true}, {"./a", "a", true}, {".", "a/b", true}, {"b,a", "a", true}, {"b,c", "a", false},
		{"*.go", "x.go", true}, {"*.go", "d/x.go", false}, {"**/*.go", "d/e/x.go", true}, {"**/*.go", "x.go", true},
		{"*.d", "x.d/below", true}, {"d/*", "d", false}, {"d/*", "d/x", true}, {"d/*", "d/x/y", true},
		{"d/**", "d", false}, {"d/**", "d/x", true}, {"d/**", "d/x/y", true}, {"**", "x", true}, {"**/**", "x", true},
		{"a/**/b", "a/b", true}, {"a/**/b", "a/x/y/b/z", true}, {"a/**/b", "a/x", false},
		{"?", "x", true}, {"?", "é", true}, {"?", "\xff", true}, {"?", "xy", false}, {"??", "日本", true},
		{"a*b*c", "aXbYbZc", true}, {"a*b*c", "aXbYbZ", false}, {"*", "", false},
		{"a*b", "a*b", true}, {"a*b/x", "a*b/x", true}, {"a[b", "a[b", true}, {"[ab]", "a", false},
		{"a\nb", "a\nb", true}, {"\xff", "\ufffd", false},
	}
	for _, tt := range tests {
		if got := tree.Match(strings.Split(tt.paths, ","), tt.path); got != tt.want {
			t.Errorf("Match(%q, %q) = %v", tt.paths, tt.path, got)
		}
	}
	if !tree.Match(nil, "a") {
		t.Error("no paths do not match everything")
	}
}

// The rule for * in its slowest and plainest form.
func plainMatch(pattern, name string) bool {
	switch {
	case pattern == "":
		return name == ""
	case pattern[0] == '*':
		return plainMatch(pattern[1:], name) || name != "" && plainMatch(pattern, name[1:])
	}
	return name != "" && (pattern[0] == '?' || pattern[0] == name[0]) && plainMatch(pattern[1:], name[1:])
}

func TestMatchAgainstPlainRule(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab*?]{1,8}`).Draw(t, "pattern")
		name := rapid.StringMatching(`[ab]{1,8}`).Draw(t, "name")
		if got, want := tree.Match([]string{pattern}, name), plainMatch(pattern, name); got != want {
			t.Fatalf("Match(%q, %q) = %v", pattern, name, got)
		}
	})
}

func TestMatchStaysQuick(t *testing.T) {
	t.Parallel()
	// With plain backtracking these take longer than anybody waits.
	pattern := strings.Repeat("**/*a*a*a*a*b/", 20) + "x"
	path := strings.Repeat(strings.Repeat("a", 100)+"/", 100) + "x"
	if tree.Match([]string{pattern}, path) {
		t.Error("a pattern with b matches a path without one")
	}
}
