package risk

import (
	"path"
	"strings"
)

// command is one simple command: its words without quotes, and what is known of its input.
type command struct {
	words         []word
	env           []string // NAME=value before it
	text          string   // as run
	stdin         string   // here-document, here-string, or what echo hands over
	readsInput    bool     // reads from a file or a pipe
	generatedArgs bool     // its arguments are made by another program
	depth         int      // texts inside of texts
	wrapDepth     int      // programs before it that run it
}

// word is one word. Text that only a running shell could expand stays as written: $DIR,
// $(date).
type word struct {
	text    string
	hasGlob bool
}

func (c *command) name() string {
	if len(c.words) == 0 {
		return ""
	}
	n := strings.ToLower(path.Base(strings.ReplaceAll(c.words[0].text, `\`, "/")))
	if at := strings.IndexByte(n, '@'); at > 0 {
		n = n[:at] // vercel@latest
	}
	return strings.TrimSuffix(n, ".exe")
}

func (c *command) args() []word {
	if len(c.words) == 0 {
		return nil
	}
	return c.words[1:]
}

// hasFlag reports whether one of the flags is present: alone, with =value, or as a letter
// in a group. Words after "--" are not flags.
func (c *command) hasFlag(flags ...string) bool {
	for _, w := range c.args() {
		if w.text == "--" {
			return false
		}
		if len(w.text) < 2 || w.text[0] != '-' {
			continue
		}
		for _, f := range flags {
			if matchesFlag(w.text, f) {
				return true
			}
		}
	}
	return false
}

func matchesFlag(text, flag string) bool {
	if text == flag || strings.HasPrefix(text, flag+"=") {
		return true
	}
	return len(flag) == 2 && text[1] != '-' && isLetters(text[1:]) && strings.Contains(text[1:], flag[1:])
}

func isLetters(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return s != ""
}

// flagValue returns the value of one of the flags: -x v, -xv, --long v, --long=v.
func (c *command) flagValue(flags ...string) (string, bool) {
	all := c.flagValues(flags...)
	if len(all) == 0 {
		return "", false
	}
	return all[0], true
}

// flagValues returns the values of all occurrences of the flags.
func (c *command) flagValues(flags ...string) []string {
	var list []string
	args := c.args()
	for i, w := range args {
		if w.text == "--" {
			break
		}
		for _, f := range flags {
			switch {
			case w.text == f:
				if i+1 < len(args) {
					list = append(list, args[i+1].text)
				}
			case strings.HasPrefix(w.text, f+"="):
				list = append(list, w.text[len(f)+1:])
			case len(f) == 2 && strings.HasPrefix(w.text, f) && f[1] != '-':
				list = append(list, w.text[2:])
			}
		}
	}
	return list
}

// operands returns the words that are neither flags nor values of flags. valueFlags lists
// the flags that take a value.
func (c *command) operands(valueFlags string) []string {
	var list []string
	args := c.args()
	for i := 0; i < len(args); i++ {
		t := args[i].text
		if t == "--" {
			for _, w := range args[i+1:] {
				list = append(list, w.text)
			}
			break
		}
		if len(t) > 1 && t[0] == '-' {
			if containsWord(valueFlags, t) {
				i++
			}
			continue
		}
		list = append(list, t)
	}
	return list
}

// containsWord reports whether a space-separated list contains a word.
func containsWord(list, w string) bool {
	if w == "" || strings.Contains(w, " ") {
		return false
	}
	for rest := list; rest != ""; {
		var one string
		one, rest, _ = strings.Cut(rest, " ")
		if one == w {
			return true
		}
	}
	return false
}

// isDryRun reports whether a command only says what it would do.
func (c *command) isDryRun() bool {
	for _, w := range c.args() {
		switch w.text {
		case "--":
			return false
		case "--help", "--dry-run", "--dryrun", "--dry-run=client", "--dry-run=server", "--dry-run=true", "--what-if":
			return true
		}
	}
	args := c.args()
	return len(args) == 1 && containsWord("--version -V -h help version", args[0].text)
}

// commandFrom returns the command that begins at word n: what a wrapper program runs.
func (c *command) commandFrom(n int) *command {
	inner := *c
	inner.words, inner.wrapDepth = c.words[min(n, len(c.words)):], c.wrapDepth+1
	return &inner
}

// envValue returns the value of NAME=value before the command, or "".
func (c *command) envValue(name string) string {
	for _, e := range c.env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// firstOr returns the first element of a list, or none if the list is empty.
func firstOr(list []string, none string) string {
	if len(list) == 0 {
		return none
	}
	return list[0]
}
