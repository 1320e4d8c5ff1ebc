package risk

import (
	"path"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Bytes of an encoded word that are not text. Words are valid UTF-8, which has none of them.
const (
	unknownPart = 0xFF // what only a running shell knows
	homeDir     = 0xFE
	startDir    = 0xFD // where the call begins
	fieldBreak  = 0xFC // between two words
	anyText     = 0xFB // *
	anyByte     = 0xFA // ?
	setBegin    = 0xF9 // [
	braceBegin  = 0xF8
	braceComma  = 0xF7
	braceEnd    = 0xF6
	firstMark   = braceEnd
)

const (
	unknownWord = "\xFF"
	homeWord    = "\xFE"
	startWord   = "\xFD"
	breakWord   = "\xFC"
)

// form is one text that a word may stand for, as a path.
type form struct {
	text    string // after the directory that it begins in; in the form of path.Match if glob is set
	glob    bool
	home    bool // begins in the home directory
	start   bool // begins where the call does, whatever cd says
	unknown bool // only a running shell knows the text
}

// wordForms returns what a word of a command may stand for.
func (j *callJudge) wordForms(c *command, w word) []form {
	switch {
	case w.syntax != nil && c.walker != nil:
		return c.walker.forms(w)
	case w.isPlain:
		return []form{literalForm(w.text)}
	}
	return []form{{unknown: true}}
}

// forms returns what a parsed word may stand for, at most maxForms.
func (w *shellWalker) forms(one word) []form {
	var out []form
	for _, alt := range w.encodeWord(one.syntax) {
		if one.cut > 0 {
			alt = cutFlag(alt, one.cut)
		}
		for _, field := range w.splitFields(alt) {
			if len(out) == maxForms {
				return append(out[:maxForms-1], form{unknown: true})
			}
			out = append(out, decodeForm(field))
		}
	}
	return out
}

// cutFlag removes the flag before a value.
func cutFlag(encoded string, n int) string {
	for i := range n {
		if i >= len(encoded) || encoded[i] >= firstMark {
			return unknownWord
		}
	}
	return encoded[n:]
}

// splitFields expands braces and splits at the breaks.
func (w *shellWalker) splitFields(encoded string) []string {
	var out []string
	for _, s := range w.expandBraces(encoded) {
		for field := range strings.SplitSeq(s, breakWord) {
			if field != "" {
				out = append(out, field)
			}
		}
	}
	return out
}

// encodeWord returns the encoded texts that a word may have before its braces are expanded: several
// if a variable has several values.
func (w *shellWalker) encodeWord(sw *syntax.Word) []string {
	alts := []string{""}
	for i, p := range sw.Parts {
		lit, ok := p.(*syntax.Lit)
		switch {
		case ok && i == 0:
			alts = w.appendParts(alts, []string{w.encodeFirst(lit.Value, len(sw.Parts) == 1)})
		default:
			alts = w.appendParts(alts, w.encodePart(p, false))
		}
	}
	return alts
}

// appendParts appends each of the texts to each of the others.
func (w *shellWalker) appendParts(alts, parts []string) []string {
	if len(alts)*len(parts) > maxForms {
		return []string{unknownWord}
	}
	out := make([]string, 0, len(alts)*len(parts))
	for _, a := range alts {
		for _, p := range parts {
			if w.formBudget -= len(a) + len(p); w.formBudget < 0 {
				return []string{unknownWord}
			}
			out = append(out, a+p)
		}
	}
	return out
}

// encodePart returns the encoded texts of one part of a word.
func (w *shellWalker) encodePart(p syntax.WordPart, quoted bool) []string {
	switch p := p.(type) {
	case *syntax.Lit:
		return []string{encodeLit(p.Value, quoted)}
	case *syntax.SglQuoted:
		if !p.Dollar {
			return []string{p.Value}
		}
		return []string{unescapeANSI(p.Value)}
	case *syntax.DblQuoted:
		alts := []string{""}
		for _, q := range p.Parts {
			alts = w.appendParts(alts, w.encodePart(q, true))
		}
		return alts
	case *syntax.ParamExp:
		return w.encodeVariable(p, quoted)
	case *syntax.CmdSubst:
		return w.encodeOutput(p, quoted)
	case *syntax.ExtGlob:
		return []string{string([]byte{anyText})} // matches more, which is safe
	}
	return []string{unknownWord}
}

// encodeFirst encodes the text that a word begins with, where "~" is the home directory. It may also
// be after NAME=, as in dd of=~/x.
func (w *shellWalker) encodeFirst(v string, alone bool) string {
	name := ""
	if at := strings.Index(v, "=~"); at > 0 && isAssignment(v[:at]+"=") {
		name, v = v[:at+1], v[at+1:]
	}
	if v == "" || v[0] != '~' {
		return name + encodeLit(v, false)
	}
	user, rest := v[1:], ""
	if end := strings.IndexByte(v, '/'); end >= 0 {
		user, rest = v[1:end], v[end:]
	} else if !alone {
		return name + encodeLit(v, false) // a quote after it makes it a plain character
	}
	switch user {
	case "":
		return name + w.homeText() + encodeLit(rest, false)
	case "+":
		if here := w.workTexts(); len(here) == 1 {
			return name + here[0] + encodeLit(rest, false)
		}
	}
	return name + unknownWord
}

// homeText is the home directory, as far as the text tells.
func (w *shellWalker) homeText() string {
	if set := w.values["HOME"]; len(set) == 1 {
		return set[0]
	} else if len(set) > 1 || w.otherHome {
		return unknownWord
	}
	return homeWord
}

// encodeVariable returns the encoded values of a variable that the text sets, or of HOME and PWD.
func (w *shellWalker) encodeVariable(p *syntax.ParamExp, quoted bool) []string {
	name, ok := variableName(p)
	if !ok {
		return []string{unknownWord}
	}
	values, set := w.values[name]
	switch {
	case set && !quoted && w.values["IFS"] != nil:
		return []string{unknownWord} // it is split in another way
	case set && !quoted:
		return unquoteAll(values)
	case set:
		return values
	case name == "HOME":
		return []string{w.homeText()}
	case name == "PWD":
		return w.workTexts()
	}
	return []string{unknownWord}
}

// workTexts are the directories that $PWD may be, encoded.
func (w *shellWalker) workTexts() []string {
	if w.where.unknown {
		return []string{unknownWord}
	}
	var out []string
	for _, d := range w.where.all() {
		if d == "" {
			out = append(out, startWord)
			continue
		}
		out = append(out, encodePlace(d))
	}
	return out
}

// variableName returns the variable whose value an expansion has if it is set: $a, ${a:-b}, ${a[@]}.
func variableName(p *syntax.ParamExp) (string, bool) {
	if p.Param == nil || p.Excl || p.Length || p.Width || p.Slice != nil || p.Repl != nil || p.Names != 0 {
		return "", false
	}
	if p.Exp != nil {
		switch p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.ErrorUnset, syntax.ErrorUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		default:
			return "", false
		}
	}
	if p.Index == nil {
		return p.Param.Value, true
	}
	index, ok := p.Index.(*syntax.Word)
	if !ok || !containsWord("@ *", index.Lit()) {
		return "", false
	}
	return p.Param.Value + "[@]", true
}

