package xray

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// pack is a package by its name.
type pack struct{ group, name string }

// evidence is a file that shows a version.
type evidence struct {
	path string
	rank rank
}

// better reports whether e shows a package better: as what it is, and near the root.
func (e evidence) better(o evidence) bool {
	return cmp.Or(cmp.Compare(e.rank, o.rank), cmp.Compare(strings.Count(e.path, "/"), strings.Count(o.path, "/")), cmp.Compare(e.path, o.path)) < 0
}

// shelf is what shows the versions of packages.
type shelf map[pack]map[string]evidence

func (s shelf) put(p pack, version string, e evidence) {
	if s[p] == nil {
		s[p] = map[string]evidence{}
	}
	if old, ok := s[p][version]; !ok || e.better(old) {
		s[p][version] = e
	}
}

// stock is what one side holds. What is installed and what is locked are compared apart: a
// package is told when either changed.
type stock struct {
	installed, locked shelf
	direct            map[pack]bool // somebody asks for it by name
}

// packageFacts compares versions as sets: a package may be there in several, and one
// version at several places. One fact stands for all files that show it.
func packageFacts(before, after []Sided) []retake.Fact {
	known := groups(before, after)
	b, a := stockOf(before, known), stockOf(after, known)
	went, came := shelf{}, shelf{}
	missing(b.installed, a.installed, went)
	missing(b.locked, a.locked, went)
	missing(a.installed, b.installed, came)
	missing(a.locked, b.locked, came)
	packs := maps.Clone(went)
	maps.Copy(packs, came)
	var facts []retake.Fact
	for p := range packs {
		for _, f := range changes(p, went[p], came[p]) {
			f.Direct = f.What != retake.Added && b.direct[p] || f.What != retake.Deleted && a.direct[p]
			facts = append(facts, f)
		}
	}
	return facts
}

// groups are those of which something tells what is installed.
func groups(before, after []Sided) map[string]bool {
	known := map[string]bool{}
	for _, s := range slices.Concat(before, after) {
		if r, _ := find(s.Reader); r.rank == locked {
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

// stockOf sorts the packages of one side, and notes those that somebody asks for. What a
// lock file holds for some machines counts only when nothing tells what is installed.
func stockOf(side []Sided, known map[string]bool) stock {
	st := stock{shelf{}, shelf{}, map[pack]bool{}}
	for _, s := range side {
		r, _ := find(s.Reader)
		for _, t := range s.Reading.Traits {
			p := pack{t.Group, t.Name}
			switch {
			case t.Kind == kindDirect:
				st.direct[p] = true
			case t.Kind == retake.FactPackage, t.Kind == kindMaybe && !known[t.Group]:
				st.direct[p] = st.direct[p] || t.Direct
				to := st.installed
				if r.rank == locked {
					to = st.locked
				}
				to.put(p, t.Value, evidence{s.Path, r.rank})
			default:
			}
		}
	}
	return st
}

// missing puts what is in a and not in b.
func missing(a, b, to shelf) {
	for p, versions := range a {
		for v, e := range versions {
			if _, ok := b[p][v]; !ok {
				to.put(p, v, e)
			}
		}
	}
}

// changes are the facts of one package: one when one version went and one came, otherwise
// one for each. What went at one place and came at another only moved.
func changes(p pack, went, came map[string]evidence) []retake.Fact {
	was, is := apartOf(slices.Collect(maps.Keys(went)), slices.Collect(maps.Keys(came)))
	fact := retake.Fact{Kind: retake.FactPackage, What: retake.Edited, Group: p.group, Name: p.name}
	if len(was) == 1 && len(is) == 1 {
		fact.Before, fact.After, fact.Path = shown(was[0]), shown(is[0]), came[is[0]].path
		return []retake.Fact{fact}
	}
	var facts []retake.Fact
	for _, v := range was {
		fact.What, fact.Before, fact.Path = retake.Deleted, shown(v), went[v].path
		facts = append(facts, fact)
	}
	fact.Before = ""
	for _, v := range is {
		fact.What, fact.After, fact.Path = retake.Added, shown(v), came[v].path
		facts = append(facts, fact)
	}
	return facts
}
