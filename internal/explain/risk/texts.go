package risk

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// printedText returns what echo or printf prints, as far as its words tell.
func printedText(c *command) string {
	args := c.args()
	if c.name() == "printf" && len(args) > 1 && strings.Contains(args[0].text, "%") {
		args = args[1:]
	}
	return joinWords(args)
}

// isOptionName reports whether a word is a group of letters whose last one takes the name of an option of
// the shell: -o pipefail.
func isOptionName(t string) bool {
	return len(t) > 1 && (t[0] == '-' || t[0] == '+') && isLetters(t[1:]) && strings.HasSuffix(t, "o")
}

// judgeHandedText judges the commands whose words are the text of others, and reports whether it is one.
func judgeHandedText(j *callJudge, c *command) bool {
	switch name := c.name(); {
	case containsWord("trap alias", name):
		judgeLaterText(j, c)
	case name == "env" && len(c.words) > 2 && containsWord("-S --split-string", c.words[1].text):
		j.judgeChild(joinWords(c.words[2:]), c.depth+1)
	case containsWord("source .", name):
		if len(c.words) > 1 {
			j.judgeShell(substitutedText(c, c.words[1]), c.depth+1)
			runFile(j, c, c.words[1], c.words[2:], true)
		}
	default:
		return false
	}
	return true
}

// judgeScriptFile judges a shell that runs the file which is its argument number n.
func judgeScriptFile(j *callJudge, c *command, n int) {
	file := c.args()[n]
	if strings.Contains(file.text, "curl ") || strings.Contains(file.text, "wget ") {
		j.addForeignScript(c) // bash <(curl …)
	}
	j.judgeChild(substitutedText(c, file), c.depth+1)
	runFile(j, c, file, c.args()[n+1:], true)
	j.judgeByName(c.commandFrom(1 + n))
}

// judgeLaterText judges the text of a trap or an alias, as if it ran here.
func judgeLaterText(j *callJudge, c *command) {
	for _, o := range c.operands("") {
		if name, text, ok := strings.Cut(o, "="); c.name() == "alias" && ok && isAssignment(name+"=") {
			j.judgeChild(text, c.depth+1)
		} else if c.name() == "trap" {
			j.judgeChild(o, c.depth+1)
			return // the rest are names of signals
		}
	}
}

// recordScript remembers what the call writes into a file, because it may run it later.
func (w *shellWalker) recordScript(s *syntax.Stmt, c *command) {
	const maxScripts = 32
	text := ""
	switch c.name() {
	case "echo", "printf":
		text = printedText(c)
	case "cat":
		text = c.stdin
	}
	if text == "" || len(w.scripts) >= maxScripts {
		return
	}
	for _, r := range s.Redirs {
		if r.Op == syntax.RdrOut && r.Word != nil {
			w.scripts[w.expandWord(r.Word).text] = text
		}
	}
}

// substitutedText returns what another command prints into a script: bash <(echo text). "": nobody
// knows it.
func substitutedText(c *command, file word) string {
	if file.syntax == nil || c.walker == nil || len(file.syntax.Parts) != 1 {
		return ""
	}
	from, ok := file.syntax.Parts[0].(*syntax.ProcSubst)
	if !ok || len(from.Stmts) != 1 {
		return ""
	}
	call, ok := from.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok {
		return ""
	}
	return c.walker.pipeOutput(call).text
}

// judgeOwnProgram judges the text of a program that is the user's own.
func judgeOwnProgram(j *callJudge, c *command) {
	switch first := c.words[0]; {
	case isOwnScript(first.text):
		runFile(j, c, first, c.args(), false)
	case !strings.Contains(first.text, "/"):
		runProgram(j, c)
	}
}

// judgeLineEditor judges editors that are told what to do in the call.
func judgeLineEditor(j *callJudge, c *command) {
	j.addOverwriteOutside("edits", j.fileTargets(c, c.operandWords("-c -S -t -p --prompt"), true))
}
