package risk

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// wordsOf are the words of a command. A variable in the first place may hold
// the name of a program and its flags.
func (w *walker) wordsOf(call *syntax.CallExpr) []word {
	var list []word
	for i, a := range call.Args {
		one := w.word(a)
		if i == 0 && strings.Contains(one.text, " ") && bare(a) {
			for _, f := range strings.Fields(one.text) {
				list = append(list, word{text: f})
			}
			continue
		}
		list = append(list, one)
	}
	return list
}

// bare reports that a word is one variable without quotes: the shell splits it.
func bare(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	_, ok := w.Parts[0].(*syntax.ParamExp)
	return ok
}

func (w *walker) word(sw *syntax.Word) word {
	var b strings.Builder
	out := word{}
	for _, p := range sw.Parts {
		out.glob = w.part(&b, p) || out.glob
	}
	out.text = b.String()
	return out
}

// part adds the text of a part, and reports whether it holds a pattern.
func (w *walker) part(b *strings.Builder, p syntax.WordPart) bool {
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
			w.part(b, q)
		}
	case *syntax.ParamExp:
		w.variable(b, p)
	case *syntax.ExtGlob:
		b.WriteString(w.source(p))
		return true
	default:
		b.WriteString(w.source(p))
	}
	return false
}

// variable adds what the text itself said of a variable, or its name.
func (w *walker) variable(b *strings.Builder, p *syntax.ParamExp) {
	plainName := p.Param != nil && p.Exp == nil && p.Repl == nil && p.Slice == nil && p.Index == nil && !p.Length && !p.Excl
	if plainName {
		if v, ok := w.vars[p.Param.Value]; ok && len(v) <= w.spare {
			w.spare -= len(v)
			b.WriteString(v)
			return
		}
	}
	b.WriteString(w.source(p))
}

// unescape drops backslashes as the shell does, and reports a pattern that was
// not escaped.
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
