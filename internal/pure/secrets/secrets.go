// Package secrets finds text that is likely a secret, and masks it.
//
// It works on text in memory only: no file, no network, no clock. It keeps
// nothing of what it finds.
//
// Invariants:
//  1. Time grows with the length of the text, whatever the text is.
//  2. Masked text contains no secret of MinSpreadLength bytes or more that was found in
//     it, at any place.
//  3. Masking what is masked changes nothing.
//  4. A mark shows the kind of a secret, never its length or a part of it.
package secrets

import (
	"maps"
	"slices"
	"strings"
)

// MinSpreadLength is the length from which a secret is masked wherever else it occurs. Shorter
// ones are masked only where they were found: a password "app" would otherwise mask half of a
// text.
const MinSpreadLength = 6

// maxRounds bounds how often masked text is scanned again. That is necessary because a mark is
// a new neighbour of the text beside it.
const maxRounds = 4

// wholeTextKind is the kind of a text that could not be masked piece by piece.
const wholeTextKind = "text"

// Mask replaces likely secrets by marks such as "[masked: github token]". The kinds are sorted
// and unique; if there are none the text is unchanged.
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

// FindKinds returns which kinds of secrets the text likely contains, sorted and unique.
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

// newReplacer returns a replacer that masks the matched secrets wherever they occur.
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

// coverMatches replaces each match by a mark, and masks other occurrences between them. Marks
// are not scanned.
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
