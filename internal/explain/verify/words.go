package verify

import (
	"slices"
	"strings"
)

// splitCommands splits a shell line into its commands, each a list of words without quotes.
// It understands only what a name needs: quotes, escapes, comments and separators. Of a
// pipeline only the first command counts, and what follows "||" does not.
func splitCommands(line string) [][]string {
	s := commandSplitter{rest: line}
	for s.next() {
	}
	s.endCommand()
	return s.commands
}

// commandSplitter is the state of splitCommands.
type commandSplitter struct {
	rest     string
	word     strings.Builder
	inWord   bool // a word, maybe an empty one
	words    []string
	skipping bool // until the next command that counts
	commands [][]string
}

// next consumes one token, and reports false at the end.
func (s *commandSplitter) next() bool {
	if s.rest == "" {
		return false
	}
	c := s.rest[0]
	switch {
	case c == '\\' && len(s.rest) > 1:
		s.appendText(s.rest[1:2], 2)
	case c == '\'' || c == '"':
		s.readQuoted(c)
	case c == '#' && !s.inWord:
		at := strings.IndexByte(s.rest+"\n", '\n')
		s.rest = s.rest[at:]
	case strings.IndexByte(" \t()", c) >= 0, !s.inWord && strings.IndexByte("{}", c) >= 0:
		s.endWord()
		s.rest = s.rest[1:]
	case strings.IndexByte("|&;\n", c) >= 0:
		s.readSeparator()
	default:
		s.appendText(s.rest[:1], 1)
	}
	return true
}

func (s *commandSplitter) appendText(text string, n int) {
	s.word.WriteString(text)
	s.inWord = true
	s.rest = s.rest[n:]
}

func (s *commandSplitter) readQuoted(q byte) {
	end := strings.IndexByte(s.rest[1:], q)
	if end < 0 {
		end = len(s.rest) - 1
	}
	text := s.rest[1 : 1+end]
	s.appendText(text, min(end+2, len(s.rest)))
}

// readSeparator ends a command. Redirections such as 2>&1 do not.
func (s *commandSplitter) readSeparator() {
	w := s.word.String()
	if s.rest[0] == '&' && (strings.HasSuffix(w, ">") || strings.HasSuffix(w, "<") || strings.HasPrefix(s.rest, "&>")) {
		s.appendText("&", 1)
		return
	}
	s.endCommand()
	n := 1
	if len(s.rest) > 1 && s.rest[1] == s.rest[0] {
		n = 2
	}
	s.skipping = s.rest[0] == '|'
	s.rest = s.rest[n:]
}

func (s *commandSplitter) endWord() {
	if s.inWord && !s.skipping {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.inWord = false
}

func (s *commandSplitter) endCommand() {
	s.endWord()
	if len(s.words) > 0 {
		s.commands = append(s.commands, s.words)
	}
	s.words = nil
}

// stripRedirects drops redirections and assignments before a command.
func stripRedirects(words []string) []string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		return strings.HasPrefix(strings.TrimLeft(w, "0123456789&"), ">") || strings.HasPrefix(w, "<")
	})
	for len(words) > 0 && isAssignment(words[0]) {
		words = words[1:]
	}
	return words
}

// isAssignment recognizes NAME=value.
func isAssignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	if !ok || name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
}