// literalForm returns the form of a path that no shell expands.
func literalForm(p string) form {
	switch {
	case !utf8.ValidString(p) || strings.IndexByte(p, 0) >= 0:
		return form{unknown: true}
	case p == "~" || strings.HasPrefix(p, "~/"):
		return form{text: p[1:], home: true}
	}
	return form{text: p}
}

// shown returns a form for people.
func (f form) shown() string {
	switch {
	case f.unknown:
		return "files listed when it runs"
	case f.home:
		return "~" + f.text
	case f.start:
		return "." + f.text
	}
	return f.text
}

// lastElement returns the name of a path in its directory; "" if it has none of its own, as "." and "/".
func (f form) lastElement() form {
	if f.unknown {
		return f
	}
	name := path.Base(path.Clean("/" + f.text))
	if name == "/" || name == ".." || strings.HasSuffix(f.text, "/.") || f.text == "." || f.text == ".." || strings.HasSuffix(f.text, "/..") {
		return form{unknown: f.home || f.start}
	}
	if !f.glob {
		return form{text: name}
	}
	if !hasPattern(name) {
		return form{text: unescapeGlob(name)}
	}
	return form{text: name, glob: true}
}

// within returns the form of a name in a directory.
func (f form) within(dir form) form {
	dir.unknown = dir.unknown || f.unknown
	if f.glob != dir.glob {
		dir.text, f.text = asGlob(dir), asGlob(f)
	}
	dir.text, dir.glob = strings.TrimRight(dir.text, "/")+"/"+f.text, dir.glob || f.glob
	return dir
}

func asGlob(f form) string {
	if f.glob {
		return f.text
	}
	return escapeGlob(f.text)
}
