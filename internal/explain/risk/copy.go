package risk

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

const copyValueFlags = "-t -S --target-directory --suffix"

// copying is a command that writes files to a place.
type copying struct {
	c       *command
	sources []word
	to      word
	intoDir bool // the place is a directory
	asFile  bool // the place is no directory
	trees   bool // directories are copied, too
	follow  bool // a link at the place is followed
}

// newCopying returns what a command such as cp copies; false if it names no place.
func newCopying(c *command, valueFlags string) (copying, bool) {
	x := copying{c: c, sources: c.operandWords(valueFlags), asFile: c.hasFlag("-T", "--no-target-directory")}
	if dirs := c.flagWords("-t", "--target-directory"); len(dirs) > 0 {
		x.to, x.intoDir = dirs[0], true
		return x, len(x.sources) > 0 || c.generatedArgs
	}
	last := len(x.sources) - 1
	if last < 0 {
		return x, false
	}
	x.to, x.sources = x.sources[last], x.sources[:last]
	x.intoDir = len(x.sources) > 1 || endsAsDirectory(x.to.text)
	return x, true
}

func endsAsDirectory(p string) bool {
	return strings.HasSuffix(p, "/") || strings.HasSuffix(p, "/.") || strings.HasSuffix(p, "/..") || p == "." || p == ".." || p == "~"
}

// overwritten returns the files at the place that are written over: the place itself, or the files with
// the names of the sources in it.
func (j *callJudge) overwritten(x copying) []Target {
	if len(j.result.Dangers) >= maxDangers {
		return nil
	}
	var list []Target
	for _, to := range j.wordForms(x.c, x.to) {
		if x.asFile || len(x.sources) == 0 && !x.intoDir {
			list = addTargets(list, []Target{j.newTarget(x.to.text, to, x.follow)})
			continue
		}
		for _, s := range x.sources {
			for _, source := range j.sourceForms(x.c, s) {
				list = addTargets(list, j.overwrittenBy(x, source, to))
			}
		}
		if x.c.generatedArgs && x.c.placeholder == "" {
			list = addTargets(list, j.overwrittenBy(x, form{unknown: true}, to))
		}
	}
	return list
}

// sourceForms returns what a source stands for.
func (j *callJudge) sourceForms(c *command, w word) []form {
	switch {
	case isFreshTemp(w.text):
		return []form{{text: "."}} // no other file has its name
	case c.generatedArgs && c.placeholder != "" && strings.Contains(w.text, c.placeholder):
		return []form{{unknown: true}}
	}
	return j.wordForms(c, w)
}

// overwrittenBy returns the files that one source is written over. If only a shell knows its name, that is
// everything at the place.
func (j *callJudge) overwrittenBy(x copying, source, to form) []Target {
	name := source.lastElement()
	place := j.newTarget(x.to.text, to, x.follow)
	if name.unknown || name.text == "" {
		place.dirs = name.unknown || x.trees // of "a/." everything goes to the place
		return []Target{place}
	}
	inside := j.newTarget(strings.TrimRight(x.to.text, "/")+"/"+name.shown(), name.within(to), x.follow)
	inside.dirs = x.trees
	if x.intoDir || name.glob {
		return []Target{inside}
	}
	either := inside
	either.Name, either.dirs, either.Paths = place.Name, false, appendNew(slices.Clone(inside.Paths), place.Paths)
	if x.trees {
		return []Target{either, inside}
	}
	return []Target{either}
}

// keepsBackups reports whether a copy never destroys what is at its place.
func keepsBackups(c *command) bool { return c.hasFlag("-n", "--no-clobber", "-b", "--backup") }

// judgeMv judges moves. A rename loses nothing, and the turn's checkpoint has what it may
// overwrite in the workspace. Forced moves count, and moves to where no checkpoint looks.
func judgeMv(j *callJudge, c *command) {
	x, ok := newCopying(c, copyValueFlags)
	if !ok || asksHelp(c) || keepsBackups(c) {
		return
	}
	last := x.to.text
	isHome := strings.HasPrefix(last, "~")
	if isScratchPath(last) || isHome {
		sources := x.sources
		if len(sources) == 0 && !x.intoDir {
			sources = []word{x.to}
		}
		if len(sources) > 0 && !isScratchPath(sources[0].text) {
			j.addDanger("take-away", joinNames("moves away", wordTexts(sources)), j.fileTargets(c, sources, false)...)
		}
	}
	switch {
	case isScratchPath(last):
	case c.hasFlag("-f", "--force") && !isHome:
		j.addOverwrite("moves over", j.overwritten(x))
	case len(x.sources) > 0:
		j.addOverwriteOutside("moves over", j.overwritten(x))
	}
}

