package xray_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/xray"
)

func pkg(name, version string) retake.Trait {
	return retake.Trait{Kind: retake.FactPackage, Group: "npm", Name: name, Value: version}
}

func sided(path, reader string, traits ...retake.Trait) xray.SidedReading {
	return xray.SidedReading{Path: path, Entry: file(1), Reader: reader, Reading: xray.Reading{Traits: traits}}
}

func line(f retake.Fact) string {
	s := fmt.Sprintf("%s %s %s>%s %s", f.What, f.Name, f.Before, f.After, f.Path)
	if f.Direct {
		s += " direct"
	}
	return s
}

func factLines(facts []retake.Fact) []string {
	list := []string{}
	for _, f := range facts {
		list = append(list, line(f))
	}
	return list
}

// TestPackagesAreToldOnce holds what counts as one change of a package.
func TestPackagesAreToldOnce(t *testing.T) {
	t.Parallel()
	const one, lock, each = "node_modules/.package-lock.json", "package-lock.json", "npm-installed@1"
	direct := retake.Trait{Kind: "direct", Group: "npm", Name: "a"}
	maybe := retake.Trait{Kind: "maybe", Group: "npm", Name: "mac", Value: "1"}
	for name, c := range map[string]struct {
		before, after []xray.SidedReading
		want          []string
	}{
		"lock and tree are one, the tree shows it, a name that is asked for is direct": {
			[]xray.SidedReading{sided(lock, "npm-lock@1")},
			[]xray.SidedReading{sided(lock, "npm-lock@1", pkg("a", "1"), pkg("b", "1"), direct), sided("node_modules/a/package.json", each, pkg("a", "1"))},
			[]string{"added a >1 node_modules/a/package.json direct", "added b >1 package-lock.json"},
		},
		"one went and one came": {
			[]xray.SidedReading{sided("node_modules/a/package.json", each, pkg("a", "1"))},
			[]xray.SidedReading{sided("node_modules/a/package.json", each, pkg("a", "2"))},
			[]string{"edited a 1>2 node_modules/a/package.json"},
		},
		"several came": {
			[]xray.SidedReading{sided(lock, "npm-lock@1", pkg("a", "1"))},
			[]xray.SidedReading{sided(lock, "npm-lock@1", pkg("a", "2"), pkg("a", "3"))},
			[]string{"added a >2 package-lock.json", "added a >3 package-lock.json", "deleted a 1> package-lock.json"},
		},
		"a second copy of what the list has is nothing": {
			[]xray.SidedReading{sided(one, "npm-listed@1", pkg("a", "1"))},
			[]xray.SidedReading{sided(one, "npm-listed@1", pkg("a", "1"), pkg("b", "1")), sided("node_modules/b/node_modules/a/package.json", each, pkg("a", "1"))},
			[]string{"added b >1 node_modules/.package-lock.json"},
		},
		"what was locked is installed": {
			[]xray.SidedReading{sided(lock, "npm-lock@1", pkg("a", "1"))},
			[]xray.SidedReading{sided(lock, "npm-lock@1", pkg("a", "1"), pkg("b", "1")), sided("node_modules/a/package.json", each, pkg("a", "1"))},
			[]string{"added a >1 node_modules/a/package.json", "added b >1 package-lock.json"},
		},
		"a package that moved is nothing": {
			[]xray.SidedReading{sided("x/node_modules/a/package.json", each, pkg("a", "1"))},
			[]xray.SidedReading{sided("y/node_modules/a/package.json", each, pkg("a", "1"))},
			[]string{},
		},
		"a package for other machines counts when only the lock file tells": {
			nil, []xray.SidedReading{sided(lock, "npm-lock@1", maybe)}, []string{"added mac >1 package-lock.json"},
		},
		"and not when the tree tells": {
			nil, []xray.SidedReading{sided(lock, "npm-lock@1", maybe, pkg("a", "1")), sided("node_modules/a/package.json", each, pkg("a", "1"))},
			[]string{"added a >1 node_modules/a/package.json"},
		},
	} {
		if d := gocmp.Diff(c.want, factLines(xray.CompareReadings(c.before, c.after))); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

func TestWhatCouldNotBeReadIsNotCompared(t *testing.T) {
	t.Parallel()
	bad := sided(".env", "env@1")
	bad.Reading.Why = "too large (2 MB)"
	good := sided(".env", "env@1", retake.Trait{Kind: retake.FactEnv, Name: "A", Value: "x"})
	if facts := xray.CompareReadings([]xray.SidedReading{good}, []xray.SidedReading{bad}); len(facts) != 0 {
		t.Errorf("keys are told as deleted: %v", facts)
	}
	if facts := xray.CompareReadings([]xray.SidedReading{good}, nil); len(facts) != 1 {
		t.Errorf("a file that went is not told: %v", facts)
	}
}

func entry(path string, e retake.Entry) []xray.SidedReading {
	var all []xray.SidedReading
	for _, name := range xray.ReadersFor(path, e) {
		if xray.IsCacheable(name) {
			continue
		}
		r, err := xray.NewPool(nil).Read(context.Background(), []xray.Request{{Reader: name, Path: path, Entry: e}})
		if err != nil {
			panic(err)
		}
		all = append(all, xray.SidedReading{Path: path, Entry: e, Reader: name, Reading: r[0]})
	}
	return all
}

func TestFactsOfEntries(t *testing.T) {
	t.Parallel()
	mode := func(m uint32) retake.Entry { return retake.Entry{Kind: retake.KindFile, Mode: m, Size: 1} }
	for name, c := range map[string]struct {
		before, after []xray.SidedReading
		want          []string
	}{
		"a program came":          {nil, entry("usr/local/bin/x", mode(0o755)), []string{"added usr/local/bin/x > usr/local/bin/x"}},
		"a program went":          {entry("usr/local/bin/x", mode(0o755)), nil, []string{}},
		"a script became one":     {entry("bin/x", mode(0o644)), entry("bin/x", mode(0o755)), []string{"added bin/x > bin/x", "edited bin/x 0644>0755 bin/x"}},
		"setuid":                  {entry("a", mode(0o755)), entry("a", mode(0o4755)), []string{"edited a 0755>4755 a"}},
		"a file became a symlink": {entry("a", mode(0o755)), entry("a", retake.Entry{Kind: retake.KindSymlink, Mode: 0o777}), []string{}},
	} {
		if d := gocmp.Diff(c.want, factLines(xray.CompareReadings(c.before, c.after))); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

func TestRowsUnitsAndCron(t *testing.T) {
	t.Parallel()
	table := func(name, columns, rows string) []retake.Trait {
		return []retake.Trait{{Kind: retake.FactTable, Name: name, Value: columns}, {Kind: retake.FactRows, Name: name, Value: rows}}
	}
	before := []xray.SidedReading{sided("a.db", "sqlite@1", slices.Concat(table("same", "id", "1"), table("grew", "id", "1"), table("gone", "id", "3"), table("hollow", "id", "0"))...)}
	after := []xray.SidedReading{sided("a.db", "sqlite@1", slices.Concat(table("same", "id", "1"), table("grew", "id, b", "2"), table("new", "id", "4"), table("empty", "id", "0"))...)}
	facts := xray.CompareReadings(before, after)
	var got []string
	for _, f := range facts {
		if f.Group != "a.db" || f.Path != "a.db" {
			t.Errorf("%+v", f)
		}
		got = append(got, fmt.Sprintf("%s %s %s %s>%s", f.Kind, f.What, f.Name, f.Before, f.After))
	}
	want := []string{
		"table added empty >id", "table deleted gone id>", "table edited grew id>id, b", "table deleted hollow id>", "table added new >id",
		"rows deleted gone 3>", "rows edited grew 1>2", "rows added new >4",
	}
	if d := gocmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	unit := func(start string) []xray.SidedReading {
		return side("etc/systemd/system/api.service", "unit@1", "[Service]\nRestart=always\nExecStart="+start+"\n")
	}
	if d := gocmp.Diff([]string{"edited api.service a>b etc/systemd/system/api.service"}, factLines(xray.CompareReadings(unit("a"), unit("b")))); d != "" {
		t.Error(d)
	}
	was, is := side("crontab", "crontab@1", "1 * * * * a\n2 * * * * a\n"), side("crontab", "crontab@1", "1 * * * * a\n3 * * * * a\n4 * * * * b\n")
	if d := gocmp.Diff([]string{"edited a 2 * * * *>3 * * * * crontab", "added b >4 * * * * crontab"}, factLines(xray.CompareReadings(was, is))); d != "" {
		t.Error(d)
	}
}

// sides draws what readers might have read.
func sides() *rapid.Generator[[]xray.SidedReading] {
	return rapid.Custom(func(t *rapid.T) []xray.SidedReading {
		type from struct{ path, reader string }
		pick := rapid.SampledFrom([]from{
			{"package-lock.json", "npm-lock@1"}, {"node_modules/a/package.json", "npm-installed@1"}, {".env", "env@1"}, {"c.json", "json@2"}, {"a.db", "sqlite@1"}, {"crontab", "crontab@1"},
		})
		kinds := map[string][]retake.FactKind{
			"npm-lock@1": {retake.FactPackage, "direct", "maybe"}, "npm-installed@1": {retake.FactPackage}, "env@1": {retake.FactEnv}, "json@2": {retake.FactSetting},
			"sqlite@1": {retake.FactTable, retake.FactRows, retake.FactIndex}, "crontab@1": {retake.FactCron},
		}
		var all []xray.SidedReading
		for _, f := range rapid.SliceOfNDistinct(pick, 0, 6, func(f from) string { return f.path }).Draw(t, "files") {
			s := sided(f.path, f.reader)
			for range rapid.IntRange(0, 4).Draw(t, "traits") {
				trait := retake.Trait{Kind: rapid.SampledFrom(kinds[f.reader]).Draw(t, "kind"), Name: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "name"), Value: rapid.SampledFrom([]string{"0", "1", "2"}).Draw(t, "value")}
				if trait.Kind == retake.FactPackage || trait.Kind == "maybe" || trait.Kind == "direct" {
					trait.Group = "npm"
				}
				s.Reading.Traits = append(s.Reading.Traits, trait)
			}
			if rapid.IntRange(0, 9).Draw(t, "bad") == 0 {
				s.Reading = xray.Reading{Why: "took too long"}
			}
			all = append(all, s)
		}
		return all
	})
}

func bare(facts []retake.Fact, swap bool) []string {
	var list []string
	for _, f := range facts {
		f.Path = ""
		if swap {
			f.Before, f.After = f.After, f.Before
			f.What = cmp.Or(map[retake.Difference]retake.Difference{retake.Added: retake.Deleted, retake.Deleted: retake.Added}[f.What], f.What)
		}
		b, _ := json.Marshal(f)
		list = append(list, string(b))
	}
	slices.Sort(list)
	return list
}

// TestLawsOfFacts holds for whatever was read: equal sides tell nothing, swapped sides
// tell the opposite, the order of what was read does not matter, and no fact comes twice.
func TestLawsOfFacts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := sides().Draw(t, "a"), sides().Draw(t, "b")
		if facts := xray.CompareReadings(a, a); len(facts) != 0 {
			t.Fatalf("equal sides: %v", facts)
		}
		there, back := xray.CompareReadings(a, b), xray.CompareReadings(b, a)
		if d := gocmp.Diff(bare(there, true), bare(back, false)); d != "" {
			t.Fatalf("swapped: %s", d)
		}
		shuffled := slices.Clone(b)
		slices.Reverse(shuffled)
		if d := gocmp.Diff(there, xray.CompareReadings(a, shuffled)); d != "" {
			t.Fatalf("another order: %s", d)
		}
		if !slices.IsSortedFunc(there, func(a, b retake.Fact) int { return cmp.Compare(kindRank(a), kindRank(b)) }) || len(slices.Compact(slices.Clone(there))) != len(there) {
			t.Fatalf("not sorted, or twice: %v", there)
		}
	})
}

func kindRank(f retake.Fact) int {
	return slices.Index([]retake.FactKind{retake.FactPackage, retake.FactEnv, retake.FactSetting, retake.FactTable, retake.FactRows, retake.FactIndex, retake.FactCron}, f.Kind)
}
