package risk

import (
	"slices"
	"strings"
)

// global: packages for the whole machine. What is installed into the project is
// no matter of risk.
func (j *judge) global(c *command) {
	if c.dry() {
		return
	}
	list := c.operands("--prefix -C --registry --index-url -i --target -t -r")
	verb := first(list, "")
	if strings.HasPrefix(c.name(), "pip") {
		outside := c.has("--user", "--break-system-packages") || strings.HasPrefix(strings.TrimSpace(c.text), "sudo ")
		if within("install uninstall", verb) && outside {
			j.outside("install", strings.Join(list[1:], " "), c)
		}
		return
	}
	installs := within("install i add remove uninstall rm update upgrade link", verb) && c.has("-g", "--global", "--location=global")
	if c.name() == "yarn" {
		installs = verb == "global" && within("add remove upgrade", second(list))
	}
	if installs {
		j.outside("install", strings.Join(list[1:], " "), c)
	}
}

func (j *judge) crontab(c *command) {
	if c.has("-l") || len(c.words) == 1 && !c.script && c.stdin == "" {
		return
	}
	j.outside("machine", "crontab", c)
}

// named judges scripts by their names: make clean, npm run deploy, ./wipe.sh.
// Nobody reads what they do; people name them after it.
func (j *judge) named(c *command) {
	script, ok := scriptName(c)
	if !ok || c.dry() || c.has("-n", "--just-print", "--recon") && within("make gmake", c.name()) {
		return
	}
	for _, s := range script {
		words := nameWords(s)
		for _, w := range words {
			switch {
			case within("help list status check lint test dryrun docs log logs plan validate generate", w):
				return
			case within("clean distclean clobber wipe purge nuke mrproper teardown cleanup", w):
				j.destroys("clean", phraseOf("clean")+s)
			case within("migrate migration migrations rollback", w), within("reset drop", w) && len(words) > 1:
				j.destroys("migrate", phraseOf("migrate")+s)
			case within("deploy publish release ship rollout upload", w):
				j.outside("named-deploy", s, c)
			}
		}
	}
}

// scriptName are the tasks that a command runs, or the script that it is.
func scriptName(c *command) ([]string, bool) {
	list := c.operands("-C -f -j --directory --file --prefix --filter -F -w --workspace --cwd -p")
	switch name := c.name(); {
	case within("make gmake just task mage invoke inv nox tox rake gulp grunt nx turbo", name):
		return slices.DeleteFunc(list, func(t string) bool { return strings.Contains(t, "=") }), true
	case within("npm pnpm yarn bun deno composer", name) && within("run run-script task", first(list, "")) && len(list) > 1:
		return list[1:2], true
	case within("yarn pnpm", name) && len(list) > 0 && !within("install add remove publish npm dlx exec upgrade up why info audit store", list[0]):
		return list[:1], true
	case within("node python python3 ruby tsx ts-node php deno bun", name) && len(list) > 0 && strings.Contains(list[0], "."):
		return list[:1], true
	}
	return []string{c.words[0].text}, ownScript(c.words[0].text)
}

// ownScript reports that a program is named by a path, and not one of the system.
func ownScript(p string) bool {
	return strings.HasSuffix(p, ".sh") || strings.Contains(p, "/") && !strings.HasPrefix(p, "/usr/") && !strings.HasPrefix(p, "/bin/")
}

// nameWords are the words of the last part of a path, without its ending.
func nameWords(s string) []string {
	s = s[strings.LastIndexByte(s, '/')+1:]
	for _, end := range []string{".sh", ".py", ".js", ".ts", ".mjs", ".rb", ".php", ".bash"} {
		s = strings.TrimSuffix(s, end)
	}
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r == ':' || r == '-' || r == '_' || r == '.' })
}
