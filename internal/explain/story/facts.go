package story

import (
	"cmp"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// minusSign marks what was removed; a hyphen would read as part of a name.
const minusSign = "−"

// maxValueColumns is the most columns of a value that a point shows.
const maxValueColumns = 24

// isOutsideRoot reports whether a fact is about the machine and not about the workspace.
func isOutsideRoot(f retake.Fact) bool { return strings.HasPrefix(f.Path, "/") }

// groupFacts groups facts by a key, in the order in which the keys first appear.
func groupFacts(facts []retake.Fact, key func(retake.Fact) string) [][]retake.Fact {
	at := map[string]int{}
	var out [][]retake.Fact
	for _, f := range facts {
		k := key(f)
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], f)
	}
	return out
}

// factsOfKind returns the facts of the given kinds that are below the root.
func factsOfKind(facts []retake.Fact, kinds ...retake.FactKind) []retake.Fact {
	var list []retake.Fact
	for _, f := range facts {
		if !isOutsideRoot(f) && slices.Contains(kinds, f.Kind) {
			list = append(list, f)
		}
	}
	return list
}

// packageText describes the changes to the packages of one manager. A package that several
// files mention counts once.
func packageText(list []retake.Fact) string {
	by := map[retake.Difference][]retake.Fact{}
	at := map[string]int{}
	for _, f := range list {
		k := string(f.What) + " " + f.Name
		if i, twice := at[k]; !twice {
			at[k] = len(by[f.What])
			by[f.What] = append(by[f.What], f)
		} else if isExactVersion(f.After) && !isExactVersion(by[f.What][i].After) {
			by[f.What][i] = f
		}
	}
	came, went, changed := by[retake.Added], by[retake.Deleted], by[retake.Edited]
	group := list[0].Group
	if len(came)+len(went)+len(changed) == 1 {
		return group + " " + packageChangeText(slices.Concat(came, went, changed)[0])
	}
	return group + packageCountsText(len(came), len(went), len(changed)) + requestedPackagesText(went, changed, came)
}

// maxNamedPackages is how many packages are named beside a count.
const maxNamedPackages = 2

// requestedPackagesText names packages that were requested directly, taken from the first
// of the given lists that has any. The others came or went with them.
func requestedPackagesText(kinds ...[]retake.Fact) string {
	for _, list := range kinds {
		var names []string
		for _, f := range list {
			if f.Direct {
				names = append(names, packageNameText(f))
			}
		}
		if n := len(names); n > maxNamedPackages {
			names = append(names[:maxNamedPackages:maxNamedPackages], termtext.Count(int64(n-maxNamedPackages))+" more")
		}
		if len(names) > 0 {
			return " (" + strings.Join(names, ", ") + ")"
		}
	}
	return ""
}

// packageNameText names a package beside a count. An added package has no version there:
// the count already says it is new.
func packageNameText(f retake.Fact) string {
	if f.What == retake.Added {
		return "+" + shortValue(f.Name)
	}
	return packageChangeText(f)
}

// isExactVersion reports whether a version is exact and not a range: it begins with a
// digit.
func isExactVersion(version string) bool {
	return version != "" && version[0] >= '0' && version[0] <= '9'
}

// packageChangeText describes the change of a single package.
func packageChangeText(f retake.Fact) string {
	if f.What == retake.Added {
		return strings.TrimRight("+"+f.Name+" "+shortValue(f.After), " ")
	}
	return keyChangeText(f)
}

// packageCountsText counts the packages that were deleted, added and changed.
func packageCountsText(came, went, changed int) string {
	s := ""
	if went > 0 {
		s += " " + minusSign + termtext.Count(int64(went))
	}
	if came > 0 {
		s += " +" + termtext.Count(int64(came))
	}
	noun := " packages"
	if came+went == 1 {
		noun = " package"
	}
	switch {
	case s == "":
		return " " + termtext.Count(int64(changed)) + " packages changed"
	case changed == 0:
		return s + noun
	}
	return s + noun + ", " + termtext.Count(int64(changed)) + " changed"
}

// valueChangeText shows a value before and after. Long values that begin alike are shown
// from where they differ.
func valueChangeText(f retake.Fact) string {
	before, after := cmp.Or(f.Before, `""`), cmp.Or(f.After, `""`)
	if shortValue(before) == shortValue(after) {
		b, a := []rune(before), []rune(after)
		n := 0
		for n < min(len(b), len(a)) && b[n] == a[n] {
			n++
		}
		before, after = "…"+string(b[n:]), "…"+string(a[n:])
	}
	return shortValue(before) + arrow + shortValue(after)
}

// shortValue cuts a value to its first line and to maxValueColumns. It does not escape it;
// that is done where it is shown.
func shortValue(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if termtext.Width(s) > maxValueColumns {
		return termtext.Cut(s, maxValueColumns)
	}
	return s
}

