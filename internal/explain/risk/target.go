package risk

import (
	"slices"
	"strings"
)

// Limits of the targets of one judgement.
const (
	maxTargets    = 64
	maxForms      = 64        // that one word stands for
	maxPathBytes  = 4096      // of one path; no system knows longer ones
	maxFormBytes  = 256 << 10 // of all paths that are built for one call
	maxTargetName = 80        // bytes
)

// Target is a file or directory that a danger destroys or writes over, as the call names it.
type Target struct {
	Name   string   // as written, for people, with secrets masked, at most maxTargetName bytes
	Paths  []string // where it may be, a ".." after a name if that may be a link: absolute, "~" or "~/..." for the home directory, or relative to where the call begins; nil: only the running shell could tell
	Glob   bool     // Paths have patterns in the form of path.Match; "**" may occur
	Follow bool     // the content behind a link is destroyed, not the link itself

	dirs bool // of an overwrite: what is below a directory there is written over, too
}

// Targets returns the targets of all dangers, each once, at most maxTargets; more is set if some
// were left out, or a danger may destroy files that nobody can name before it runs.
func (j Judgement) Targets() (list []Target, more bool) {
	more = len(j.Dangers) >= maxDangers
	for _, d := range j.Dangers {
		for _, t := range d.Targets {
			more = more || len(t.Paths) == 0
			switch {
			case slices.ContainsFunc(list, t.equal):
			case len(list) >= maxTargets:
				return list, true
			default:
				list = append(list, t)
			}
		}
	}
	return list, more
}

func (t Target) equal(o Target) bool {
	return t.Name == o.Name && t.Glob == o.Glob && t.Follow == o.Follow && t.dirs == o.dirs && slices.Equal(t.Paths, o.Paths)
}

// others stands for targets that are not listed.
var others = Target{Name: "others"}

// addTargets adds targets to a list, each once. Beyond maxTargets the last one stands for the rest.
func addTargets(list, more []Target) []Target {
	list = slices.Clip(list) // the list may belong to another danger
	for _, t := range more {
		switch {
		case slices.ContainsFunc(list, t.equal):
		case len(list) >= maxTargets && list[maxTargets-1].equal(others):
			return list
		case len(list) >= maxTargets:
			list = slices.Clone(list)
			list[maxTargets-1] = others
			return list
		default:
			list = append(list, t)
		}
	}
	return list
}

// unnamedTarget is what a call destroys that no text names.
func unnamedTarget(what string) Target { return Target{Name: targetName(what)} }

func targetName(name string) string { return cleanText(name, maxTargetName-len("…")) }

// newTarget returns what one form of a word names.
func (j *callJudge) newTarget(name string, f form, follow bool) Target {
	t := Target{Name: targetName(name), Paths: appendNew(j.places(f), linkedPlaces(j, f)), Follow: follow || len(f.text) > 1 && strings.HasSuffix(f.text, "/")}
	t.Glob = f.glob && t.Paths != nil
	return t
}

// targetsOf returns what words of a command name.
func (j *callJudge) targetsOf(c *command, words []word, follow bool) []Target {
	var list []Target
	if len(j.result.Dangers) >= maxDangers {
		return nil // no more are recorded
	}
	for _, w := range words {
		if len(list) >= maxTargets {
			return addTargets(list, []Target{others})
		}
		list = addTargets(list, j.wordTargets(c, w, follow))
	}
	return list
}

// fileTargets returns what words of a command name, and the files that another program passes to it.
func (j *callJudge) fileTargets(c *command, words []word, follow bool) []Target {
	if at := slices.IndexFunc(words, func(w word) bool { return w.text == ":::" }); at >= 0 { // parallel rm ::: a b
		return j.targetsOf(c, slices.Delete(slices.Clone(words), at, at+1), follow)
	}
	list := j.targetsOf(c, words, follow)
	if c.generatedArgs && c.placeholder == "" {
		list = addTargets(list, j.foundTargets(c, follow))
	}
	return list
}

// wordTargets returns what one word names. Braces, loops and lists of words name several.
func (j *callJudge) wordTargets(c *command, w word, follow bool) []Target {
	switch {
	case isFreshTemp(w.text):
		return nil // the call itself made it
	case c.isPlaceholder(w.text):
		return j.foundTargets(c, follow)
	case c.generatedArgs && c.placeholder != "" && strings.Contains(w.text, c.placeholder):
		return []Target{unnamedTarget(w.text)}
	}
	forms := j.wordForms(c, w)
	list := make([]Target, 0, len(forms))
	for _, f := range forms {
		name := w.text
		if len(forms) > 1 {
			name = f.shown()
		}
		list = append(list, j.newTarget(name, f, follow || w.follow))
	}
	if w.follow {
		list = append(list, unnamedTarget("files behind links in "+w.text))
	}
	return list
}

// foundTargets returns where the files are that another program passes to the command.
func (j *callJudge) foundTargets(c *command, follow bool) []Target {
	if c.found == nil {
		return []Target{unnamedTarget("files listed when it runs")}
	}
	plain := *c
	plain.generatedArgs = false
	return j.targetsOf(&plain, c.found, follow)
}

// literalTarget returns the target of a path that no shell expands. Tools and code take a "~" in front
// for the home directory.
func (j *callJudge) literalTarget(p string, follow bool) Target {
	return j.newTarget(p, literalForm(p), follow)
}

// targetHere is the directory in which a command works.
func (j *callJudge) targetHere() Target {
	name := j.where.name
	if name == "" {
		name = "."
	}
	t := j.newTarget(name, form{text: "."}, false)
	if t.Paths == nil && name == "." {
		t.Name = "the directory that it runs in"
	}
	return t
}
