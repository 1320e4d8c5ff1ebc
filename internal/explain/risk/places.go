package risk

import (
	"path"
	"slices"
	"strings"
)

// maxBases is how many directories are followed in which a command may run.
const maxBases = 8

// workDirs are the directories that relative paths may begin in. A path is absolute, relative to
// where the call begins ("" is that place), or "~" and "~/..." for the home directory. Its lists
// are never changed, so that copies can be kept.
type workDirs struct {
	current []string // after every cd that worked
	earlier []string // before one of them: a cd may fail
	unknown bool     // a cd leads to where only a shell can tell
	name    string   // of the current one, as written; empty: where the call begins
}

// all returns all directories that relative paths may begin in, the current ones first.
func (d workDirs) all() []string {
	if len(d.earlier) == 0 {
		return d.current
	}
	return appendNew(slices.Clone(d.current), d.earlier)
}

func appendNew(list, more []string) []string {
	for _, m := range more {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// changeTo returns the directories after a cd.
func (d workDirs) changeTo(forms []form) workDirs {
	next := workDirs{current: joinAll(d.current, forms), earlier: appendNew(slices.Clone(d.earlier), d.current)}
	next.unknown = len(next.current) == 0 || d.unknown && !areFixed(forms) || len(next.current)+len(next.earlier) > maxBases
	if next.unknown {
		next.current, next.earlier = d.current, d.earlier
	}
	return next
}

// below returns the directories of a program that is told to work in another one.
func (d workDirs) below(name string, forms []form) workDirs {
	next := workDirs{current: joinAll(d.current, forms), earlier: joinAll(d.earlier, forms), name: name}
	next.unknown = len(next.current) == 0 || d.unknown && !areFixed(forms)
	return next
}

// back returns the directories after a return to the last one.
func (d workDirs) back() workDirs {
	if len(d.earlier) == 0 {
		d.unknown = true
		return d
	}
	last := d.earlier[len(d.earlier)-1]
	return workDirs{current: []string{last}, earlier: appendNew(slices.Clone(d.earlier), d.current), unknown: d.unknown}
}

// joinAll returns the directories that forms of a word lead to; none if only a shell can tell.
func joinAll(bases []string, forms []form) []string {
	var out []string
	for _, f := range forms {
		if f.unknown || f.glob {
			return nil
		}
		for _, base := range bases {
			place := f.under(base)
			if place == "." {
				place = ""
			}
			out = appendNew(out, []string{place})
		}
	}
	if len(out) > maxBases {
		return nil
	}
	return out
}

// areFixed reports whether places do not depend on the directory before.
func areFixed(forms []form) bool {
	return !slices.ContainsFunc(forms, func(f form) bool { return f.isRelative() })
}

// under returns the place that a known form names in a directory.
func (f form) under(base string) string {
	switch {
	case f.home:
		return joinPlace("~", strings.TrimLeft(f.text, "/"))
	case f.start:
		return joinPlace("", strings.TrimLeft(f.text, "/"))
	case path.IsAbs(f.text):
		return path.Clean(f.text)
	}
	return joinPlace(base, f.text)
}

func (f form) isRelative() bool { return !f.home && !f.start && !path.IsAbs(f.text) }

// joinPlace joins a directory and a relative path. A ".." may lead out of the home directory, and a
// name that begins with "~" is not the home directory.
func joinPlace(base, p string) string {
	if rest, ok := strings.CutPrefix(base, "~"); ok {
		p = path.Join(strings.TrimPrefix(rest, "/"), p)
		if p == "" || p == "." {
			return "~"
		}
		return "~/" + p
	}
	p = path.Join(base, p)
	switch {
	case p == "":
		return "."
	case p[0] == '~':
		return "./" + p
	}
	return p
}

// places returns where a form may point, or nil if only a shell could tell.
func (j *callJudge) places(f form) []string {
	if f.unknown || j.elsewhere || len(f.text) > maxPathBytes || f.isRelative() && j.where.unknown {
		return nil
	}
	if !f.isRelative() {
		return j.paid([]string{f.under("")})
	}
	var out []string
	for _, base := range j.where.all() {
		if f.glob {
			base = escapeGlob(base)
		}
		out = appendNew(out, []string{f.under(base)})
	}
	return j.paid(out)
}

// linkedPlaces returns where a form points if a name before a ".." is a link: a path with that "..".
func linkedPlaces(j *callJudge, f form) []string {
	if !leavesName(f.text) || f.unknown || f.glob || j.elsewhere || len(f.text) > maxPathBytes || f.isRelative() && j.where.unknown {
		return nil
	}
	switch {
	case f.home:
		return j.paid([]string{"~/" + strings.TrimLeft(f.text, "/")})
	case f.start:
		return j.paid([]string{strings.TrimLeft(f.text, "/")})
	case path.IsAbs(f.text):
		return j.paid([]string{f.text})
	}
	var out []string
	for _, base := range j.where.all() {
		if base != "" {
			base += "/"
		}
		out = append(out, base+f.text)
	}
	return j.paid(out)
}

// leavesName reports whether a path has a ".." after a name.
func leavesName(p string) bool {
	named := false
	for e := range strings.SplitSeq(p, "/") {
		if e == ".." && named {
			return true
		}
		named = named || e != "" && e != "." && e != ".."
	}
	return false
}

// paid returns the paths if the budget of the call allows them.
func (j *callJudge) paid(paths []string) []string {
	for _, p := range paths {
		if j.formBudget -= len(p); j.formBudget < 0 {
			return nil
		}
	}
	return paths
}

// judgeCd records where relative paths begin from now on.
func judgeCd(j *callJudge, c *command) {
	to := c.operandWords("")
	switch {
	case len(to) == 0 && containsWord("popd pushd", c.name()), len(to) == 1 && to[0].text == "-":
		j.where = j.where.back()
	case len(to) == 0:
		j.where = j.where.changeTo([]form{{home: true}})
	case len(to) == 1:
		j.where = j.where.changeTo(j.wordForms(c, to[0]))
	default:
		j.where.unknown = true
	}
}

// inDirectory judges a command that is told to work in other directories, one after the other.
func (j *callJudge) inDirectory(c *command, dirs []word, judge func()) {
	before := j.where
	for _, d := range dirs {
		j.where = j.where.below(d.text, j.wordForms(c, d))
	}
	judge()
	if len(dirs) > 0 {
		j.where = before
	}
}

// projectFlags name the directory that build tools work in.
var projectFlags = map[string][]string{
	"make": {"-C", "--directory"}, "gmake": {"-C", "--directory"}, "ninja": {"-C"}, "meson": {"-C"}, "cmake": {"--build"},
	"npm": {"-C", "--prefix"}, "pnpm": {"-C", "--dir"}, "yarn": {"--cwd"}, "bun": {"--cwd"}, "gradle": {"-p", "--project-dir"}, "gradlew": {"-p", "--project-dir"},
	"just": {"-d", "--working-directory"}, "uv": {"--directory"}, "poetry": {"-C", "--directory"},
}

// inProject judges a command in the directory of its project.
func (j *callJudge) inProject(c *command, judge func()) {
	var dirs []word
	if flags := projectFlags[c.name()]; len(flags) > 0 {
		dirs = c.flagWords(flags...)
	}
	j.inDirectory(c, dirs, judge)
}
