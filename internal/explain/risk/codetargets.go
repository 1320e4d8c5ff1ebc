package risk

import "strings"

// maxLiterals is how many strings of a code are looked at.
const maxLiterals = 512

// literal is a string in a code.
type literal struct {
	text   string
	before string // what precedes it, in lower case and without spaces at its end
	gap    string // what is between it and the one before
	filled bool   // a running program puts values into it
}

// codeTargets returns the paths among the strings of a code that deletes. If there are none, only the
// running code knows.
func (j *callJudge) codeTargets(code string, c *command) []Target {
	var list []Target
	if containsWord("pwsh powershell", c.name()) {
		list = j.shellTargets(code, c)
	}
	unnamed, taken := false, false
	for _, l := range codeLiterals(code) {
		var found []Target
		switch {
		case isShellText(l.text):
			found = j.shellTargets(l.text, c)
		default:
			taken = l.isArgument() || taken && strings.Trim(l.gap, ", \n\t") == ""
			found, unnamed = j.literalTargets(l, taken, unnamed)
		}
		list = addTargets(list, found)
	}
	if len(list) == 0 || unnamed {
		list = addTargets(list, []Target{unnamedTarget("files that the code deletes")})
	}
	return list
}

// writtenTargets returns the paths among the strings of a code that writes files.
func writtenTargets(j *callJudge, code string) []Target {
	var list []Target
	for _, l := range codeLiterals(code) {
		if path, inHome := l.homePath(); inHome {
			list = addTargets(list, []Target{j.literalTarget(path, true)})
		} else if !l.filled && looksLikeFile(l.text) && !l.isModule() {
			t := j.literalTarget(l.text, true)
			t.dirs = strings.HasSuffix(l.before, "extractall(")
			list = addTargets(list, []Target{t})
		}
	}
	return list
}

// literalTargets returns what one string of a code names, and whether only the running code knows.
func (j *callJudge) literalTargets(l literal, isArgument, unnamed bool) ([]Target, bool) {
	path, inHome := l.homePath()
	switch {
	case inHome:
		return []Target{j.literalTarget(path, false)}, unnamed
	case l.filled:
		return nil, unnamed || isArgument || looksLikeFile(l.text)
	case isArgument && l.text != "" || looksLikeFile(l.text) && !l.isModule():
		t := j.literalTarget(l.text, false)
		t.Glob = len(t.Paths) > 0 && l.isPattern() && strings.ContainsAny(l.text, "*?[")
		return []Target{t}, unnamed
	}
	return nil, unnamed
}

// shellTargets returns what a shell command in a code deletes.
func (j *callJudge) shellTargets(text string, c *command) []Target {
	inner := *j
	inner.result = Judgement{}
	inner.judgeChild(text, c.depth+1)
	j.nodesVisited, j.parseBudget, j.expansionBudget, j.formBudget = inner.nodesVisited, inner.parseBudget, inner.expansionBudget, inner.formBudget
	list, _ := inner.result.Targets()
	return list
}

// isShellText reports whether a string is a command line that deletes.
func isShellText(s string) bool {
	s = strings.TrimSpace(s)
	return containsAny(s, "rm -", "git reset", "git clean", "git checkout") || strings.HasPrefix(s, "rm ") || strings.HasPrefix(s, "unlink ")
}

// looksLikeFile reports whether a string is a path and nothing else, as far as its text tells.
func looksLikeFile(s string) bool {
	switch {
	case len(s) < 2 || strings.Contains(s, "://") || strings.ContainsAny(s, "\n\r<>|;\"") || len(s) > maxPathBytes:
		return false
	case s[0] == '/' || strings.HasPrefix(s, "~/") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../"):
		return strings.Trim(s, "/") != ""
	}
	return strings.Contains(s, "/") && !strings.ContainsAny(s, " \t()")
}

// deleteOpeners end the names of calls whose argument is a file that the code deletes, or where it
// looks for such files.
var deleteOpeners = []string{
	"rmtree", "remove", "unlink", "removedirs", "rmdir", "rm", "rmsync", "rmdirsync", "unlinksync", "rm_rf", "rm_r", "rm_f", "delete", "rimraf",
	"rimrafsync", "sync", "truncatesync", "emptydir", "emptydirsync", "remove_entry", "remove_dir_all", "remove_file", "path", "glob", "iglob", "rglob",
	"globsync", "connect", "listdir", "scandir", "walk", "join", "children",
}

// isArgument reports whether a string is the argument of such a call, or an element of a list.
func (l literal) isArgument() bool {
	b := l.before
	switch {
	case b == "":
		return false
	case strings.HasSuffix(b, "["):
		b = strings.TrimRight(b[:len(b)-1], " ")
		if strings.HasSuffix(b, "dir") || strings.HasSuffix(b, "(") {
			return true
		}
		return b == "" || strings.IndexByte("=,:;\n", b[len(b)-1]) >= 0 || endsWithWord(b, "in", "of", "rm_rf", "rm_r")
	case strings.HasSuffix(b, "("):
		b = strings.TrimRight(b[:len(b)-1], " ")
		inPath := strings.HasSuffix(b, ").glob") || strings.HasSuffix(b, ").rglob") // the path is a string of its own
		return !inPath && endsWithWord(b, deleteOpeners...) || endsWithWord(b, "in", "of")
	}
	return endsWithWord(b, "unlink", "glob", "rm_rf", "rm_r", "rmtree")
}

