package risk

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// encodeOutput returns the encoded texts that a command substitution stands for, if its command prints
// nothing but what its words say: pwd, echo, printf %s, dirname and basename.
func (w *shellWalker) encodeOutput(p *syntax.CmdSubst, quoted bool) []string {
	name, args := simpleCall(p)
	if name == "pwd" && len(args) == 0 {
		return w.workTexts()
	}
	var words []string
	for _, a := range w.printedWords(name, args) {
		alts := w.encodeWord(a)
		if len(alts) != 1 || !isOneText(alts[0]) {
			return []string{unknownWord}
		}
		words = append(words, alts[0])
	}
	text := strings.Join(words, " ")
	switch {
	case len(words) == 0:
		return []string{unknownWord}
	case name == "dirname":
		text = dirName(text)
	case name == "basename":
		text = path.Base(text)
	}
	if !quoted {
		return unquoteAll([]string{text})
	}
	return []string{text}
}

// dirName is what dirname prints: it resolves no "..".
func dirName(text string) string {
	text = strings.TrimRight(text, "/")
	at := strings.LastIndexByte(text, '/')
	if at < 0 {
		return "."
	}
	if dir := strings.TrimRight(text[:at], "/"); dir != "" {
		return dir
	}
	return "/"
}

// simpleCall returns the name and the arguments of a command substitution that is one simple command.
func simpleCall(p *syntax.CmdSubst) (name string, args []*syntax.Word) {
	if len(p.Stmts) != 1 || len(p.Stmts[0].Redirs) > 0 || p.Stmts[0].Negated || p.Stmts[0].Background {
		return "", nil
	}
	call, ok := p.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) == 0 {
		return "", nil
	}
	return call.Args[0].Lit(), call.Args[1:]
}

// printedWords returns the words that a command prints, or of which it prints a part; none if nobody knows.
func (w *shellWalker) printedWords(name string, args []*syntax.Word) []*syntax.Word {
	switch {
	case len(args) == 0:
		return nil
	case name == "printf":
		format := w.sourceText(args[0])
		if strings.Contains(format, "%s") && strings.Trim(format, `%s\n'" `) == "" {
			return args[1:]
		}
	case strings.HasPrefix(args[0].Lit(), "-"):
	case name == "echo", containsWord("dirname basename", name) && len(args) == 1:
		return args
	}
	return nil
}

// isOneText reports whether an encoded word is one text, which may begin in the home directory or where
// the call does.
func isOneText(encoded string) bool {
	rest := encoded
	if rest != "" && (rest[0] == homeDir || rest[0] == startDir) {
		if rest = rest[1:]; rest == "" || rest[0] != '/' {
			return false
		}
	}
	for i := range len(rest) {
		if rest[i] >= firstMark {
			return false
		}
	}
	return rest != ""
}
