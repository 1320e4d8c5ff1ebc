package risk

import (
	"iter"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// command is one simple command: its words without quotes, and what is known of its input.
type command struct {
	words      []word
	env        []string // NAME=value before it
	text       string   // as run
	stdin      string   // here-document, here-string, or what echo hands over
	readsInput bool     // reads from a file or a pipe
	depth      int      // texts inside of texts
	wrapDepth  int      // programs before it that run it

	wasRead bool // the file that it runs was read, and deletes something

	generatedArgs bool   // its arguments are made by another program
	placeholder   string // what they stand in for, as {}; empty: they are at the end
	found         []word // the directories that they are found below; nil: nobody knows

	walker *shellWalker // that parsed it; nil: the text could not be parsed
}

// word is one word. Text that only a running shell could expand stays as written: $DIR,
// $(date).
type word struct {
	text    string
	hasGlob bool

	syntax  *syntax.Word // as parsed; nil: only the text is known
	cut     int          // bytes of it before the text: a flag, as in --output=x
	isPlain bool         // the text is what a shell makes of it
	follow  bool         // find goes through the links below it
}

// afterFlag returns the word without its first bytes.
func (w word) afterFlag(n int) word {
	w.text, w.cut = w.text[n:], w.cut+n
	return w
}

// plainWord is a word of which only the text is known.
func plainWord(text string) word {
	return word{text: text, hasGlob: strings.ContainsAny(text, "*?["), isPlain: isPlainPath(text)}
}

// isPlainPath reports whether no shell makes something else of a text.
func isPlainPath(text string) bool {
	rest := strings.TrimPrefix(text, "~")
	if rest != text && rest != "" && rest[0] != '/' {
		return false // the home of a user
	}
	for i := range len(rest) {
		if c := rest[i]; !isNameByte(c) && strings.IndexByte("./-+@%:,=", c) < 0 {
			return false
		}
	}
	return text != ""
}

// wordTexts returns the texts of words.
func wordTexts(words []word) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.text
	}
	return list
}

// isPlaceholder reports whether a word is nothing but what generated arguments stand in for.
func (c *command) isPlaceholder(text string) bool {
	return c.generatedArgs && c.placeholder != "" && text == c.placeholder
}

// wordOf returns the word with a text.
func (c *command) wordOf(text string) word {
	for _, w := range c.words {
		if w.text == text {
			return w
		}
	}
	return plainWord(text)
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
	for w := range c.eachFlagValue(flags) {
		list = append(list, w.text)
	}
	return list
}

// flagWords is flagValues with the words.
func (c *command) flagWords(flags ...string) []word { return slices.Collect(c.eachFlagValue(flags)) }

func (c *command) eachFlagValue(flags []string) iter.Seq[word] {
	return func(yield func(word) bool) {
		args := c.args()
		for i, w := range args {
			if w.text == "--" {
				return
			}
			for _, f := range flags {
				var value word
				switch {
				case w.text == f && i+1 < len(args):
					value = args[i+1]
				case w.text == f:
					continue
				case strings.HasPrefix(w.text, f+"="):
					value = w.afterFlag(len(f) + 1)
				case len(f) == 2 && strings.HasPrefix(w.text, f) && f[1] != '-':
					value = w.afterFlag(2)
				default:
					continue
				}
				if !yield(value) {
					return
				}
			}
		}
	}
}

// operands returns the words that are neither flags nor values of flags. valueFlags lists
// the flags that take a value.
func (c *command) operands(valueFlags string) []string {
	var list []string
	for w := range c.eachOperand(valueFlags) {
		list = append(list, w.text)
	}
	return list
}

// operandWords is operands with the words.
func (c *command) operandWords(valueFlags string) []word {
	return slices.Collect(c.eachOperand(valueFlags))
}

func (c *command) eachOperand(valueFlags string) iter.Seq[word] {
	return func(yield func(word) bool) {
		args, onlyOperands := c.args(), false
		for i := 0; i < len(args); i++ {
			t := args[i].text
			switch {
			case onlyOperands || len(t) < 2 || t[0] != '-':
				if !yield(args[i]) {
					return
				}
			case t == "--":
				onlyOperands = true
			case containsWord(valueFlags, t):
				i++
			}
		}
	}
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
