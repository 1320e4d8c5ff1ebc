package risk

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// commandWords returns the words of a command. A variable in the first place may expand to
// a program and its flags.
func (w *shellWalker) commandWords(call *syntax.CallExpr) []word {
	var list []word
	for i, a := range call.Args {
		one := w.expandWord(a)
		if i == 0 && strings.Contains(one.text, " ") && isBareVariable(a) {
			for _, f := range strings.Fields(one.text) {
				list = append(list, word{text: f, isPlain: isPlainPath(f)})
			}
			continue
		}
		list = append(list, one)
	}
	return list
}

// isBareVariable reports whether a word is one unquoted variable, which the shell splits.
func isBareVariable(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	_, ok := w.Parts[0].(*syntax.ParamExp)
	return ok
}

func (w *shellWalker) expandWord(sw *syntax.Word) word {
	var b strings.Builder
	out := word{syntax: sw}
	for _, p := range sw.Parts {
		out.hasGlob = w.expandPart(&b, p) || out.hasGlob
	}
	out.text = b.String()
	return out
}

// expandPart appends the text of a part, and reports whether it contains a glob pattern.
func (w *shellWalker) expandPart(b *strings.Builder, p syntax.WordPart) bool {
	switch p := p.(type) {
	case *syntax.Lit:
		return unescape(b, p.Value, false)
	case *syntax.SglQuoted:
		b.WriteString(p.Value)
	case *syntax.DblQuoted:
		for _, q := range p.Parts {
			if lit, ok := q.(*syntax.Lit); ok {
				unescape(b, lit.Value, true)
				continue
			}
			w.expandPart(b, q)
		}
	case *syntax.ParamExp:
		w.expandVariable(b, p)
	case *syntax.ExtGlob:
		b.WriteString(w.sourceText(p))
		return true
	default:
		b.WriteString(w.sourceText(p))
	}
	return false
}

// expandVariable appends the value that the text itself gave a variable, else its name.
func (w *shellWalker) expandVariable(b *strings.Builder, p *syntax.ParamExp) {
	plainName := p.Param != nil && p.Exp == nil && p.Repl == nil && p.Slice == nil && p.Index == nil && !p.Length && !p.Excl
	if plainName {
		if v, ok := w.vars[p.Param.Value]; ok && len(v) <= w.expansionBudget {
			w.expansionBudget -= len(v)
			b.WriteString(v)
			return
		}
	}
	b.WriteString(w.sourceText(p))
}

// unescape removes backslashes as the shell does, and reports an unescaped glob pattern.
func unescape(b *strings.Builder, s string, quoted bool) (glob bool) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' && i+1 < len(s) {
			next := s[i+1]
			if !quoted || strings.IndexByte("\"\\$`\n", next) >= 0 {
				i++
				if next != '\n' {
					b.WriteByte(next)
				}
				continue
			}
		}
		glob = glob || c == '*' || c == '?' || c == '['
		b.WriteByte(c)
	}
	return glob
}
