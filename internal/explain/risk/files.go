package risk

import "strings"

// asksHelp reports whether help is the first argument. Later it may be a file name.
func asksHelp(c *command) bool {
	return len(c.words) > 1 && containsWord("--help --version", c.words[1].text)
}

// judgeRemove records every deletion, wherever it is: the rules do not know where the
// workspace begins.
func judgeRemove(j *callJudge, c *command) {
	if asksHelp(c) {
		return
	}
	targets := c.operands("-n --iterations")
	switch {
	case len(targets) == 0 && c.generatedArgs:
		j.addDanger("delete-files", "deletes files that are listed when it runs")
	case len(targets) > 0:
		j.addDanger("delete-files", joinNames("deletes", targets))
	}
}

// isScratchPath reports whether a path is for temporary files or devices.
func isScratchPath(p string) bool {
	for _, s := range []string{"/dev/", "/tmp/", "/var/tmp/", "/proc/", "$TMPDIR", "${TMPDIR", "$(mktemp"} {
		if strings.HasPrefix(p, s) {
			return true
		}
	}
	return false
}

// addTruncate records that a file is truncated, as by a redirect.
func (j *callJudge) addTruncate(p string) {
	if p == "" || p == "-" || strings.Trim(p, "0123456789-") == "" || isScratchPath(p) || strings.HasPrefix(p, ">(") {
		return
	}
	j.addOverwrite("writes over", []string{p})
}

func judgeTruncate(j *callJudge, c *command) {
	if targets := c.operands("-s -r --size --reference"); len(targets) > 0 && !asksHelp(c) {
		j.addOverwrite("cuts", targets)
	}
}

func judgeDD(j *callJudge, c *command) {
	for _, w := range c.args() {
		if to, ok := strings.CutPrefix(w.text, "of="); ok {
			if strings.HasPrefix(to, "/dev/") && !containsWord("/dev/null /dev/stdout /dev/stderr", to) {
				j.addEffect("machine", to, c)
				continue
			}
			j.addTruncate(to)
		}
	}
}

func judgeTee(j *callJudge, c *command) {
	if c.hasFlag("-a", "--append") {
		return
	}
	for _, p := range c.operands("") {
		j.addTruncate(p)
	}
}

func judgeSort(j *callJudge, c *command) {
	if to, ok := c.flagValue("-o", "--output"); ok {
		j.addTruncate(to)
	}
}

// judgeMv judges moves. A rename loses nothing, and the turn's checkpoint has what it may
// overwrite. Forced moves count, and moves to where no checkpoint looks.
func judgeMv(j *callJudge, c *command) {
	targets := c.operands("-t -S --target-directory --suffix")
	if len(targets) == 0 || asksHelp(c) || c.hasFlag("-n", "--no-clobber", "-b", "--backup") {
		return
	}
	last := targets[len(targets)-1]
	if t, ok := c.flagValue("-t", "--target-directory"); ok {
		last = t
	}
	switch {
	case isScratchPath(last) || last == "/tmp" || last == "/dev/null" || strings.HasPrefix(last, "~"):
		if sources := targets[:max(1, len(targets)-1)]; !isScratchPath(sources[0]) {
			j.addDanger("take-away", joinNames("moves away", sources))
		}
	case c.hasFlag("-f", "--force"):
		j.addOverwrite("moves over", []string{last})
	}
}

// judgeCp judges copies. A copy writes like an editor does; only forced ones count.
func judgeCp(j *callJudge, c *command) {
	targets := c.operands("-t -S --target-directory --suffix")
	if len(targets) < 2 || asksHelp(c) || !c.hasFlag("-f", "--force", "--remove-destination") || isScratchPath(targets[len(targets)-1]) {
		return
	}
	j.addOverwrite("copies over", targets[len(targets)-1:])
}

func judgeLn(j *callJudge, c *command) {
	if list := c.operands("-t -S"); len(list) > 1 && c.hasFlag("-f", "--force") && !isScratchPath(list[len(list)-1]) {
		j.addOverwrite("links over", list[len(list)-1:])
	}
}

// judgeInPlaceEdit judges sed -i and perl -i. Editing one file is what a write tool does;
// an edit of many is hard to review.
func judgeInPlaceEdit(j *callJudge, c *command) {
	edits, wide := false, c.generatedArgs
	for _, w := range c.args() {
		edits = edits || isInPlaceFlag(w.text)
		wide = wide || w.hasGlob
	}
	if c.name() == "perl" {
		judgeCode(j, c)
	}
	if !edits {
		return
	}
	const few = 3
	files := c.operands("-e -f -E --expression --file")
	for _, f := range files {
		if strings.HasPrefix(f, "/etc/") {
			j.addEffect("machine", f, c)
		}
	}
	if wide || len(files) > few+1 {
		j.addDanger("mass-edit", rulePhrase("mass-edit"))
	}
}

// isInPlaceFlag recognizes -i, -i.bak, and -i in a group of letters such as -pi.
func isInPlaceFlag(t string) bool {
	return strings.HasPrefix(t, "-i") || strings.HasPrefix(t, "--in-place") ||
		len(t) < 6 && len(t) > 2 && t[0] == '-' && isLetters(t[1:]) && strings.Contains(t, "i") && t[1] != 'f'
}

// judgeRsync judges copies to other hosts, and copies that delete at their target.
func judgeRsync(j *callJudge, c *command) {
	if c.hasFlag("-n", "--dry-run", "--list-only", "--help") {
		return
	}
	ends := c.operands("-e --rsh --exclude --include --filter -f --exclude-from --include-from --files-from --bwlimit --port --rsync-path --chmod")
	if len(ends) < 2 {
		return
	}
	to := ends[len(ends)-1]
	if host := remoteHost(to); host != "" {
		j.addEffect("copy-to-host", host, c)
		return
	}
	for _, w := range c.args() {
		if strings.HasPrefix(w.text, "--del") || w.text == "--remove-source-files" {
			j.addDanger("sync-delete", joinNames("deletes what is not in the source, below", []string{to}))
		}
	}
}

func judgeTar(j *callJudge, c *command) {
	if c.hasFlag("--overwrite", "--overwrite-dir", "-U", "--unlink-first", "--recursive-unlink", "--remove-files") {
		j.addDanger("unpack-over", rulePhrase("unpack-over"))
	}
}

// judgeUnzip judges unpacking over existing files, for unzip, 7z and the single-file
// compressors.
func judgeUnzip(j *callJudge, c *command) {
	if strings.Contains(c.name(), "z") && !strings.HasPrefix(c.name(), "7") && c.name() != "unzip" {
		if c.hasFlag("-f", "--force") && !c.hasFlag("-c", "-l", "-t") {
			j.addDanger("unpack-over", rulePhrase("unpack-over"))
		}
		return
	}
	if c.name() != "unzip" {
		if len(c.words) > 1 && containsWord("x e", c.words[1].text) && c.hasFlag("-y", "-aoa") {
			j.addDanger("unpack-over", rulePhrase("unpack-over"))
		}
		return
	}
	if c.hasFlag("-o") && !c.hasFlag("-l", "-t", "-p", "-v") {
		j.addDanger("unpack-over", rulePhrase("unpack-over"))
	}
}

func judgeModes(j *callJudge, c *command) {
	if targets := c.operands(""); c.hasFlag("-R", "--recursive") && len(targets) > 1 {
		j.addDanger("change-modes", joinNames(c.name()+" of all below", targets[1:]))
	}
}
