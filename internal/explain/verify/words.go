package verify

import (
	"slices"
	"strings"
)

// commands splits a line for a shell into its commands, each a list of words without
// quotes. Only what a name needs is understood: quotes, escapes, comments, and what
// stands between commands. Of a pipeline the first command counts, and of what follows
// "||" nothing.
func commands(line string) [][]string {
	s := splitter{left: line}
	for s.step() {
	}
	s.endCommand()
	return s.all
}

type splitter struct {
	left  string
	word  strings.Builder
	began bool // a word, maybe an empty one
	now   []string
	mute  bool // until the next command that counts
	all   [][]string
}

func (s *splitter) step() bool {
	if s.left == "" {
		return false
	}
	c := s.left[0]
	switch {
	case c == '\\' && len(s.left) > 1:
		s.take(s.left[1:2], 2)
	case c == '\'' || c == '"':
		s.quoted(c)
	case c == '#' && !s.began:
		at := strings.IndexByte(s.left+"\n", '\n')
		s.left = s.left[at:]
	case strings.IndexByte(" \t()", c) >= 0, !s.began && strings.IndexByte("{}", c) >= 0:
		s.endWord()
		s.left = s.left[1:]
	case strings.IndexByte("|&;\n", c) >= 0:
		s.between()
	default:
		s.take(s.left[:1], 1)
	}
	return true
}

func (s *splitter) take(text string, n int) {
	s.word.WriteString(text)
	s.began = true
	s.left = s.left[n:]
}

func (s *splitter) quoted(q byte) {
	end := strings.IndexByte(s.left[1:], q)
	if end < 0 {
		end = len(s.left) - 1
	}
	text := s.left[1 : 1+end]
	s.take(text, min(end+2, len(s.left)))
}

// between ends a command. Redirections such as 2>&1 end none.
func (s *splitter) between() {
	w := s.word.String()
	if s.left[0] == '&' && (strings.HasSuffix(w, ">") || strings.HasSuffix(w, "<") || strings.HasPrefix(s.left, "&>")) {
		s.take("&", 1)
		return
	}
	s.endCommand()
	n := 1
	if len(s.left) > 1 && s.left[1] == s.left[0] {
		n = 2
	}
	s.mute = s.left[0] == '|'
	s.left = s.left[n:]
}

func (s *splitter) endWord() {
	if s.began && !s.mute {
		s.now = append(s.now, s.word.String())
	}
	s.word.Reset()
	s.began = false
}

func (s *splitter) endCommand() {
	s.endWord()
	if len(s.now) > 0 {
		s.all = append(s.all, s.now)
	}
	s.now = nil
}

// bare drops redirections and what is set before a command.
func bare(words []string) []string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		return strings.HasPrefix(strings.TrimLeft(w, "0123456789&"), ">") || strings.HasPrefix(w, "<")
	})
	for len(words) > 0 && assigns(words[0]) {
		words = words[1:]
	}
	return words
}

// assigns: NAME=value.
func assigns(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	if !ok || name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
}
