package tree

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Match reports whether path is one of paths, is below one of them, or is matched, itself or a
// directory above it, by one that is a glob: * and ? stay within a name, ** spans any number
// of directories. A path is tried literally before it is tried as a glob. An empty list
// matches everything.
func Match(paths []string, path string) bool {
	if len(paths) == 0 {
		return true
	}
	names := splitPath(path)
	return slices.ContainsFunc(paths, func(p string) bool {
		pattern := splitPath(p)
		return hasPrefix(names, pattern) || strings.ContainsAny(p, "*?") && matchNames(pattern, names)
	})
}

func splitPath(path string) []string {
	names := strings.Split(path, "/")
	return slices.DeleteFunc(names, func(n string) bool { return n == "" || n == "." })
}

func hasPrefix(names, prefix []string) bool {
	return len(names) >= len(prefix) && slices.Equal(names[:len(prefix)], prefix)
}

// matchNames tracks the set of positions in the pattern that the names so far can reach, so
// that many ** in a row cost no more than one.
func matchNames(pattern, names []string) bool {
	at := make([]bool, len(pattern)+1)
	at[0] = true
	skipDoubleStars(pattern, at)
	for _, name := range names {
		if at[len(pattern)] {
			return true
		}
		next := make([]bool, len(at))
		for i, p := range pattern {
			switch {
			case !at[i]:
			case p == "**":
				next[i], next[i+1] = true, true
			case matchName(p, name):
				next[i+1] = true
			}
		}
		skipDoubleStars(pattern, next)
		at = next
	}
	return at[len(pattern)]
}

// skipDoubleStars lets every ** that was reached match nothing, except one at the end: "a/**"
// is what is below a, and not a.
func skipDoubleStars(pattern []string, at []bool) {
	for i, p := range pattern {
		if at[i] && p == "**" && i < len(pattern)-1 {
			at[i+1] = true
		}
	}
}

// matchName backtracks to the last * only, which is enough within one name.
func matchName(pattern, name string) bool {
	star, mark := -1, 0
	p, n := 0, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, n
			p++
			continue
		case p < len(pattern) && pattern[p] == '?':
			_, size := utf8.DecodeRuneInString(name[n:])
			p, n = p+1, n+size
			continue
		case p < len(pattern) && pattern[p] == name[n]:
			p, n = p+1, n+1
			continue
		case star < 0:
			return false
		}
		mark++
		p, n = star+1, mark
	}
	return strings.Trim(pattern[p:], "*") == ""
}
