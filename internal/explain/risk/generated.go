package risk

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// judgeGenerated judges what xargs, parallel, find and fd run for many files.
func (j *callJudge) judgeGenerated(c *command) bool {
	switch c.name() {
	case "xargs":
		j.judgeXargs(c)
	case "parallel":
		n := firstOperandIndex(c, "-j --jobs -a -N --colsep -I")
		holder := ""
		for _, w := range c.words[min(n, len(c.words)):] {
			if strings.Contains(w.text, "{}") {
				holder = "{}"
			}
		}
		if n < len(c.words) && strings.Contains(c.words[n].text, " ") { // a shell gets it as text
			j.judgeChild(c.words[n].text, c.depth+1)
		}
		j.judgeGeneratedArgs(c, n, holder)
	case "find", "gfind", "bfs":
		c.found = findStarts(c)
		j.judgeFind(c, "-exec -execdir -ok -okdir")
	case "fd", "fdfind":
		c.found = fdStarts(c)
		j.judgeFind(c, "-x -X --exec --exec-batch")
	default:
		return false
	}
	return true
}

// judgeXargs judges what xargs runs. Its input is known if find made it.
func (j *callJudge) judgeXargs(c *command) {
	n := firstOperandIndex(c, "-n -P -I -L -d -s -a -E --max-args --max-procs --replace")
	own := &command{words: c.words[:min(n, len(c.words))]}
	if own.hasFlag("-a", "--arg-file") {
		c.found = nil
	}
	holder := firstOr(own.flagValues("-I", "--replace"), "")
	if holder == "" && own.hasFlag("-i", "--replace") {
		holder = "{}"
	}
	j.judgeGeneratedArgs(c, n, holder)
}

func firstOperandIndex(c *command, values string) int {
	i := 1
	for ; i < len(c.words); i++ {
		t := c.words[i].text
		if len(t) < 2 || t[0] != '-' {
			break
		}
		if containsWord(values, t) {
			i++
		}
	}
	return i
}

func (j *callJudge) judgeGeneratedArgs(c *command, n int, placeholder string) {
	inner := c.commandFrom(n)
	inner.generatedArgs, inner.stdin, inner.placeholder = true, "", placeholder
	j.judgeSimple(inner)
}

// runsXargs reports whether a statement passes its input to xargs.
func runsXargs(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return false
	}
	for _, a := range call.Args[:min(2, len(call.Args))] { // sudo xargs
		if a.Lit() == "xargs" {
			return true
		}
	}
	return false
}

// foundBy returns the directories in which find found the files that a statement prints, also after
// programs that only leave some out; nil if nobody knows.
func (w *shellWalker) foundBy(s *syntax.Stmt, depth int) []word {
	const deepest = 8
	if pipe, ok := s.Cmd.(*syntax.BinaryCmd); ok && depth < deepest {
		if pipe.Op != syntax.Pipe {
			return nil
		}
		if call, ok := pipe.Y.Cmd.(*syntax.CallExpr); ok && containsWord("grep egrep fgrep head tail sort uniq", (&command{words: w.commandWords(call)}).name()) {
			return w.foundBy(pipe.X, depth+1)
		}
		return w.foundBy(pipe.Y, depth+1)
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return nil
	}
	c := &command{words: w.commandWords(call)}
	for containsWord("sudo doas", c.name()) && len(c.words) > 1 {
		c = c.commandFrom(1)
	}
	if !containsWord("find gfind bfs", c.name()) {
		return nil
	}
	return findStarts(c)
}

// findStarts returns the directories that find begins in.
func findStarts(c *command) []word {
	var list []word
	args := c.args()
	for i := 0; i < len(args); i++ {
		t := args[i].text
		switch {
		case t == "-D" || t == "-f":
			i++
		case containsWord("-H -L -P -E -X -d -s -x --", t) || strings.HasPrefix(t, "-O"):
		case t == "" || strings.IndexByte("-(!,", t[0]) >= 0:
			i = len(args)
		default:
			list = append(list, args[i])
		}
	}
	list = orHere(list)
	if c.hasFlag("-L", "-follow") {
		list = slices.Clone(list)
		for i := range list {
			list[i].follow = true
		}
	}
	return list
}

// fdStarts returns the directories that fd searches: the operands after the pattern.
func fdStarts(c *command) []word {
	own := *c
	for i, w := range c.words {
		if containsWord("-x -X --exec --exec-batch", w.text) {
			own.words = c.words[:i]
			break
		}
	}
	list := own.flagWords("--search-path", "--base-directory")
	if ops := own.operandWords("-e -E -d -t -S -j -c -o --extension --exclude --max-depth --min-depth --type --size --owner --changed-within --changed-before --threads --color --base-directory --search-path"); len(ops) > 1 {
		list = append(list, ops[1:]...)
	}
	return orHere(list)
}

// orHere returns the directories, or the current one if there are none.
func orHere(list []word) []word {
	if len(list) == 0 {
		return []word{plainWord(".")}
	}
	return list
}

// judgeFind judges the commands that find or fd runs, and find -delete.
func (j *callJudge) judgeFind(c *command, runs string) {
	start := 0
	for i, w := range c.words {
		switch {
		case start > 0 && (w.text == ";" || w.text == "+"):
			j.judgePart(c, start, i)
			start = 0
		case start == 0 && containsWord(runs, w.text):
			start = i + 1
		case start == 0 && w.text == "-delete":
			j.addDanger("delete-files", joinNames("deletes what is found below", wordTexts(c.found)), j.targetsOf(c, c.found, false)...)
		case start == 0 && strings.HasPrefix(w.text, "-fprint"):
			j.addDanger("delete-files", joinNames("deletes what is found below", wordTexts(c.found)), j.targetsOf(c, c.words[min(i+1, len(c.words)):min(i+2, len(c.words))], true)...)
		}
	}
	if start > 0 {
		j.judgePart(c, start, len(c.words))
	}
}

func (j *callJudge) judgePart(c *command, from, to int) {
	inner := *c
	inner.words, inner.wrapDepth, inner.generatedArgs, inner.placeholder = c.words[from:to], c.wrapDepth+1, true, "{}"
	if containsWord("fd fdfind", c.name()) && !hasPlaceholder(inner.words) {
		inner.placeholder = "" // fd puts the files at the end
	}
	j.judgeSimple(&inner)
}

func hasPlaceholder(words []word) bool {
	for _, w := range words {
		if strings.Contains(w.text, "{}") {
			return true
		}
	}
	return false
}
