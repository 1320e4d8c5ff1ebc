package risk

import (
	"path"
	"strings"
)

// judgeDownload judges the files that curl writes.
func judgeDownload(j *callJudge, c *command) {
	files := c.flagWords("-o", "--output")
	if file, ok := groupedFlagWord(c, "o"); ok {
		files = append(files, file)
	}
	remote := c.hasFlag("-O", "--remote-name", "--remote-name-all")
	if len(files) == 0 && !remote {
		return
	}
	j.inDirectory(c, c.flagWords("--output-dir"), func() {
		var list []Target
		for _, f := range files {
			if !isNoFile(f.text) {
				list = addTargets(list, j.targetsOf(c, []word{f}, true))
			}
		}
		if remote {
			for _, u := range append(c.flagWords("--url"), c.operandWords(curlValueFlags)...) {
				list = addTargets(list, []Target{j.downloadTarget(u.text)})
			}
		}
		j.addOverwriteOutside("downloads over", list)
	})
}

// downloadTarget returns the file with the name that an address ends in.
func (j *callJudge) downloadTarget(address string) Target {
	_, rest, ok := strings.Cut(address, "://")
	if !ok {
		rest = address
	}
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		rest = rest[:end]
	}
	if name := path.Base(rest); strings.Contains(rest, "/") && isPlainPath(name) && name != "/" {
		return j.literalTarget(name, true)
	}
	return unnamedTarget(address)
}

// judgeWgetFile judges the file that wget -O writes. Without it wget writes over nothing.
func judgeWgetFile(j *callJudge, c *command) {
	files := c.flagWords("-O", "--output-document")
	if file, ok := groupedFlagWord(c, "O"); ok {
		files = append(files, file)
	}
	for _, w := range c.args() {
		if strings.HasPrefix(w.text, "-qO") && len(w.text) > 3 {
			files = append(files, w.afterFlag(3))
		}
	}
	for _, f := range files {
		if !isNoFile(f.text) {
			j.addOverwriteOutside("downloads over", j.targetsOf(c, []word{f}, true))
		}
	}
}

// groupedFlagWord returns the value of a letter that ends a group of flags: -sSLo FILE.
func groupedFlagWord(c *command, letter string) (word, bool) {
	args := c.args()
	for i, w := range args {
		if len(w.text) > 2 && w.text[0] == '-' && isLetters(w.text[1:]) && strings.HasSuffix(w.text, letter) && i+1 < len(args) {
			return args[i+1], true
		}
	}
	return word{}, false
}
