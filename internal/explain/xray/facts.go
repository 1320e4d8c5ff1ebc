package xray

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// Sided is what one reader read in one file, at one of two checkpoints.
type Sided struct {
	Path    string
	Entry   retake.Entry
	Reader  string
	Reading Reading
}

// Facts are what differs between the traits of two checkpoints: sorted, each once. Sides that
// are equal have none, and swapping them swaps added and deleted; of secrets and programs
// it is told only that they came. What could not be read on one side is not compared.
func Facts(before, after []Sided) []retake.Fact {
	before, after = readable(before, after), readable(after, before)
	facts := packageFacts(before, after)
	b, a := index(before), index(after)
	for key, old := range b {
		facts = append(facts, differences(key, old, a[key])...)
	}
	for key, now := range a {
		if b[key] == nil {
			facts = append(facts, differences(key, nil, now)...)
		}
	}
	facts = oneSecret(facts)
	slices.SortFunc(facts, order)
	return slices.Compact(facts)
}

// where is a file and who read it.
type where struct{ path, reader string }

// readable leaves out what could not be read, here or on the other side.
func readable(side, other []Sided) []Sided {
	bad := map[where]bool{}
	for _, s := range slices.Concat(side, other) {
		if s.Reading.Why != "" {
			bad[where{s.Path, s.Reader}] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(side), func(s Sided) bool { return bad[where{s.Path, s.Reader}] })
}

// key is one thing that a file may say, once or several times.
type key struct {
	path string
	kind retake.FactKind
	name string
}

// said is what it says of it, and what was there to say it.
type said struct {
	values []string
	entry  retake.Kind
}

func index(side []Sided) map[key]*said {
	all := map[key]*said{}
	for _, s := range side {
		for _, t := range s.Reading.Traits {
			k := key{s.Path, t.Kind, t.Name}
			switch t.Kind {
			case retake.FactPackage, kindDirect, kindMaybe:
				continue
			case retake.FactUnit:
				k.name = path.Base(s.Path)
			default:
			}
			if all[k] == nil {
				all[k] = &said{entry: s.Entry.Kind}
			}
			all[k].values = append(all[k].values, t.Value)
		}
	}
	return all
}

// differences are the facts of one thing. A name that comes several times, as a command in
// a crontab may, has one for each of its values that differs.
func differences(k key, old, now *said) []retake.Fact {
	var was, is []string
	if old != nil {
		was = slices.Clone(old.values)
	}
	if now != nil {
		is = slices.Clone(now.values)
	}
	was, is = apartOf(was, is)
	if !worth(k, old, now, was, is) {
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
		facts = append(facts, dress(f))
	}
	return facts
}

// worth holds what is told of some kinds only: a mode when there were two files, rows when
// there were any, a secret or a program when it came.
func worth(k key, old, now *said, was, is []string) bool {
	switch k.kind {
	case retake.FactMode:
		return old != nil && now != nil && old.entry == now.entry
	case retake.FactRows:
		return len(was) > 0 && len(is) > 0 || !slices.Equal(was, []string{"0"}) && !slices.Equal(is, []string{"0"})
	case retake.FactSecret, retake.FactExecutable:
		return old == nil
	default:
		return true
	}
}

// dress leaves of the values what people may see.
func dress(f retake.Fact) retake.Fact {
	f.Before, f.After = shown(f.Before), shown(f.After)
	if f.Kind == retake.FactEnv {
		f.Before, f.After = "", ""
	}
	return f
}

// oneSecret makes one fact of all kinds of secrets that came to one file.
func oneSecret(facts []retake.Fact) []retake.Fact {
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

// apartOf takes away what both have, as often as both have it, and sorts the rest.
func apartOf(was, is []string) (onlyWas, onlyIs []string) {
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

// kinds are the kinds of facts in the order in which people are told.
var kinds = []retake.FactKind{
	retake.FactPackage, retake.FactEnv, retake.FactSetting, retake.FactTable, retake.FactRows, retake.FactIndex,
	retake.FactUnit, retake.FactCron, retake.FactExecutable, retake.FactMode, retake.FactSecret,
}

func order(a, b retake.Fact) int {
	return cmp.Or(
		cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)), cmp.Compare(a.Group, b.Group),
		cmp.Compare(home(a), home(b)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.What, b.What),
		cmp.Compare(a.Before, b.Before), cmp.Compare(a.After, b.After), cmp.Compare(a.Path, b.Path),
	)
}

// home is the file that a fact is told with; packages are told by their names.
func home(f retake.Fact) string {
	if f.Kind == retake.FactPackage {
		return ""
	}
	return f.Path
}