// judgeCp judges copies. A copy writes like an editor does; in the workspace only forced ones count.
func judgeCp(j *callJudge, c *command) {
	x, ok := newCopying(c, copyValueFlags)
	if !ok || len(x.sources) == 0 || asksHelp(c) || isScratchPath(x.to.text) {
		return
	}
	x.trees, x.follow = c.hasFlag("-r", "-R", "-a", "--recursive", "--archive"), !c.hasFlag("--remove-destination")
	switch {
	case c.hasFlag("-f", "--force", "--remove-destination"):
		j.addOverwrite("copies over", j.overwritten(x))
	case !keepsBackups(c):
		j.addOverwriteOutside("copies over", j.overwritten(x))
	}
}

// judgeLn judges links. Without -f, ln writes over nothing.
func judgeLn(j *callJudge, c *command) {
	x, ok := newCopying(c, "-t -S --target-directory --suffix")
	x.asFile = x.asFile || c.hasFlag("-n", "--no-dereference")
	if ok && len(x.sources) > 0 && c.hasFlag("-f", "--force") && !isScratchPath(x.to.text) {
		j.addOverwrite("links over", j.overwritten(x))
	}
}

// judgeInstall judges install, which copies and sets modes.
func judgeInstall(j *callJudge, c *command) {
	x, ok := newCopying(c, "-m -o -g -S -t --mode --owner --group --suffix --target-directory")
	if ok && len(x.sources) > 0 && !asksHelp(c) && !c.hasFlag("-d", "--directory") && !keepsBackups(c) && !isScratchPath(x.to.text) {
		j.addOverwriteOutside("installs over", j.overwritten(x))
	}
}

const rsyncValueFlags = "-e --rsh --exclude --include --filter -f --exclude-from --include-from --files-from --bwlimit --port --rsync-path --chmod"

// judgeRsync judges copies to other hosts, and copies that delete at their target.
func judgeRsync(j *callJudge, c *command) {
	if c.hasFlag("-n", "--dry-run", "--list-only", "--help") {
		return
	}
	ends := c.operandWords(rsyncValueFlags)
	if len(ends) < 2 {
		return
	}
	to, sources := ends[len(ends)-1], ends[:len(ends)-1]
	if host := remoteHost(to.text); host != "" {
		if slices.ContainsFunc(c.args(), func(w word) bool { return strings.HasPrefix(w.text, "--del") }) {
			addUnrecoverable(j, retake.GateDelete, host, c)
		}
		j.addEffect("copy-to-host", host, c)
		return
	}
	deletes := false
	for _, w := range c.args() {
		if strings.HasPrefix(w.text, "--del") || w.text == "--remove-source-files" {
			deletes = true
			gone := []word{to}
			if w.text == "--remove-source-files" {
				gone = append(gone, sources...)
			}
			j.addDanger("sync-delete", joinNames("deletes what is not in the source, below", []string{to.text}), j.fileTargets(c, gone, false)...)
		}
	}
	if !deletes && !c.hasFlag("--ignore-existing", "-b", "--backup") && !isScratchPath(to.text) {
		j.addOverwriteOutside("syncs over", j.overwritten(copying{c: c, sources: withoutHosts(sources), to: to, trees: true, intoDir: len(sources) > 1 || endsAsDirectory(to.text)}))
	}
}

// withoutHosts returns sources with "/." for those whose content is copied and not they themselves, and
// without the names of hosts.
func withoutHosts(sources []word) []word {
	list := slices.Clone(sources)
	for i, w := range list {
		if at := strings.IndexByte(w.text, ':'); at > 0 && !strings.Contains(w.text[:at], "/") {
			list[i] = plainWord(w.text[at+1:])
		}
		if strings.HasSuffix(w.text, "/") {
			list[i] = plainWord("./.") // its own name does not matter
		}
	}
	return list
}

// judgeSCP judges copies between hosts.
func judgeSCP(j *callJudge, c *command) {
	list := c.operandWords("-P -i -o -F -J -l -c -S")
	if len(list) < 2 {
		return
	}
	to, sources := list[len(list)-1], list[:len(list)-1]
	if host := remoteHost(to.text); host != "" {
		j.addEffect("copy-to-host", host, c)
		return
	}
	if !isScratchPath(to.text) {
		x := copying{c: c, sources: withoutHosts(sources), to: to, trees: c.hasFlag("-r"), follow: true, intoDir: len(sources) > 1 || endsAsDirectory(to.text)}
		j.addOverwriteOutside("copies over", j.overwritten(x))
	}
}
