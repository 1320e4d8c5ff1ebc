package risk

import (
	"path"
	"slices"
	"strings"
)

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
	files := c.operandWords("-n --iterations")
	why := joinNames("deletes", wordTexts(files))
	switch {
	case len(files) == 0 && !c.generatedArgs:
		return
	case len(files) == 0:
		why = "deletes files that are listed when it runs"
	}
	if containsWord("del erase rd", c.name()) {
		files = slices.DeleteFunc(files, isWindowsFlag)
	}
	targets := j.fileTargets(c, files, false)
	if c.name() == "shred" { // the bytes behind a link are destroyed, and the link
		targets = append(targets, j.fileTargets(c, files, true)...)
	}
	j.addDanger("delete-files", why, targets...)
}

// isWindowsFlag reports whether a word is a flag such as /q.
func isWindowsFlag(w word) bool { return len(w.text) == 2 && w.text[0] == '/' }

// isScratchPath reports whether a path is for temporary files or devices.
func isScratchPath(p string) bool {
	for _, s := range []string{"/dev/", "/tmp/", "/var/tmp/", "/proc/", "$TMPDIR", "${TMPDIR", "$(mktemp"} {
		if strings.HasPrefix(p, s) {
			return true
		}
	}
	return p == "/tmp" || p == "/var/tmp"
}

// addTruncate records that a file is truncated, as by a redirect.
func (j *callJudge) addTruncate(c *command, file word) {
	if !isNoFile(file.text) {
		j.addOverwrite("writes over", j.fileTargets(c, []word{file}, true))
	}
}

// isNoFile reports whether output to a path destroys nothing: it is a number of an open file, a
// process, or for temporary files.
func isNoFile(p string) bool {
	return p == "" || p == "-" || strings.Trim(p, "0123456789-") == "" || isScratchPath(p) || strings.HasPrefix(p, ">(")
}

func judgeTruncate(j *callJudge, c *command) {
	files := c.operandWords("-s -r --size --reference")
	if (len(files) > 0 || c.generatedArgs) && !asksHelp(c) {
		j.addOverwrite("cuts", j.fileTargets(c, files, true))
	}
}

func judgeDD(j *callJudge, c *command) {
	for _, w := range c.args() {
		if to, ok := strings.CutPrefix(w.text, "of="); ok {
			if strings.HasPrefix(to, "/dev/") && !containsWord("/dev/null /dev/stdout /dev/stderr", to) {
				j.addEffect("machine", to, c)
				continue
			}
			j.addTruncate(c, w.afterFlag(len("of=")))
		}
	}
}

func judgeTee(j *callJudge, c *command) {
	if c.hasFlag("-a", "--append") {
		return
	}
	for _, w := range c.operandWords("") {
		j.addTruncate(c, w)
	}
}

func judgeSort(j *callJudge, c *command) {
	if to := c.flagWords("-o", "--output"); len(to) > 0 {
		j.addTruncate(c, to[0])
	}
}

func judgeTar(j *callJudge, c *command) {
	dirs := c.flagWords("-C", "--directory")
	switch {
	case c.hasFlag("--remove-files"):
		words := c.operandWords("-f -cf --file -C --directory --exclude -T -X")
		if len(words) > 1 && !c.hasFlag("-f", "--file", "--create") { // tar czf a.tgz files
			words = words[2:]
		}
		j.inDirectory(c, dirs, func() {
			j.addDanger("unpack-over", rulePhrase("unpack-over"), j.fileTargets(c, words, false)...)
		})
	case c.hasFlag("--overwrite", "--overwrite-dir", "-U", "--unlink-first", "--recursive-unlink"):
		j.addUnpack(c, dirs)
	case unpacksTar(c):
		j.inDirectory(c, dirs, func() {
			here := j.targetHere()
			here.dirs = true
			if list := withoutScratch([]Target{here}); len(list) > 0 {
				j.recordOverwrite(Danger{Rule: "unpack-over", verb: "unpacks over files in", Targets: list, OnlyOutside: true})
			}
		})
	}
}

// unpacksTar reports whether tar unpacks files over those that are there, as it does unless it is told to
// keep them.
func unpacksTar(c *command) bool {
	if len(c.words) < 2 || c.hasFlag("-k", "--keep-old-files", "--skip-old-files", "--keep-newer-files", "-O", "--to-stdout", "-t", "--list") {
		return false
	}
	first := c.words[1].text
	return c.hasFlag("-x", "--extract", "--get") || isLetters(first) && strings.Contains(first, "x") && !strings.ContainsAny(first, "ctuk")
}

// addUnpack records that an archive is unpacked over the files of a directory.
func (j *callJudge) addUnpack(c *command, dirs []word) {
	j.inDirectory(c, dirs, func() { j.addDanger("unpack-over", rulePhrase("unpack-over"), j.targetHere()) })
}

// judgeUnzip judges unpacking over existing files, for unzip, 7z and the single-file
// compressors.
func judgeUnzip(j *callJudge, c *command) {
	switch name := c.name(); {
	case name == "unzip":
		answered := c.readsInput || c.stdin != "" // yes A | unzip
		if (c.hasFlag("-o") || answered && !c.hasFlag("-n")) && !c.hasFlag("-l", "-t", "-p", "-v") {
			j.addUnpack(c, c.flagWords("-d"))
		}
	case strings.HasPrefix(name, "7"):
		if len(c.words) > 1 && containsWord("x e", c.words[1].text) && c.hasFlag("-y", "-aoa") {
			j.addUnpack(c, c.flagWords("-o"))
		}
	case c.hasFlag("-f", "--force") && !c.hasFlag("-c", "-l", "-t"):
		j.addDanger("unpack-over", rulePhrase("unpack-over"), compressorTargets(j.fileTargets(c, c.operandWords("-S --suffix"), false))...)
	}
}

// compressorTargets returns the files that a compressor takes, and those that it writes.
func compressorTargets(files []Target) []Target {
	all := slices.Clone(files)
	for _, t := range files {
		paths := slices.Clone(t.Paths)
		for i, p := range paths {
			if ext := path.Ext(p); containsWord(".gz .xz .bz2 .lzma .tgz", ext) {
				paths[i] = strings.TrimSuffix(p, ext)
			} else {
				paths[i] = p + ".gz"
			}
		}
		t.Paths = paths
		all = append(all, t)
	}
	return all
}

func judgeModes(j *callJudge, c *command) {
	if targets := c.operands(""); c.hasFlag("-R", "--recursive") && len(targets) > 1 {
		j.addDanger("change-modes", joinNames(c.name()+" of all below", targets[1:]))
	}
}
