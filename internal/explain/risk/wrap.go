package risk

import "strings"

// maxChain bounds programs that run programs: sudo env nice timeout …
const maxChain = 16

// simple judges one simple command.
func (j *judge) simple(c *command) {
	if len(c.words) == 0 {
		return
	}
	if c.chain > maxChain {
		j.unread()
		return
	}
	if j.wraps(c) {
		return
	}
	if f := programs()[c.name()]; f != nil {
		f(j, c)
	}
	if within("yarn pnpm bun", c.name()) && len(c.words) > 1 && byProgram()[c.after(1).name()] != nil {
		j.simple(c.after(1)) // yarn prisma …
	}
	j.rows(c)
	j.named(c)
}

// wrapper is a program that runs the command that follows it.
type wrapper struct {
	names  string
	verb   string // its word for running; none when it always does
	values string // flags that take a value
	skip   int    // operands before the command
}

var wrappers = []wrapper{
	{names: "sudo doas", values: "-u -g -C -p -D -R -T -h -U -r -t --user --group"},
	{names: "env", values: "-u -C --unset --chdir"},
	{names: "nohup setsid builtin caffeinate unbuffer busybox catchsegv winpty xvfb-run chronic"},
	{names: "time", values: "-o -f"},
	{names: "timeout gtimeout", values: "-s -k --signal --kill-after", skip: 1},
	{names: "nice", values: "-n"},
	{names: "ionice", values: "-c -n"},
	{names: "command exec", values: "-a"},
	{names: "stdbuf", values: "-i -o -e"},
	{names: "strace ltrace", values: "-o -e -s"},
	{names: "chroot flock", values: "-w -E", skip: 1},
	{names: "npx bunx uvx pnpx", values: "-p --package --from --with --python -w"},
	{names: "npm", verb: "exec", values: "-p --package"},
	{names: "npm", verb: "x", values: "-p --package"},
	{names: "pnpm yarn", verb: "dlx", values: "-p --package"},
	{names: "pnpm yarn", verb: "exec"},
	{names: "poetry pipenv hatch rye pdm", verb: "run"},
	{names: "uv", verb: "run", values: "--with --python --group --extra --project -p"},
	{names: "conda mamba", verb: "run", values: "-n -p --name"},
	{names: "bundle", verb: "exec"},
	{names: "mise asdf", verb: "exec"},
	{names: "direnv", verb: "exec", skip: 1},
	{names: "doppler infisical dotenvx op", verb: "run", values: "-p -c --project --config --env-file -f"},
	{names: "aws-vault", verb: "exec", skip: 1},
	{names: "dotenv", values: "-f -e"},
	{names: "devcontainer", verb: "exec", values: "--workspace-folder"},
	{names: "docker podman nerdctl", verb: "exec", values: "-e -u -w --env --user --workdir --env-file", skip: 1},
	{names: "docker podman nerdctl", verb: "run", skip: 1, values: "-v -e -w -u -p -m -l -h --name --network --env --volume --mount " +
		"--workdir --user --publish --entrypoint --env-file --platform --memory --cpus --hostname --label --add-host --gpus --shm-size --ulimit --cap-add --device --restart --pull"},
	{names: "docker podman", verb: "compose exec", values: "-e -u -w --env --user --workdir --index -f -p --file", skip: 1},
	{names: "docker podman", verb: "compose run", values: "-e -u -w -v -p --env --user --workdir --name --entrypoint -f --file", skip: 1},
	{names: "docker-compose", verb: "exec", values: "-e -u -w --env --user --workdir --index -f -p --file", skip: 1},
	{names: "docker-compose", verb: "run", values: "-e -u -w -v -p --env --user --workdir --name --entrypoint -f --file", skip: 1},
}

// wraps judges what a command runs instead of the command, and reports whether
// it did.
func (j *judge) wraps(c *command) bool {
	if j.texts(c) || j.makesArguments(c) {
		return true
	}
	if within("command", c.name()) && c.has("-v", "-V") {
		return true
	}
	for i := range wrappers {
		w := &wrappers[i]
		if !within(w.names, c.name()) {
			continue
		}
		if n, ok := w.inner(c.words); ok {
			j.simple(c.after(n))
			return true
		}
	}
	return false
}

// inner is where the inner command begins.
func (w *wrapper) inner(words []word) (int, bool) {
	verbs, skip := strings.Fields(w.verb), w.skip
	for i := 1; i < len(words); i++ {
		t := words[i].text
		switch {
		case t == "--":
			if len(verbs) > 0 {
				return 0, false
			}
			return i + 1 + skip, true
		case len(t) > 1 && t[0] == '-':
			if within(w.values, t) {
				i++
			}
		case len(verbs) > 0:
			if t != verbs[0] {
				return 0, false
			}
			verbs = verbs[1:]
		case isSetting(t) && (w.names == "env" || w.names == "sudo doas"):
		case skip > 0:
			skip--
		default:
			return i, true
		}
	}
	return 0, false
}

