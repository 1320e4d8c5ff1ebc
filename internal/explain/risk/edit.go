package risk

import "strings"

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
	edited := editedFiles(c)
	targets := append(j.fileTargets(c, edited, true), j.fileTargets(c, edited, false)...) // a link is replaced
	if wide || len(files) > few+1 {
		j.addDanger("mass-edit", rulePhrase("mass-edit"), targets...)
		return
	}
	j.addOverwriteOutside("edits", targets)
}

// isInPlaceFlag recognizes -i, -i.bak, and -i in a group of letters such as -pi.
func isInPlaceFlag(t string) bool {
	return strings.HasPrefix(t, "-i") || strings.HasPrefix(t, "--in-place") ||
		len(t) < 6 && len(t) > 2 && t[0] == '-' && isLetters(t[1:]) && strings.Contains(t, "i") && t[1] != 'f'
}

// editedFiles returns the operands that are files: without the script, which is the first one unless a
// flag has it.
func editedFiles(c *command) []word {
	var files []word
	hasScript, args := false, c.args()
	for i := 0; i < len(args); i++ {
		t := args[i].text
		switch {
		case t == "--":
			files = append(files, args[i+1:]...)
			i = len(args)
		case strings.HasPrefix(t, "--"):
			hasScript = hasScript || strings.HasPrefix(t, "--expression") || strings.HasPrefix(t, "--file")
			if t == "--expression" || t == "--file" {
				i++
			}
		case len(t) > 1 && t[0] == '-':
			taken, script := scriptFlag(c.name(), t)
			hasScript = hasScript || script
			if taken {
				i++
			}
		case t != "": // of BSD: sed -i ''
			files = append(files, args[i])
		}
	}
	if !hasScript && len(files) > 0 {
		files = files[1:]
	}
	return files
}

// scriptFlag reports whether a group of letters has the script, and whether that is the next word.
func scriptFlag(program, t string) (takesNext, hasScript bool) {
	if strings.HasPrefix(t, "-i") && program != "perl" {
		return false, false // the rest is the ending of backups
	}
	at := strings.IndexAny(t[1:], "ef") + 1
	if program == "perl" {
		at = strings.IndexAny(t[1:], "eE") + 1
	}
	if at <= 0 || !isLetters(strings.Trim(t[1:at]+"x", "0123456789")) {
		return t == "-l", false
	}
	return at == len(t)-1, true
}