// envKeysText describes the changed keys of one file, deleted ones first.
func envKeysText(list []retake.Fact) string {
	var went, came, changed []string
	for _, f := range list {
		switch f.What {
		case retake.Deleted:
			went = append(went, f.Name)
		case retake.Added:
			came = append(came, f.Name)
		default:
			changed = append(changed, f.Name)
		}
	}
	var parts []string
	for _, p := range []struct {
		sign  string
		names []string
	}{{minusSign, went}, {"+", came}} {
		switch {
		case len(p.names) == 1, len(p.names) == 2 && len(list) == 2:
			for _, n := range p.names {
				parts = append(parts, p.sign+n)
			}
		case len(p.names) > 0:
			parts = append(parts, p.sign+termtext.Count(int64(len(p.names)))+" keys")
		}
	}
	switch {
	case len(changed) == 1 && len(parts) == 0:
		parts = append(parts, changed[0]+" changed")
	case len(changed) > 0:
		parts = append(parts, termtext.Count(int64(len(changed)))+" changed")
	}
	return list[0].Path + " " + strings.Join(parts, " ")
}

// settingText describes the changed settings of one file. Of several, one that was deleted
// or edited is named: people miss what was there before.
func settingText(list []retake.Fact) string {
	list = mergeListFacts(list)
	f, rest := mostImportantFact(list)
	if rest > 0 && f.What == retake.Added {
		return f.Path + " +" + termtext.Count(int64(len(list))) + " keys"
	}
	text := f.Path + " " + keyChangeText(f)
	switch rest {
	case 0:
		return text
	case 1:
		return text + ", 1 more key"
	}
	return text + ", " + termtext.Count(int64(rest)) + " more keys"
}

// mergeListFacts merges the facts about a list whose length and entries both changed into
// one. Removing its first entry shifts all others, so their indexes say nothing.
func mergeListFacts(list []retake.Fact) []retake.Fact {
	kinds := map[string]map[bool]bool{} // of a list: whether entries were edited, and whether some were added or deleted
	for _, f := range list {
		if name := listKey(f); name != "" {
			if kinds[name] == nil {
				kinds[name] = map[bool]bool{}
			}
			kinds[name][f.What == retake.Edited] = true
		}
	}
	var out []retake.Fact
	told := map[string]bool{}
	for _, f := range list {
		name := listKey(f)
		if len(kinds[name]) < 2 {
			out = append(out, f)
		} else if !told[name] {
			told[name] = true
			out = append(out, retake.Fact{Kind: f.Kind, What: retake.Edited, Name: name, Path: f.Path})
		}
	}
	return out
}

// listKey returns the key of the list that a setting is in, or "" if it is in none.
func listKey(f retake.Fact) string {
	parts := strings.Split(f.Name, ".")
	i := slices.IndexFunc(parts, func(p string) bool { return p != "" && strings.Trim(p, "0123456789") == "" })
	switch i {
	case -1:
		return ""
	case 0:
		return "list"
	}
	return strings.Join(parts[:i], ".")
}

// mostImportantFact returns the first deleted fact, else the first edited one, else the
// first, and how many others there are.
func mostImportantFact(list []retake.Fact) (f retake.Fact, rest int) {
	for _, what := range []retake.Difference{retake.Deleted, retake.Edited} {
		if i := slices.IndexFunc(list, func(f retake.Fact) bool { return f.What == what }); i >= 0 {
			return list[i], len(list) - 1
		}
	}
	return list[0], len(list) - 1
}

// keyChangeText describes the change of one key and its value.
func keyChangeText(f retake.Fact) string {
	switch {
	case f.What == retake.Added:
		return "+" + f.Name
	case f.What == retake.Deleted:
		return minusSign + f.Name
	case f.Before == f.After: // hidden, or not known
		return f.Name + " changed"
	}
	return f.Name + " " + valueChangeText(f)
}

// factText describes a single fact.
func factText(f retake.Fact) string {
	switch f.Kind {
	case retake.FactUnit:
		return "systemd " + keyChangeText(f)
	case retake.FactCron:
		return "cron " + keyChangeText(f)
	case retake.FactExecutable:
		return "program " + keyChangeText(f)
	case retake.FactProfile:
		return "profile " + baseName(f.Name) + map[retake.Difference]string{retake.Added: " added", retake.Deleted: " deleted"}[f.What]
	case retake.FactPort:
		return portText(f)
	case retake.FactGit:
		return f.GitWords()
	case retake.FactPackage:
		return packageText([]retake.Fact{f})
	case retake.FactSecret:
		return "looks like a secret: " + f.Path
	case retake.FactMode:
		return f.Path + " " + valueChangeText(f)
	case retake.FactEnv:
		return envKeysText([]retake.Fact{f})
	case retake.FactSetting:
		return settingText([]retake.Fact{f})
	case retake.FactTable, retake.FactRows, retake.FactIndex:
		return databaseText([]retake.Fact{f})
	default:
		return f.Path + " " + keyChangeText(f)
	}
}

func portText(f retake.Fact) string {
	number := f.Name[strings.LastIndexByte(f.Name, ' ')+1:]
	switch {
	case f.What == retake.Deleted:
		return "port " + number + " stopped"
	case f.What == retake.Added && f.After != "":
		return "port " + number + " opened by " + shortValue(f.After)
	case f.What == retake.Added:
		return "port " + number + " opened"
	}
	return "port " + number + " " + valueChangeText(f)
}

// isEnvFile reports whether a path is a .env file, where secrets are expected.
func isEnvFile(path string) bool { return pathclass.Of(path) == pathclass.Env }
