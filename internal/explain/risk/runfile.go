package risk

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxRunFiles is how many files a judgement asks for.
const maxRunFiles = 32

// wantFile returns the text of a file that the call runs. A file that was not read is asked for; one
// that is not there, or no text, is "".
func wantFile(j *callJudge, place string) string {
	text, ok := j.files[place]
	if !ok && len(j.result.Runs) < maxRunFiles && !slices.Contains(j.result.Runs, place) {
		j.result.Runs = append(j.result.Runs, place)
	}
	return text
}

// runFile judges a file that a command runs: as a shell does, or as its first line says.
func runFile(j *callJudge, c *command, file word, args []word, byShell bool) {
	if text, ok := j.scripts[file.text]; ok { // the call wrote it
		judgeFileText(j, c, "", text, args, byShell)
		return
	}
	for _, place := range filePlaces(j, c, file) {
		judgeFileText(j, c, place, wantFile(j, place), args, byShell)
	}
}

// redirectedText returns the text of the file that a program is given as its input, if it runs that.
func (w *shellWalker) redirectedText(s *syntax.Stmt, c *command) string {
	if !isShell(c) && !containsWord("python python3 node perl ruby php psql mysql mariadb sqlite3 sqlite duckdb", c.name()) {
		return ""
	}
	text := ""
	for _, r := range s.Redirs {
		if r.Op == syntax.RdrIn && r.Word != nil {
			for _, place := range filePlaces(w.callJudge, c, w.expandWord(r.Word)) {
				text += wantFile(w.callJudge, place)
			}
		}
	}
	if len(text) >= MaxText { // perhaps not all of it
		return ""
	}
	return text
}

// runProgram judges a program of the user, which is in one of the directories for that.
func runProgram(j *callJudge, c *command) {
	name := c.words[0].text
	if strings.Contains(name, "/") || !isPlainPath(name) || j.elsewhere || j.otherUser || len(known().judges[c.name()]) > 0 || len(j.rulesOf(c.name())) > 0 {
		return
	}
	for _, dir := range []string{"~/bin/", "~/.local/bin/"} {
		judgeFileText(j, c, dir+name, wantFile(j, dir+name), c.args(), false)
	}
}

// filePlaces returns where a file may be that a word names.
func filePlaces(j *callJudge, c *command, file word) []string {
	var out []string
	for _, f := range j.wordForms(c, file) {
		if !f.unknown && !f.glob {
			out = appendNew(out, j.places(f))
		}
	}
	return out
}

// judgeFileText judges the text of a file.
func judgeFileText(j *callJudge, c *command, place, text string, args []word, byShell bool) {
	if text == "" || place != "" && slices.Contains(j.running, place) {
		return
	}
	j.running = append(j.running, place)
	before := j.deletions
	defer func() {
		j.running = j.running[:len(j.running)-1]
		c.wasRead = c.wasRead || j.deletions > before
	}()
	interpreter := "sh"
	if first, _, _ := strings.Cut(text, "\n"); !byShell {
		interpreter = interpreterOf(first)
	}
	switch {
	case containsWord("sh bash zsh dash ksh ash", interpreter):
		j.fileDepth++
		withArguments(j, c, place, args, func() {
			if containsWord("source .", c.name()) {
				j.judgeShell(text, c.depth+1) // its cd goes on
			} else {
				j.judgeChild(text, c.depth+1)
			}
		})
		j.fileDepth--
	case interpreter != "":
		judgeCodeFile(j, c, interpreter, text)
	}
}

// runCodeFile judges the file of code that an interpreter is told to run.
func runCodeFile(j *callJudge, c *command) {
	list := c.operandWords("-W -X -r --require")
	if containsWord("deno bun", c.name()) && len(list) > 1 && list[0].text == "run" {
		list = list[1:]
	}
	for _, place := range filePlaces(j, c, list[0]) {
		before := j.deletions
		judgeCodeFile(j, c, c.name(), wantFile(j, place))
		c.wasRead = c.wasRead || j.deletions > before
	}
}

// judgeCodeFile judges the code in a file. What it does elsewhere is not judged: most of a file does
// not run each time.
func judgeCodeFile(j *callJudge, c *command, interpreter, text string) {
	inner := *c
	inner.words = []word{plainWord(interpreter)}
	j.maybe++
	j.judgeInlineCode(text, &inner)
	j.maybe--
}

// interpreterOf returns the program that the first line of a file names; "" if it is no text.
func interpreterOf(line string) string {
	if strings.IndexByte(line, 0) >= 0 {
		return ""
	}
	rest, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return "sh"
	}
	for _, w := range strings.Fields(rest) {
		name := path.Base(w)
		if name != "env" && !strings.HasPrefix(w, "-") && !isAssignment(w) {
			return strings.TrimRight(name, "0123456789.")
		}
	}
	return ""
}

// withArguments sets what $0, $1 and $@ are in a script.
func withArguments(j *callJudge, c *command, place string, args []word, judge func()) {
	const most = 9
	before := j.values
	j.values = make(map[string][]string, len(before)+most)
	for name, v := range before {
		j.values[name] = v
	}
	all := make([]string, 0, len(args))
	for i, a := range args {
		value := encodeArgument(j, c, a)
		all = append(all, value)
		if i < most {
			j.values[string(rune('1'+i))] = []string{value}
		}
	}
	for i := len(args); i < most; i++ {
		j.values[string(rune('1'+i))] = []string{""}
	}
	j.values["@"] = []string{strings.Join(all, breakWord)}
	j.values["*"] = j.values["@"]
	delete(j.values, "0")
	if place != "" {
		j.values["0"] = []string{encodePlace(place)}
	}
	judge()
	j.values = before
}

// encodeArgument returns a word as one encoded text; it is unknown if it may be several.
func encodeArgument(j *callJudge, c *command, a word) string {
	if a.syntax != nil && c.walker != nil && a.cut == 0 {
		if alts := c.walker.encodeWord(a.syntax); len(alts) == 1 {
			return alts[0]
		}
		return unknownWord
	}
	if a.isPlain && !strings.HasPrefix(a.text, "~") {
		return a.text
	}
	return unknownWord
}

// encodePlace encodes a path as places returns it.
func encodePlace(place string) string {
	switch {
	case place[0] == '~':
		return homeWord + place[1:]
	case place[0] != '/':
		return startWord + "/" + place
	}
	return place
}
