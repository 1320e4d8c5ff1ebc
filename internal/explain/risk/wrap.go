package risk

import (
	"slices"
	"strings"
)

// maxWrapDepth bounds chains of programs that run programs: sudo env nice timeout …
const maxWrapDepth = 16

// judgeSimple judges one simple command.
func (j *callJudge) judgeSimple(c *command) {
	if len(c.words) == 0 {
		return
	}
	if c.wrapDepth > maxWrapDepth {
		j.addUnread()
		return
	}
	c = j.withKnownName(c)
	if j.judgeWrapped(c) {
		return
	}
	for _, judge := range known().judges[c.name()] {
		judge(j, c)
	}
	if containsWord("yarn pnpm bun", c.name()) && len(c.words) > 1 && len(j.rulesOf(c.commandFrom(1).name())) > 0 {
		j.judgeSimple(c.commandFrom(1)) // yarn prisma …
	}
	j.judgeByTable(c)
	j.judgeByName(c)
}

// wrapper is a program that runs the command that follows it.
type wrapper struct {
	Programs     []string `json:"programs"`
	Subcommand   string   `json:"subcommand"` // its word for running; none when it always does
	ValueFlags   []string `json:"value_flags"`
	SkipOperands int      `json:"skip_operands"` // operands before the command
	Assignments  bool     `json:"assignments"`   // NAME=value may precede the command
}

// judgeWrapped judges the command that a wrapper runs, and reports whether there was one.
func (j *callJudge) judgeWrapped(c *command) bool {
	if j.judgeTextArgs(c) || j.judgeGenerated(c) {
		return true
	}
	if containsWord("command", c.name()) && c.hasFlag("-v", "-V") {
		return true
	}
	for _, w := range known().wrappers[c.name()] {
		if n, ok := w.innerIndex(c.words); ok {
			j.judgeSimple(c.commandFrom(n))
			return true
		}
	}
	return false
}

// innerIndex returns the index at which the inner command begins.
func (w *wrapper) innerIndex(words []word) (int, bool) {
	verbs, skip := strings.Fields(w.Subcommand), w.SkipOperands
	for i := 1; i < len(words); i++ {
		t := words[i].text
		switch {
		case t == "--":
			if len(verbs) > 0 {
				return 0, false
			}
			return i + 1 + skip, true
		case len(t) > 1 && t[0] == '-':
			if slices.Contains(w.ValueFlags, t) {
				i++
			}
		case len(verbs) > 0:
			if t != verbs[0] {
				return 0, false
			}
			verbs = verbs[1:]
		case w.Assignments && isAssignment(t):
		case skip > 0:
			skip--
		default:
			return i, true
		}
	}
	return 0, false
}

func isAssignment(t string) bool {
	name, _, ok := strings.Cut(t, "=")
	return ok && name != "" && !strings.ContainsAny(name, "/.-")
}

// isShell reports whether a command is a shell that reads its input.
func isShell(c *command) bool {
	for containsWord("sudo env nohup doas", c.name()) && len(c.words) > 1 {
		c = c.commandFrom(1)
	}
	return containsWord("sh bash zsh dash ksh fish ash", c.name())
}

// judgeTextArgs judges commands that take a command line as text.
func (j *callJudge) judgeTextArgs(c *command) bool {
	switch name := c.name(); {
	case name == "eval":
		j.judgeShell(joinWords(c.args()), c.depth+1)
	case isShell(c) && containsWord("sh bash zsh dash ksh fish ash", name):
		j.judgeShellProgram(c)
	case containsWord("su runuser script npx pnpx nix-shell vagrant", name):
		text, ok := c.flagValue("-c", "--command", "--call", "--run")
		if !ok {
			return false
		}
		j.judgeShell(text, c.depth+1)
	case name == "watch" || name == "concurrently":
		for _, o := range c.operands("-n --interval --names -c") {
			j.judgeShell(o, c.depth+1)
		}
		j.judgeShell(strings.Join(c.operands("-n --interval --names -c"), " "), c.depth+1)
	case containsWord("source .", name):
	default:
		return false
	}
	return true
}

// judgeShellProgram judges bash -c TEXT, and text from a here-document or a pipe. A script
// in a file is not read.
func (j *callJudge) judgeShellProgram(c *command) {
	args := c.args()
	for i, w := range args {
		t := w.text
		if len(t) < 2 || t[0] != '-' || t[1] == '-' {
			if t == "-" || strings.HasPrefix(t, "--") {
				continue
			}
			if strings.Contains(t, "curl ") || strings.Contains(t, "wget ") {
				j.addForeignScript(c) // bash <(curl …)
			}
			j.judgeByName(c.commandFrom(1 + i))
			return
		}
		if strings.HasSuffix(t, "c") && i+1 < len(args) {
			text := args[i+1].text
			if strings.HasPrefix(text, "$(curl") || strings.HasPrefix(text, "$(wget") {
				j.addForeignScript(c)
			}
			j.judgeShell(text, c.depth+1)
			return
		}
	}
	j.judgeShell(c.stdin, c.depth+1)
}

// addForeignScript records a script from the network that is run without being read.
func (j *callJudge) addForeignScript(c *command) {
	j.addDanger("foreign-script", rulePhrase("foreign-script"))
	j.addEffect("foreign-machine", "this machine", c)
}

func joinWords(words []word) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(w.text + " ")
	}
	return b.String()
}

// judgeGenerated judges what xargs, parallel, find and fd run for many files.
func (j *callJudge) judgeGenerated(c *command) bool {
	switch c.name() {
	case "xargs":
		j.judgeGeneratedArgs(c, firstOperandIndex(c, "-n -P -I -L -d -s -a -E --max-args --max-procs --replace"))
	case "parallel":
		j.judgeGeneratedArgs(c, firstOperandIndex(c, "-j --jobs -a -N --colsep -I"))
	case "find", "gfind", "bfs":
		j.judgeFind(c, "-exec -execdir -ok -okdir")
	case "fd", "fdfind":
		j.judgeFind(c, "-x -X --exec --exec-batch")
	default:
		return false
	}
	return true
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

func (j *callJudge) judgeGeneratedArgs(c *command, n int) {
	inner := c.commandFrom(n)
	inner.generatedArgs, inner.stdin = true, ""
	j.judgeSimple(inner)
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
		case start == 0 && (w.text == "-delete" || strings.HasPrefix(w.text, "-fprint")):
			j.addDanger("delete-files", joinNames("deletes what is found below", []string{firstOr(c.operands(""), ".")}))
		}
	}
	if start > 0 {
		j.judgePart(c, start, len(c.words))
	}
}

func (j *callJudge) judgePart(c *command, from, to int) {
	inner := *c
	inner.words, inner.wrapDepth, inner.generatedArgs = c.words[from:to], c.wrapDepth+1, true
	j.judgeSimple(&inner)
}
