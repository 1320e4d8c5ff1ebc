package xray

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// SidedReading is what one reader found in one file, at one of two checkpoints.
type SidedReading struct {
	Path    string
	Entry   retake.Entry
	Reader  string
	Reading Reading
}

// CompareReadings returns the facts that differ between the readings of two checkpoints,
// sorted and without duplicates. Equal sides have none, and swapping them swaps added and
// deleted; secrets and programs are reported only when they appear. A file that could not
// be read on one side is not compared.
func CompareReadings(before, after []SidedReading) []retake.Fact {
	before, after = comparableReadings(before, after), comparableReadings(after, before)
	facts := comparePackages(before, after)
	b, a := indexTraits(before), indexTraits(after)
	for key, old := range b {
		facts = append(facts, diffTrait(key, old, a[key])...)
	}
	for key, now := range a {
		if b[key] == nil {
			facts = append(facts, diffTrait(key, nil, now)...)
		}
	}
	facts = mergeSecretFacts(facts)
	slices.SortFunc(facts, compareFacts)
	return slices.Compact(facts)
}

// readingKey identifies a file and the reader that read it.
type readingKey struct{ path, reader string }

// comparableReadings drops readings that failed here or on the other side.
func comparableReadings(side, other []SidedReading) []SidedReading {
	bad := map[readingKey]bool{}
	for _, s := range slices.Concat(side, other) {
		if s.Reading.Why != "" {
			bad[readingKey{s.Path, s.Reader}] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(side), func(s SidedReading) bool { return bad[readingKey{s.Path, s.Reader}] })
}

// traitKey identifies one trait of a file. It may have several values.
type traitKey struct {
	path string
	kind retake.FactKind
	name string
}

// traitValues are the values of a trait, and the kind of entry that has them.
type traitValues struct {
	values    []string
	entryKind retake.Kind
}

// indexTraits groups the values of all traits by key. Packages are left out: they are
// compared separately.
func indexTraits(side []SidedReading) map[traitKey]*traitValues {
	all := map[traitKey]*traitValues{}
	for _, s := range side {
		for _, t := range s.Reading.Traits {
			k := traitKey{s.Path, t.Kind, t.Name}
			switch t.Kind {
			case retake.FactPackage, kindDirect, kindMaybe:
				continue
			case retake.FactUnit:
				k.name = path.Base(s.Path)
			default:
			}
			if all[k] == nil {
				all[k] = &traitValues{entryKind: s.Entry.Kind}
			}
			all[k].values = append(all[k].values, t.Value)
		}
	}
	return all
}

// diffTrait returns the facts about one trait. A name with several values, such as a
// command in a crontab, has one fact for each value that differs.
func diffTrait(k traitKey, old, now *traitValues) []retake.Fact {
	var was, is []string
	if old != nil {
		was = slices.Clone(old.values)
	}
	if now != nil {
		is = slices.Clone(now.values)
	}
	was, is = diffValues(was, is)
	if !isReportable(k, old, now, was, is) {
		return nil
	}
	var facts []retake.Fact
	for i := range max(len(was), len(is)) {
		f := retake.Fact{Kind: k.kind, What: retake.Edited, Name: k.name, Path: k.path}
		switch k.kind {
		case retake.FactTable, retake.FactRows, retake.FactIndex:
			f.Group = k.path
		default:
		}
		switch {
		case i >= len(was):
			f.What, f.After = retake.Added, is[i]
		case i >= len(is):
			f.What, f.Before = retake.Deleted, was[i]
		default:
			f.Before, f.After = was[i], is[i]
		}
		facts = append(facts, hideValues(f))
	}
	return facts
}

// isReportable filters kinds that are reported only in some cases: a mode if both sides are
// files, rows if there were any, a secret or a program when it appears.
func isReportable(k traitKey, old, now *traitValues, was, is []string) bool {
	switch k.kind {
	case retake.FactMode:
		return old != nil && now != nil && old.entryKind == now.entryKind
	case retake.FactRows:
		return len(was) > 0 && len(is) > 0 || !slices.Equal(was, []string{"0"}) && !slices.Equal(is, []string{"0"})
	case retake.FactSecret, retake.FactExecutable:
		return old == nil
	default:
		return true
	}
}

// hideValues reduces the values of a fact to what people may see.
func hideValues(f retake.Fact) retake.Fact {
	f.Before, f.After = shownValue(f.Before), shownValue(f.After)
	if f.Kind == retake.FactEnv {
		f.Before, f.After = "", ""
	}
	return f
}

// mergeSecretFacts merges the facts about all kinds of secrets that appeared in one file.
func mergeSecretFacts(facts []retake.Fact) []retake.Fact {
	names := map[string][]string{}
	rest := slices.DeleteFunc(facts, func(f retake.Fact) bool {
		if f.Kind == retake.FactSecret {
			names[f.Path] = append(names[f.Path], f.Name)
		}
		return f.Kind == retake.FactSecret
	})
	for path, some := range names {
		slices.Sort(some)
		rest = append(rest, retake.Fact{Kind: retake.FactSecret, What: retake.Added, Name: strings.Join(some, ", "), Path: path})
	}
	return rest
}

// diffValues removes the values that both lists have, as often as both have them, and sorts
// the rest.
func diffValues(was, is []string) (onlyWas, onlyIs []string) {
	slices.Sort(was)
	slices.Sort(is)
	for len(was) > 0 && len(is) > 0 {
		switch c := cmp.Compare(was[0], is[0]); {
		case c < 0:
			onlyWas, was = append(onlyWas, was[0]), was[1:]
		case c > 0:
			onlyIs, is = append(onlyIs, is[0]), is[1:]
		default:
			was, is = was[1:], is[1:]
		}
	}
	return append(onlyWas, was...), append(onlyIs, is...)
}

// factOrder lists the kinds of facts in the order in which they are reported.
var factOrder = []retake.FactKind{
	retake.FactPackage, retake.FactEnv, retake.FactSetting, retake.FactTable, retake.FactRows, retake.FactIndex,
	retake.FactUnit, retake.FactCron, retake.FactExecutable, retake.FactMode, retake.FactSecret,
}

func compareFacts(a, b retake.Fact) int {
	return cmp.Or(
		cmp.Compare(slices.Index(factOrder, a.Kind), slices.Index(factOrder, b.Kind)), cmp.Compare(a.Group, b.Group),
		cmp.Compare(sortPath(a), sortPath(b)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.What, b.What),
		cmp.Compare(a.Before, b.Before), cmp.Compare(a.After, b.After), cmp.Compare(a.Path, b.Path),
	)
}

// sortPath returns the path that a fact is sorted by; packages are sorted by name.
func sortPath(f retake.Fact) string {
	if f.Kind == retake.FactPackage {
		return ""
	}
	return f.Path
}
