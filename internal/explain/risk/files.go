package risk

import "strings"

// asksHelp reports that help is the first thing asked. Further on it may be the
// name of a file.
func asksHelp(c *command) bool {
	return len(c.words) > 1 && within("--help --version", c.words[1].text)
}

// removes: every deletion counts, wherever it is: the rules do not know where the
// workspace begins.
func (j *judge) removes(c *command) {
	if asksHelp(c) {
		return
	}
	targets := c.operands("-n --iterations")
	switch {
	case len(targets) == 0 && c.many:
		j.destroys("delete-files", "deletes files that are listed when it runs")
	case len(targets) > 0:
		j.destroys("delete-files", names("deletes", targets))
	}
}

// scratch paths are written anew all the time.
func scratch(p string) bool {
	for _, s := range []string{"/dev/", "/tmp/", "/var/tmp/", "/proc/", "$TMPDIR", "${TMPDIR", "$(mktemp"} {
		if strings.HasPrefix(p, s) {
			return true
		}
	}
	return false
}

// truncates: a redirect empties what was there.
func (j *judge) truncates(p string) {
	if p == "" || p == "-" || strings.Trim(p, "0123456789-") == "" || scratch(p) || strings.HasPrefix(p, ">(") {
		return
	}
	j.overwrites("writes over", []string{p})
}

func (j *judge) truncate(c *command) {
	if targets := c.operands("-s -r --size --reference"); len(targets) > 0 && !asksHelp(c) {
		j.overwrites("cuts", targets)
	}
}

func (j *judge) dd(c *command) {
	for _, w := range c.args() {
		if to, ok := strings.CutPrefix(w.text, "of="); ok {
			if strings.HasPrefix(to, "/dev/") && !within("/dev/null /dev/stdout /dev/stderr", to) {
				j.outside("machine", to, c)
				continue
			}
			j.truncates(to)
		}
	}
}

func (j *judge) tee(c *command) {
	if c.has("-a", "--append") {
		return
	}
	for _, p := range c.operands("") {
		j.truncates(p)
	}
}

func (j *judge) sort(c *command) {
	if to, ok := c.value("-o", "--output"); ok {
		j.truncates(to)
	}
}

// mv: a rename loses nothing, and what it may write over is held by the
// checkpoint of the turn. Counted are forced moves, and moves to where no
// checkpoint looks.
func (j *judge) mv(c *command) {
	targets := c.operands("-t -S --target-directory --suffix")
	if len(targets) == 0 || asksHelp(c) || c.has("-n", "--no-clobber", "-b", "--backup") {
		return
	}
	last := targets[len(targets)-1]
	if t, ok := c.value("-t", "--target-directory"); ok {
		last = t
	}
	switch {
	case scratch(last) || last == "/tmp" || last == "/dev/null" || strings.HasPrefix(last, "~"):
		if sources := targets[:max(1, len(targets)-1)]; !scratch(sources[0]) {
			j.destroys("take-away", names("moves away", sources))
		}
	case c.has("-f", "--force"):
		j.overwrites("moves over", []string{last})
	}
}

// cp: a copy writes as an editor does; forced ones count.
func (j *judge) cp(c *command) {
	targets := c.operands("-t -S --target-directory --suffix")
	if len(targets) < 2 || asksHelp(c) || !c.has("-f", "--force", "--remove-destination") || scratch(targets[len(targets)-1]) {
		return
	}
	j.overwrites("copies over", targets[len(targets)-1:])
}

func (j *judge) ln(c *command) {
	if list := c.operands("-t -S"); len(list) > 1 && c.has("-f", "--force") && !scratch(list[len(list)-1]) {
		j.overwrites("links over", list[len(list)-1:])
	}
}

// inPlace: an edit of one file is what a write tool does; an edit of many is not
// easily looked through.
func (j *judge) inPlace(c *command) {
	edits, wide := false, c.many
	for _, w := range c.args() {
		edits = edits || editsInPlace(w.text)
		wide = wide || w.glob
	}
	if c.name() == "perl" {
		j.code(c)
	}
	if !edits {
		return
	}
	const few = 3
	files := c.operands("-e -f -E --expression --file")
	for _, f := range files {
		if strings.HasPrefix(f, "/etc/") {
			j.outside("machine", f, c)
		}
	}
	if wide || len(files) > few+1 {
		j.destroys("mass-edit", phraseOf("mass-edit"))
	}
}

// editsInPlace knows -i, -i.bak, and -i among other letters, as in -pi.
func editsInPlace(t string) bool {
	return strings.HasPrefix(t, "-i") || strings.HasPrefix(t, "--in-place") ||
		len(t) < 6 && len(t) > 2 && t[0] == '-' && letters(t[1:]) && strings.Contains(t, "i") && t[1] != 'f'
}

func (j *judge) rsync(c *command) {
	if c.has("-n", "--dry-run", "--list-only", "--help") {
		return
	}
	ends := c.operands("-e --rsh --exclude --include --filter -f --exclude-from --include-from --files-from --bwlimit --port --rsync-path --chmod")
	if len(ends) < 2 {
		return
	}
	to := ends[len(ends)-1]
	if host := remoteHost(to); host != "" {
		j.outside("copy-to-host", host, c)
		return
	}
	for _, w := range c.args() {
		if strings.HasPrefix(w.text, "--del") || w.text == "--remove-source-files" {
			j.destroys("sync-delete", names("deletes what is not in the source, below", []string{to}))
		}
	}
}

func (j *judge) tar(c *command) {
	if c.has("--overwrite", "--overwrite-dir", "-U", "--unlink-first", "--recursive-unlink", "--remove-files") {
		j.destroys("unpack-over", phraseOf("unpack-over"))
	}
}

func (j *judge) unzip(c *command) {
	if strings.Contains(c.name(), "z") && !strings.HasPrefix(c.name(), "7") && c.name() != "unzip" {
		if c.has("-f", "--force") && !c.has("-c", "-l", "-t") {
			j.destroys("unpack-over", phraseOf("unpack-over"))
		}
		return
	}
	if c.name() != "unzip" {
		if len(c.words) > 1 && within("x e", c.words[1].text) && c.has("-y", "-aoa") {
			j.destroys("unpack-over", phraseOf("unpack-over"))
		}
		return
	}
	if c.has("-o") && !c.has("-l", "-t", "-p", "-v") {
		j.destroys("unpack-over", phraseOf("unpack-over"))
	}
}

func (j *judge) modes(c *command) {
	if targets := c.operands(""); c.has("-R", "--recursive") && len(targets) > 1 {
		j.destroys("change-modes", names(c.name()+" of all below", targets[1:]))
	}
}
