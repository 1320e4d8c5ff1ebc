package risk

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Limits of the variables that a text sets.
const (
	maxVariables     = 1000
	maxVariableBytes = 256
)

// recordAssign remembers the value of a variable that the text itself sets, and forgets one whose new
// value only a shell could tell. A setting in front of a command ends with the command.
func (w *shellWalker) recordAssign(a *syntax.Assign) {
	if a.Name == nil || a.Naked || slices.Contains(w.settings, a) {
		return
	}
	switch {
	case a.Append || a.Index != nil:
		w.forgetVariable(a.Name.Value)
		return
	case a.Array != nil:
		w.recordArray(a)
		return
	}
	w.forgetVariable(a.Name.Value)
	if len(w.values) > maxVariables {
		return
	}
	text := ""
	if a.Value != nil {
		text = w.expandWord(a.Value).text
	}
	w.values[a.Name.Value] = w.encodeAssigned(a.Value)
	if len(text) <= maxVariableBytes && (!strings.Contains(text, "$(") || isFreshTemp(text)) {
		w.vars[a.Name.Value] = text
	}
}

// isFreshTemp reports whether a path is in a directory that the call itself makes.
func isFreshTemp(p string) bool { return strings.HasPrefix(p, "$(mktemp") }

// encodeAssigned returns the encoded values of an assignment, in which patterns and braces are text.
func (w *shellWalker) encodeAssigned(value *syntax.Word) []string {
	if value == nil {
		return []string{""}
	}
	list := w.encodeWord(value)
	for i, v := range list {
		list[i] = mapBytes(v, func(c byte) byte {
			if c == fieldBreak {
				return ' '
			}
			return charOf(c)
		})
	}
	return list
}

// recordArray remembers the elements of an array.
func (w *shellWalker) recordArray(a *syntax.Assign) {
	w.forgetVariable(a.Name.Value)
	if len(w.values) > maxVariables {
		return
	}
	words := make([]*syntax.Word, 0, len(a.Array.Elems))
	for _, e := range a.Array.Elems {
		if e.Index != nil || e.Value == nil {
			return
		}
		words = append(words, e.Value)
	}
	w.values[a.Name.Value+"[@]"] = []string{strings.Join(w.allFields(words), breakWord)}
}

// recordLoop remembers the values that a loop gives its variable.
func (w *shellWalker) recordLoop(n *syntax.WordIter) {
	w.forgetVariable(n.Name.Value)
	if len(n.Items) > 0 && len(w.values) <= maxVariables {
		w.values[n.Name.Value] = w.allFields(n.Items)
	}
}

// allFields returns the encoded texts that words stand for, at most maxForms.
func (w *shellWalker) allFields(words []*syntax.Word) []string {
	var out []string
	for _, one := range words {
		for _, alt := range w.encodeWord(one) {
			out = append(out, w.splitFields(alt)...)
		}
		if len(out) > maxForms {
			return append(out[:maxForms-1], unknownWord)
		}
	}
	return out
}

func (j *callJudge) forgetVariable(name string) {
	delete(j.vars, name)
	delete(j.values, name)
	delete(j.values, name+"[@]")
}

// judgeRead forgets the variables that a command sets to what it reads.
func judgeRead(j *callJudge, c *command) {
	for w := range c.eachOperand("-d -n -N -p -t -u -i -a -c -C -O -s") {
		j.forgetVariable(w.text)
	}
	for _, name := range c.flagValues("-a", "-v") {
		j.forgetVariable(name)
	}
}
