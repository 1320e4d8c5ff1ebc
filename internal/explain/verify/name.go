package verify

import (
	"path"
	"slices"
	"strings"
)

// maxNameLength is the longest name, in columns.
const maxNameLength = 24

// fallbackName is used for a command that no name can be made of.
const fallbackName = "command"

// maxNesting bounds how often a command runs another one.
const maxNesting = 8

// Name makes the short name of a verification of its command. The rule:
//
//  1. The last command of the line counts, those left out that only prepare or print
//     (cd, export, echo …), and of a pipeline the first.
//  2. What is set before it, and programs that only run another one (env, sudo, time,
//     npx, uv run …), are left out; of sh -c "…" the text counts.
//  3. A program that does many things (npm, go, cargo, make …) is named by the first of
//     its words that is no option: "npm run e2e" is e2e. A build tool that takes a list
//     of goals is named by the last one.
//  4. A program that runs a script or a module is named by that, without its directory.
//  5. Any other program is named by itself, without its directory. The question of a
//     shell is named by all of it: "test -f x" is test-f-x, and not what npm test is.
//  6. At most 24 letters, digits and "._:+-"; what else there is becomes "-".
func Name(command string) string { return cleanName(nameCommandLine(command, maxNesting)) }

func nameCommandLine(command string, left int) string {
	name := ""
	for _, words := range splitCommands(command) {
		words = stripRedirects(words)
		if len(words) == 0 || slices.Contains(preparingCommands, words[0]) {
			continue
		}
		name = nameCommand(words, left)
	}
	return name
}

// nameCommand names one command. It unwraps wrapper programs, at most left times.
func nameCommand(words []string, left int) string {
	for ; left > 0; left-- {
		words = stripRedirects(words)
		if len(words) == 0 {
			return ""
		}
		if isShellTest(words) {
			return shellTestName(words[1:])
		}
		program := baseName(words[0])
		if slices.Contains(shellNames, program) {
			return shellName(program, words[1:], left)
		}
		rest, runs := unwrapCommand(program, words[1:])
		if !runs || len(rest) == 0 {
			return programName(program, words[1:])
		}
		words = rest
	}
	return ""
}

// isShellTest reports whether words are a test of the shell: test -f x, or [ -f x ].
func isShellTest(words []string) bool {
	return len(words) > 1 && (words[0] == "test" || words[0] == "[")
}

func shellTestName(words []string) string {
	name := "test"
	for _, w := range words {
		if w = strings.Trim(w, "-]/."); w != "" {
			name += "-" + strings.ReplaceAll(w, "/", "-")
		}
	}
	return name
}

// unwrapCommand returns what a wrapper program runs.
func unwrapCommand(program string, args []string) (rest []string, ok bool) {
	for _, w := range wrappers {
		if w.program != program {
			continue
		}
		rest := skipOptions(args, w.valueOptions)
		if w.verb != "" {
			if len(rest) == 0 || rest[0] != w.verb {
				continue
			}
			rest = skipOptions(rest[1:], w.valueOptions)
		}
		for range w.operands {
			rest = skipOptions(rest[min(1, len(rest)):], w.valueOptions)
		}
		return rest, true
	}
	return nil, false
}

// skipOptions drops leading options, with the values of those that take one.
func skipOptions(args, values []string) []string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		n := 1
		if slices.Contains(values, args[0]) {
			n = 2
		}
		last := args[0] == "--"
		args = args[min(n, len(args)):]
		if last {
			break
		}
	}
	return args
}

// shellName names the text of -c, or the script.
func shellName(program string, args []string, left int) string {
	for i, a := range args {
		switch {
		case !strings.HasPrefix(a, "-"):
			return baseName(a)
		case !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "c") && i+1 < len(args):
			return nameCommandLine(args[i+1], left-1)
		}
	}
	return program
}

// programName names a program by its subcommand, script or module, else by itself.
func programName(program string, args []string) string {
	if r, ok := runtimes[strings.TrimRight(program, "0123456789.")]; ok {
		return scriptName(program, r, args)
	}
	r, ok := runners[program]
	if !ok {
		return program
	}
	words := operands(args, r.valueOptions)
	for len(words) > 1 && slices.Contains(r.skippedVerbs, words[0]) {
		words = words[1:]
	}
	if r.hasWorkspaceArg && len(words) > 2 && words[0] == "workspace" {
		words = words[2:]
		if len(words) > 1 && slices.Contains(r.skippedVerbs, words[0]) {
			words = words[1:]
		}
	}
	switch {
	case len(words) == 0:
		return program
	case r.takesGoals:
		return strings.TrimLeft(words[len(words)-1], ":")
	case r.aliases[words[0]] != "":
		return r.aliases[words[0]]
	}
	return words[0]
}

// operands returns the words that are not options, up to "--".
func operands(args, values []string) []string {
	var out []string
	for len(args) > 0 && args[0] != "--" {
		before := len(args)
		args = skipOptions(args, values)
		if len(args) == 0 {
			break
		}
		if len(args) == before {
			if !isAssignment(args[0]) && !strings.HasPrefix(args[0], "+") {
				out = append(out, args[0])
			}
			args = args[1:]
		}
	}
	return out
}

// scriptName names a module, a mode, or the script; some scripts have subcommands.
func scriptName(program string, r scriptRuntime, args []string) string {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case r.moduleOption != "" && a == r.moduleOption && i+1 < len(args):
			return programName(baseName(args[i+1]), args[i+2:])
		case a == "--test":
			return "test"
		case slices.Contains(r.codeOptions, a):
			return program
		case slices.Contains(r.valueOptions, a):
			i++
		case !strings.HasPrefix(a, "-"):
			return programName(baseName(a), args[i+1:])
		}
	}
	return program
}

func baseName(word string) string {
	if b := path.Base(strings.ReplaceAll(word, `\`, "/")); b != "/" && b != "." {
		return b
	}
	return word
}

// cleanName makes a name safe to print, to type and to store.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._:+-", r):
			return r
		}
		return '-'
	}, baseName(name))
	for strings.Contains(name, "--") {
		name = strings.ReplaceAll(name, "--", "-")
	}
	name = strings.Trim(name[:min(len(name), maxNameLength)], "-:+")
	if strings.Trim(name, ".") == "" {
		return fallbackName
	}
	return name
}