// endsWithWord reports whether a text ends with one of the words.
func endsWithWord(s string, words ...string) bool {
	for _, w := range words {
		rest, ok := strings.CutSuffix(s, w)
		if ok && (rest == "" || !isNameByte(rest[len(rest)-1])) {
			return true
		}
	}
	return false
}

// isPattern reports whether a string is given to a call that looks for files.
func (l literal) isPattern() bool {
	b := strings.TrimRight(l.before, "([ ")
	return endsWithWord(b, "glob", "iglob", "rglob", "globsync", "dir")
}

// isModule reports whether a string is the name of a module, or of a field.
func (l literal) isModule() bool {
	return strings.HasSuffix(l.before, "require(") || strings.HasSuffix(l.before, "import(") || endsWithWord(l.before, "from", "import")
}

// homePath returns the path of a string that is below the home directory.
func (l literal) homePath() (string, bool) {
	for _, begin := range []string{"${os.homedir()}", "${homedir()}", "${process.env.HOME}", "{Path.home()}", "{pathlib.Path.home()}", "#{Dir.home}", "$ENV{HOME}", "$HOME", "${HOME}", "$env:HOME"} {
		if rest, ok := strings.CutPrefix(l.text, begin); ok && l.filled && strings.HasPrefix(rest, "/") && !strings.ContainsAny(rest, "${}") {
			return "~" + rest, true
		}
	}
	b := strings.TrimRight(l.before, "+/, .")
	if b == l.before || l.filled || l.text == "" {
		return "", false
	}
	for _, end := range []string{"home']", "home\"]", "home')", "home\")", ".home()", "homedir()", "env.home", "dir.home", "'~')", "\"~\")"} {
		if strings.HasSuffix(b, end) {
			return "~/" + strings.TrimLeft(l.text, "/"), true
		}
	}
	return "", false
}

// codeLiterals returns the strings of a code in a language with quotes as in Python, JavaScript, Ruby,
// Perl or PHP.
func codeLiterals(code string) []literal {
	var list []literal
	last := 0
	for i := 0; i < len(code) && len(list) < maxLiterals; {
		switch c := code[i]; {
		case isComment(code, i):
			i = indexAfter(code, i, "\n")
		case c == '\'' || c == '"' || c == '`':
			l, next, ok := readLiteral(code, i)
			if ok {
				l.gap = code[last:max(last, i)]
				list = append(list, l)
				last = next
			}
			i = next
		default:
			i++
		}
	}
	return list
}

// isComment reports whether a comment begins at an index. A "#" and a "//" in other places are
// operators.
func isComment(code string, i int) bool {
	if code[i] != '#' && !strings.HasPrefix(code[i:], "//") {
		return false
	}
	atBegin := i == 0 || strings.IndexByte(" \t\n;", code[i-1]) >= 0
	after := strings.TrimLeft(code[i:], "#/")
	return atBegin && (after == "" || strings.IndexByte(" \n", after[0]) >= 0)
}

// readLiteral reads the string that begins at an index, and returns where it ends. It is none if its line
// ends before.
func readLiteral(code string, at int) (l literal, next int, ok bool) {
	quote := code[at : at+1]
	if strings.HasPrefix(code[at:], strings.Repeat(quote, 3)) && quote != "`" {
		quote = code[at : at+3]
	}
	var b strings.Builder
	for i := at + len(quote); i < len(code); i++ {
		switch {
		case strings.HasPrefix(code[i:], quote):
			l.text = b.String()
			l.before, l.filled = contextBefore(code, at, quote, l.text)
			return l, i + len(quote), true
		case code[i] == '\\' && i+1 < len(code):
			i++
			if strings.IndexByte(`\'"`+"`", code[i]) < 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(code[i])
		case code[i] == '\n' && len(quote) == 1 && quote != "`":
			return l, i, false
		default:
			b.WriteByte(code[i])
		}
	}
	return l, len(code), false
}

// contextBefore returns what precedes a string, without the letters that belong to its quote, and
// whether values are put into it.
func contextBefore(code string, at int, quote, text string) (before string, filled bool) {
	const longest = 48
	from := at
	for from > 0 && at-from < 3 && strings.IndexByte("rRbBuUfF", code[from-1]) >= 0 {
		from--
	}
	if from > 0 && isNameByte(code[from-1]) {
		from = at // the end of a name
	}
	format := strings.ContainsAny(code[from:at], "fF")
	before = strings.TrimRight(strings.ToLower(code[max(0, from-longest):from]), " ")
	at = strings.IndexByte(text, '$')
	filled = format && strings.Contains(text, "{") || strings.Contains(text, "${") || strings.Contains(text, "#{") ||
		quote != "'" && at >= 0 && at+1 < len(text) && isNameByte(text[at+1])
	return before, filled
}
