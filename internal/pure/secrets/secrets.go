// Package secrets finds text that is likely a secret, and covers it.
//
// It works on text in memory alone: no file, no network, no clock. It keeps
// nothing of what it finds.
//
// Invariants:
//  1. Time grows with the length of the text, whatever the text is.
//  2. Masked text holds no secret of Spread bytes or more that was found in it,
//     at any place.
//  3. Masking what is masked changes nothing.
//  4. A mark tells the kind of a secret, never its length or a part of it.
package secrets

import (
	"maps"
	"slices"
	"strings"
)

// Spread is the length from which a secret is covered wherever else it stands.
// Shorter ones are covered where they were found: a password "app" would
// otherwise cover half of a text.
const MinSpreadLength = 6

// rounds bounds how often covered text is looked at again. A second look is
// needed because a mark is a new neighbour for the text beside it.
const maxRounds = 4

// unsafeKind is the mark of a text that could not be covered piece by piece.
const wholeTextKind = "text"

// Mask covers likely secrets with marks such as "[masked: github token]". The
// kinds are sorted, each once; without any the text is the same.
func Mask(s string) (masked string, kinds []string) {
	all := map[string]bool{}
	text := s
	var spread *strings.Replacer
	for range maxRounds {
		hits := findSecrets(text)
		if len(hits) == 0 {
			break
		}
		for _, h := range hits {
			all[h.kind] = true
		}
		spread = newReplacer(text, hits)
		text = coverMatches(text, hits, spread)
	}
	if len(all) == 0 {
		return s, nil
	}
	if len(findSecrets(text)) > 0 || spread.Replace(text) != text {
		text = maskText(wholeTextKind)
	}
	return text, slices.Sorted(maps.Keys(all))
}

// FindKinds tells which kinds of secrets the text likely holds: sorted, each once.
func FindKinds(b []byte) []string {
	all := map[string]bool{}
	for _, h := range findSecrets(string(b)) {
		all[h.kind] = true
	}
	if len(all) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(all))
}

func maskText(kind string) string { return "[masked: " + kind + "]" }

// newReplacer covers the secrets of the hits wherever they stand.
func newReplacer(s string, hits []secretMatch) *strings.Replacer {
	seen := map[string]bool{}
	var pairs []string
	for _, h := range hits {
		if v := s[h.from:h.to]; len(v) >= MinSpreadLength && !seen[v] {
			seen[v] = true
			pairs = append(pairs, v, maskText(h.kind))
		}
	}
	return strings.NewReplacer(pairs...)
}

// coverMatches puts a mark in the place of each hit. Marks are never looked into.
func coverMatches(s string, hits []secretMatch, spread *strings.Replacer) string {
	var b strings.Builder
	b.Grow(len(s))
	at := 0
	for _, h := range hits {
		b.WriteString(spread.Replace(s[at:h.from]))
		b.WriteString(maskText(h.kind))
		at = h.to
	}
	b.WriteString(spread.Replace(s[at:]))
	return b.String()
}
