package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// facts holds what is told against the word of the scripts. What lies outside the tree is
// nobody's word here.
func (j *judging) facts() {
	truth := keyed(j.turn.Facts)
	said := keyed(slices.DeleteFunc(slices.Clone(j.told.own.Facts), func(f retake.Fact) bool { return strings.HasPrefix(f.Path, "/") }))
	for _, key := range slices.Sorted(maps.Keys(truth)) {
		f := truth[key]
		t := j.v.facts[f.Kind]
		t.True++
		if _, ok := said[key]; ok {
			t.Right++
		} else {
			j.miss(areaFact, "not told: %s", factText(f))
		}
		j.v.facts[f.Kind] = t
	}
	for _, key := range slices.Sorted(maps.Keys(said)) {
		f := said[key]
		t := j.v.facts[f.Kind]
		t.Told++
		j.v.facts[f.Kind] = t
		if _, ok := truth[key]; !ok {
			j.miss(areaFact, "told and not so: %s", factText(f))
		}
	}
}

// keyed makes a set of facts. The same package at two places is one fact; a key of two
// .env files is two, and so are two secrets in one file.
func keyed(facts []retake.Fact) map[string]retake.Fact {
	out := map[string]retake.Fact{}
	secrets := map[string]int{}
	for _, f := range facts {
		parts := []string{string(f.Kind), string(f.What)}
		switch f.Kind {
		case retake.FactEnv:
			parts = append(parts, f.Path, f.Name)
		case retake.FactSecret: // its name is a matter of taste
			at := string(f.What) + f.Path
			secrets[at]++
			parts = append(parts, f.Path, fmt.Sprint(secrets[at]))
		default:
			parts = append(parts, f.Group, f.Name, f.Before, f.After)
		}
		out[strings.Join(parts, "\x00")] = f
	}
	return out
}

func factText(f retake.Fact) string {
	text := fmt.Sprintf("%s %s", f.Kind, f.What)
	if f.Group != "" {
		text += " " + f.Group
	}
	text += fmt.Sprintf(" %q", f.Name)
	if f.Before != "" || f.After != "" {
		text += fmt.Sprintf(" %q → %q", f.Before, f.After)
	}
	if f.Path != "" {
		text += " in " + f.Path
	}
	return text
}
