package risk

import (
	"slices"
	"strings"
)

// judgeGlobalInstall judges packages that are installed for the whole machine. Packages of
// the project are no risk.
func judgeGlobalInstall(j *callJudge, c *command) {
	if c.isDryRun() {
		return
	}
	list := c.operands("--prefix -C --registry --index-url -i --target -t -r")
	verb := firstOr(list, "")
	if strings.HasPrefix(c.name(), "pip") {
		outside := c.hasFlag("--user", "--break-system-packages") || strings.HasPrefix(strings.TrimSpace(c.text), "sudo ")
		if containsWord("install uninstall", verb) && outside {
			j.addEffect("install", strings.Join(list[1:], " "), c)
		}
		return
	}
	installs := containsWord("install i add remove uninstall rm update upgrade link", verb) && c.hasFlag("-g", "--global", "--location=global")
	if c.name() == "yarn" {
		installs = verb == "global" && containsWord("add remove upgrade", secondOrEmpty(list))
	}
	if installs {
		j.addEffect("install", strings.Join(list[1:], " "), c)
	}
}

func judgeCrontab(j *callJudge, c *command) {
	if c.hasFlag("-l") || len(c.words) == 1 && !c.readsInput && c.stdin == "" {
		return
	}
	j.addEffect("machine", "crontab", c)
}

// judgeByName judges scripts by their names: make clean, npm run deploy, ./wipe.sh. People name
// them after what they do, and not all of their content can be read.
func (j *callJudge) judgeByName(c *command) {
	script, ok := scriptNames(c)
	if !ok || onlyShows(c) {
		return
	}
	for _, s := range script {
		words := splitScriptName(s)
		if slices.ContainsFunc(words, func(w string) bool {
			return containsWord("help list status check lint test dryrun docs log logs plan validate generate", w)
		}) {
			return
		}
		for _, w := range words {
			switch {
			case c.wasRead && containsWord("clean cleanup", w): // it says more than its name
			case containsWord("clean distclean clobber wipe purge nuke mrproper teardown cleanup", w):
				j.addFinding("clean", s, c, nil)
			case containsWord("migrate migration migrations rollback", w), containsWord("reset drop", w) && len(words) > 1:
				j.addFinding("migrate", s, c, nil)
			case containsWord("deploy publish release ship rollout upload", w):
				j.addEffect("named-deploy", s, c)
			}
		}
	}
}

// onlyShows reports whether a shell, make or a task runner only says what it would do.
func onlyShows(c *command) bool {
	return c.isDryRun() || c.hasFlag("-n") && containsWord("sh bash dash zsh ksh", c.name()) ||
		c.hasFlag("-n", "--just-print", "--recon") && containsWord("make gmake", c.name())
}

// scriptNames returns the tasks that a command runs, or the script that it is.
func scriptNames(c *command) ([]string, bool) {
	list := c.operands("-C -f -j --directory --file --prefix --filter -F -w --workspace --cwd -p")
	switch name := c.name(); {
	case containsWord("make gmake just task mage invoke inv nox tox rake gulp grunt nx turbo", name):
		return slices.DeleteFunc(list, func(t string) bool { return strings.Contains(t, "=") }), true
	case containsWord("npm pnpm yarn bun deno composer", name) && containsWord("run run-script task", firstOr(list, "")) && len(list) > 1:
		return list[1:2], true
	case containsWord("yarn pnpm", name) && len(list) > 0 && !containsWord("install add remove publish npm dlx exec upgrade up why info audit store", list[0]):
		return list[:1], true
	case containsWord("node python python3 ruby tsx ts-node php deno bun", name) && len(list) > 0 && strings.Contains(list[0], "."):
		return list[:1], true
	}
	return []string{c.words[0].text}, isOwnScript(c.words[0].text)
}

// isOwnScript reports whether a program is named by a path, and is not one of the system.
func isOwnScript(p string) bool {
	return strings.HasSuffix(p, ".sh") || strings.Contains(p, "/") && !strings.HasPrefix(p, "/usr/") && !strings.HasPrefix(p, "/bin/")
}

// splitScriptName returns the words of the last element of a path, without its extension.
func splitScriptName(s string) []string {
	s = s[strings.LastIndexByte(s, '/')+1:]
	for _, end := range []string{".sh", ".py", ".js", ".ts", ".mjs", ".rb", ".php", ".bash"} {
		s = strings.TrimSuffix(s, end)
	}
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r == ':' || r == '-' || r == '_' || r == '.' })
}
