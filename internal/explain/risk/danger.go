package risk

import (
	"path"
	"slices"
	"strings"
)

// Bounds of one judgement.
const (
	maxDangers = 32
	maxTargets = 64
	maxBases   = 8
)

// Danger is one thing that a call may destroy.
type Danger struct {
	Rule string
	Why  string

	verb string   // of one that only writes over files
	over []target // what it writes over; without one the danger is there whatever exists
}

// target is a file that is written over, if it is there.
type target struct {
	name   string   // as written
	places []string // where it may be: absolute, or as seen from where the call begins; none: only the shell knows
}

// endangers records a danger. Equal ones are one, and files that are written over in the
// same way are told together.
func (j *judge) endangers(d Danger) {
	for i := range j.out.Dangers {
		have := &j.out.Dangers[i]
		switch {
		case have.Rule == d.Rule && have.Why == d.Why:
			return
		case d.verb != "" && have.verb == d.verb && len(have.over) < maxTargets:
			*have = overwriting(d.verb, append(slices.Clone(have.over), d.over...))
			return
		}
	}
	if len(j.out.Dangers) < maxDangers {
		j.out.Dangers = append(j.out.Dangers, d)
	}
}

// overwrites records that files are written over, if they are there.
func (j *judge) overwrites(verb string, paths []string) {
	if len(j.out.Dangers) >= maxDangers {
		return
	}
	var over []target
	for _, p := range paths[:min(len(paths), maxTargets)] {
		over = append(over, target{name: p, places: j.placesOf(p)})
	}
	j.endangers(overwriting(verb, over))
}

func overwriting(verb string, over []target) Danger {
	list := make([]string, len(over))
	for i, t := range over {
		list[i] = t.name
	}
	return Danger{Rule: "overwrite-files", Why: plain(names(verb, list), 120), verb: verb, over: over}
}

// placesOf are where a path may lead.
func (j *judge) placesOf(p string) []string {
	if j.lost || strings.ContainsAny(p, "$`*?[{~\\") {
		return nil
	}
	if path.IsAbs(p) {
		return []string{path.Clean(p)}
	}
	var out []string
	for _, base := range j.bases {
		out = append(out, path.Join(base, p))
	}
	return out
}

// changesDir notes where relative paths may begin from now on. A cd may fail, or be undone
// at the end of a subshell, so that where it was before stays possible.
func (j *judge) changesDir(c *command) {
	to := c.operands("")
	if len(to) != 1 || len(j.bases) >= maxBases || strings.ContainsAny(to[0], "$`*?[{~\\") || to[0] == "-" {
		j.lost = true
		return
	}
	for _, base := range slices.Clone(j.bases) {
		next := path.Clean(to[0])
		if !path.IsAbs(next) {
			next = path.Join(base, next)
		}
		if !slices.Contains(j.bases, next) {
			j.bases = append(j.bases, next)
		}
	}
}

// worstFirst puts the worst danger first.
func worstFirst(out Judgement) Judgement {
	slices.SortStableFunc(out.Dangers, func(a, b Danger) int { return b.weight() - a.weight() })
	out.Destructive, out.Rule, out.Why = false, "", ""
	if len(out.Dangers) > 0 {
		out.Destructive, out.Rule, out.Why = true, out.Dangers[0].Rule, out.Dangers[0].Why
	}
	return out
}

// weight orders dangers: what takes everything, then what takes data, then files, then what
// can be made again.
func (d Danger) weight() int {
	switch d.Rule {
	case "delete-files", "take-away":
		if takesAll(d.Why) {
			return 9
		}
		return 6
	case "sql-destroy", "volumes":
		return 8
	case "git-discard", "sync-delete", "code":
		return 7
	case "migrate", "git-refs", "git-rewrite", "foreign-script", "mcp-destructive":
		return 5
	case "unread":
		return 1
	case "overwrite-files":
		return 2
	default:
		return 4
	}
}

// takesAll reports whether a deletion names the home, the root, or all that is here.
func takesAll(why string) bool {
	for _, w := range strings.Fields(strings.ReplaceAll(why, ",", " ")) {
		switch strings.TrimSuffix(w, "/") {
		case "", "~", "$HOME", "${HOME}", ".", "..", "*", "./*", "~/*", "$HOME/*", "/*", ".git":
			return true
		}
	}
	return false
}

// Known leaves out what would be written over and is not there: to make a file destroys
// nothing. Exists is asked for absolute paths, and for paths as seen from where the call
// begins.
func (j Judgement) Known(exists func(place string) bool) Judgement {
	var kept []Danger
	for _, d := range j.Dangers {
		if d.verb == "" {
			kept = append(kept, d)
			continue
		}
		there := slices.DeleteFunc(slices.Clone(d.over), func(t target) bool {
			return len(t.places) > 0 && !slices.ContainsFunc(t.places, exists)
		})
		if len(there) > 0 {
			kept = append(kept, overwriting(d.verb, there))
		}
	}
	j.Dangers = kept
	return worstFirst(j)
}

// All says all dangers in one line, the worst first.
func (j Judgement) All() string {
	list := make([]string, len(j.Dangers))
	for i, d := range j.Dangers {
		list[i] = d.Why
	}
	return strings.Join(list, "; ")
}
