package xray

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// packageID names a package.
type packageID struct{ group, name string }

// evidence is a file that proves a version of a package.
type evidence struct {
	path string
	rank evidenceRank
}

// isBetterThan reports whether e is the better proof: a better rank, then nearer to the
// root.
func (e evidence) isBetterThan(o evidence) bool {
	return cmp.Or(cmp.Compare(e.rank, o.rank), cmp.Compare(strings.Count(e.path, "/"), strings.Count(o.path, "/")), cmp.Compare(e.path, o.path)) < 0
}

// versionSet holds the best evidence for each version of each package.
type versionSet map[packageID]map[string]evidence

func (s versionSet) add(p packageID, version string, e evidence) {
	if s[p] == nil {
		s[p] = map[string]evidence{}
	}
	if old, ok := s[p][version]; !ok || e.isBetterThan(old) {
		s[p][version] = e
	}
}

// packageSet is what one side holds. Installed and locked packages are compared separately:
// a package is reported if either changed.
type packageSet struct {
	installed, locked versionSet
	direct            map[packageID]bool // requested by name
}

// comparePackages compares versions as sets: a package may be present in several versions,
// and a version at several places. One fact stands for all files that show it.
func comparePackages(before, after []SidedReading) []retake.Fact {
	known := installedGroups(before, after)
	b, a := collectPackages(before, known), collectPackages(after, known)
	went, came := versionSet{}, versionSet{}
	addMissing(b.installed, a.installed, went)
	addMissing(b.locked, a.locked, went)
	addMissing(a.installed, b.installed, came)
	addMissing(a.locked, b.locked, came)
	packs := maps.Clone(went)
	maps.Copy(packs, came)
	var facts []retake.Fact
	for p := range packs {
		for _, f := range packageChanges(p, went[p], came[p]) {
			f.Direct = f.What != retake.Added && b.direct[p] || f.What != retake.Deleted && a.direct[p]
			facts = append(facts, f)
		}
	}
	return facts
}

// installedGroups returns the package groups for which some file tells what is installed.
func installedGroups(before, after []SidedReading) map[string]bool {
	known := map[string]bool{}
	for _, s := range slices.Concat(before, after) {
		if r, _ := findReader(s.Reader); r.rank == rankLocked {
			continue
		}
		for _, t := range s.Reading.Traits {
			if t.Kind == retake.FactPackage {
				known[t.Group] = true
			}
		}
	}
	return known
}

// collectPackages collects the packages of one side and marks those that are requested
// directly. Platform-specific packages of a lock file count only if nothing tells what is
// installed.
func collectPackages(side []SidedReading, known map[string]bool) packageSet {
	st := packageSet{versionSet{}, versionSet{}, map[packageID]bool{}}
	for _, s := range side {
		r, _ := findReader(s.Reader)
		for _, t := range s.Reading.Traits {
			p := packageID{t.Group, t.Name}
			switch {
			case t.Kind == kindDirect:
				st.direct[p] = true
			case t.Kind == retake.FactPackage, t.Kind == kindMaybe && !known[t.Group]:
				st.direct[p] = st.direct[p] || t.Direct
				to := st.installed
				if r.rank == rankLocked {
					to = st.locked
				}
				to.add(p, t.Value, evidence{s.Path, r.rank})
			default:
			}
		}
	}
	return st
}

// addMissing adds to the set to what is in a and not in b.
func addMissing(a, b, to versionSet) {
	for p, versions := range a {
		for v, e := range versions {
			if _, ok := b[p][v]; !ok {
				to.add(p, v, e)
			}
		}
	}
}

// packageChanges returns the facts about one package: a single one if one version replaced
// another, else one for each version. A version that only moved to another file is not
// reported.
func packageChanges(p packageID, went, came map[string]evidence) []retake.Fact {
	was, is := diffValues(slices.Collect(maps.Keys(went)), slices.Collect(maps.Keys(came)))
	fact := retake.Fact{Kind: retake.FactPackage, What: retake.Edited, Group: p.group, Name: p.name}
	if len(was) == 1 && len(is) == 1 {
		fact.Before, fact.After, fact.Path = shownValue(was[0]), shownValue(is[0]), came[is[0]].path
		return []retake.Fact{fact}
	}
	var facts []retake.Fact
	for _, v := range was {
		fact.What, fact.Before, fact.Path = retake.Deleted, shownValue(v), went[v].path
		facts = append(facts, fact)
	}
	fact.Before = ""
	for _, v := range is {
		fact.What, fact.After, fact.Path = retake.Added, shownValue(v), came[v].path
		facts = append(facts, fact)
	}
	return facts
}
