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
	judgeOwnProgram(j, c)
	j.inProject(c, func() { judgeRecipes(j, c) })
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
			j.judgeInner(c, n)
			return true
		}
	}
	return false
}

// judgeInner judges the command that a wrapper runs, where and as whom it runs it.
func (j *callJudge) judgeInner(c *command, n int) {
	elsewhere, otherUser := j.elsewhere, j.otherUser
	var dirs []word
	switch c.name() {
	case "docker", "podman", "nerdctl", "docker-compose", "devcontainer", "chroot":
		j.elsewhere = true
	case "sudo", "doas":
		j.otherUser = true
		dirs = (&command{words: c.words[:n], walker: c.walker}).flagWords("-D", "--chdir")
	case "env":
		dirs = (&command{words: c.words[:n], walker: c.walker}).flagWords("-C", "--chdir")
	}
	j.inDirectory(c, dirs, func() { j.judgeSimple(c.commandFrom(n)) })
	j.elsewhere, j.otherUser = elsewhere, otherUser
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
	case containsWord("npx pnpx", name) && len(c.words) > 1 && !strings.HasPrefix(c.words[1].text, "-"):
		return false // the flags are those of the program that it runs
	case containsWord("su runuser script npx pnpx nix-shell vagrant", name):
		text, ok := c.flagValue("-c", "-qc", "-qec", "-ec", "--command", "--call", "--run")
		if !ok {
			return false
		}
		elsewhere, otherUser := j.elsewhere, j.otherUser
		j.elsewhere = j.elsewhere || name == "vagrant"
		j.otherUser = j.otherUser || containsWord("su runuser", name)
		j.judgeChild(text, c.depth+1)
		j.elsewhere, j.otherUser = elsewhere, otherUser
	case name == "watch" || name == "concurrently":
		for _, o := range c.operands("-n --interval --names -c") {
			j.judgeChild(o, c.depth+1)
		}
		j.judgeChild(strings.Join(c.operands("-n --interval --names -c"), " "), c.depth+1)
	default:
		return judgeHandedText(j, c)
	}
	return true
}

// judgeShellProgram judges bash -c TEXT, bash FILE, and text from a here-document or a pipe.
func (j *callJudge) judgeShellProgram(c *command) {
	args := c.args()
	for i := 0; i < len(args); i++ {
		w := args[i]
		t := w.text
		if isOptionName(t) && !strings.HasSuffix(t, "c") {
			i++ // -o pipefail
			continue
		}
		if len(t) < 2 || t[0] != '-' && t[0] != '+' || t[1] == '-' {
			if t == "-" || strings.HasPrefix(t, "--") {
				continue
			}
			if !c.hasFlag("-n") { // -n only reads it
				judgeScriptFile(j, c, i)
			}
			return
		}
		if strings.HasSuffix(t, "c") && i+1 < len(args) {
			text := args[i+1].text
			if strings.HasPrefix(text, "$(curl") || strings.HasPrefix(text, "$(wget") {
				j.addForeignScript(c)
			}
			j.judgeChild(text, c.depth+1)
			return
		}
	}
	j.judgeChild(c.stdin, c.depth+1)
}

// addForeignScript records a script from the network that is run without being read.
func (j *callJudge) addForeignScript(c *command) {
	j.addDanger("foreign-script", rulePhrase("foreign-script"), unnamedTarget("what the script deletes"))
	j.addEffect("foreign-machine", "this machine", c)
}

func joinWords(words []word) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(w.text + " ")
	}
	return b.String()
}