func isSetting(t string) bool {
	name, _, ok := strings.Cut(t, "=")
	return ok && name != "" && !strings.ContainsAny(name, "/.-")
}

// shells reports whether a command is a shell that reads its input.
func shells(c *command) bool {
	for within("sudo env nohup doas", c.name()) && len(c.words) > 1 {
		c = c.after(1)
	}
	return within("sh bash zsh dash ksh fish ash", c.name())
}

// texts judges commands that are handed a command as text.
func (j *judge) texts(c *command) bool {
	switch name := c.name(); {
	case name == "eval":
		j.shell(join(c.args()), c.depth+1)
	case shells(c) && within("sh bash zsh dash ksh fish ash", name):
		j.shellText(c)
	case within("su runuser script npx pnpx nix-shell vagrant", name):
		text, ok := c.value("-c", "--command", "--call", "--run")
		if !ok {
			return false
		}
		j.shell(text, c.depth+1)
	case name == "watch" || name == "concurrently":
		for _, o := range c.operands("-n --interval --names -c") {
			j.shell(o, c.depth+1)
		}
		j.shell(strings.Join(c.operands("-n --interval --names -c"), " "), c.depth+1)
	case within("source .", name):
	default:
		return false
	}
	return true
}

// shellText judges bash -c TEXT, and a here-document or a text that is piped in.
// A script in a file is not read.
func (j *judge) shellText(c *command) {
	args := c.args()
	for i, w := range args {
		t := w.text
		if len(t) < 2 || t[0] != '-' || t[1] == '-' {
			if t == "-" || strings.HasPrefix(t, "--") {
				continue
			}
			if strings.Contains(t, "curl ") || strings.Contains(t, "wget ") {
				j.foreign(c) // bash <(curl …)
			}
			j.named(c.after(1 + i))
			return
		}
		if strings.HasSuffix(t, "c") && i+1 < len(args) {
			text := args[i+1].text
			if strings.HasPrefix(text, "$(curl") || strings.HasPrefix(text, "$(wget") {
				j.foreign(c)
			}
			j.shell(text, c.depth+1)
			return
		}
	}
	j.shell(c.stdin, c.depth+1)
}

// foreign is a script from the network that is run unseen.
func (j *judge) foreign(c *command) {
	j.destroys("foreign-script", phraseOf("foreign-script"))
	j.outside("foreign-machine", "this machine", c)
}

func join(words []word) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(w.text + " ")
	}
	return b.String()
}

// makesArguments judges what xargs, parallel, find and fd run for many files.
func (j *judge) makesArguments(c *command) bool {
	switch c.name() {
	case "xargs":
		j.many(c, afterFlags(c, "-n -P -I -L -d -s -a -E --max-args --max-procs --replace"))
	case "parallel":
		j.many(c, afterFlags(c, "-j --jobs -a -N --colsep -I"))
	case "find", "gfind", "bfs":
		j.find(c, "-exec -execdir -ok -okdir")
	case "fd", "fdfind":
		j.find(c, "-x -X --exec --exec-batch")
	default:
		return false
	}
	return true
}

func afterFlags(c *command, values string) int {
	i := 1
	for ; i < len(c.words); i++ {
		t := c.words[i].text
		if len(t) < 2 || t[0] != '-' {
			break
		}
		if within(values, t) {
			i++
		}
	}
	return i
}

func (j *judge) many(c *command, n int) {
	inner := c.after(n)
	inner.many, inner.stdin = true, ""
	j.simple(inner)
}

func (j *judge) find(c *command, runs string) {
	start := 0
	for i, w := range c.words {
		switch {
		case start > 0 && (w.text == ";" || w.text == "+"):
			j.part(c, start, i)
			start = 0
		case start == 0 && within(runs, w.text):
			start = i + 1
		case start == 0 && (w.text == "-delete" || strings.HasPrefix(w.text, "-fprint")):
			j.destroys("delete-files", names("deletes what is found below", []string{first(c.operands(""), ".")}))
		}
	}
	if start > 0 {
		j.part(c, start, len(c.words))
	}
}

func (j *judge) part(c *command, from, to int) {
	inner := *c
	inner.words, inner.chain, inner.many = c.words[from:to], c.chain+1, true
	j.simple(&inner)
}
