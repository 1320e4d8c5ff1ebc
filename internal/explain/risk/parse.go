package risk

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxOpen bounds what may nest in a text that is parsed: the parser calls
// itself for each.
const maxOpen = 2000

// shell judges every simple command of a text.
func (j *judge) shell(text string, depth int) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if depth > MaxDepth || len(text) > j.left {
		j.unread()
		return
	}
	j.left -= len(text)
	text = strings.ToValidUTF8(text, "?") // the parser is slow with bytes that are no text
	file := parse(text)
	if file == nil {
		j.scan(text)
		return
	}
	w := &walker{judge: j, text: text, depth: depth, feeds: map[*syntax.Stmt]feed{}, ends: map[*syntax.Stmt]ending{}}
	outer := j.end
	if depth == 0 {
		outer = certain
	}
	w.endsOf(file.Stmts, outer)
	syntax.Walk(file, w.visit)
	j.end = outer
	if j.nodes > MaxNodes {
		j.unread()
	}
}

// parse reads bash, or else what every shell has; nil when it is neither.
func parse(text string) *syntax.File {
	if opens(text) > maxOpen {
		return nil
	}
	for _, lang := range []syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX} {
		file, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(text), "")
		if err == nil {
			return file
		}
	}
	return nil
}

// opens counts what may begin a part inside of a part.
func opens(text string) int {
	n, sums := 0, strings.Contains(text, "((")
	for i := range len(text) {
		switch text[i] {
		case '(', '{', '`', '[':
			n++
		case '-', '+', '!', '~', '?', '=', '*':
			// Signs nest in arithmetic alone, where they stand close together.
			if i > 0 && strings.IndexByte("-+!~ ", text[i-1]) >= 0 && sums {
				n++
			}
		}
	}
	for _, k := range []string{"if", "while", "until", "for", "case", "select", "time", "coproc", "function", "elif"} {
		n += strings.Count(text, k)
	}
	return n
}

// feed is what stands before a command in a pipeline.
type feed struct {
	text  string // when echo or printf says it
	fetch bool   // comes from the network
}

type walker struct {
	*judge
	text  string
	depth int
	feeds map[*syntax.Stmt]feed
	ends  map[*syntax.Stmt]ending // of those that say something
}

// visit sees every part once, in the order of the text.
func (w *walker) visit(n syntax.Node) bool {
	if n == nil {
		return true
	}
	if w.nodes++; w.nodes > MaxNodes {
		return false
	}
	switch n := n.(type) {
	case *syntax.BinaryCmd:
		w.pipe(n)
	case *syntax.Assign:
		w.assign(n)
	case *syntax.Stmt:
		w.stmt(n)
	}
	return true
}

func (w *walker) pipe(b *syntax.BinaryCmd) {
	if b.Op != syntax.Pipe && b.Op != syntax.PipeAll {
		return
	}
	from, to := b.X, b.Y
	for range 8 {
		inner, ok := from.Cmd.(*syntax.BinaryCmd)
		if !ok {
			break
		}
		from = inner.Y
	}
	for range 8 {
		inner, ok := to.Cmd.(*syntax.BinaryCmd)
		if !ok {
			break
		}
		to = inner.X
	}
	call, ok := from.Cmd.(*syntax.CallExpr)
	if !ok {
		w.feeds[to] = feed{}
		return
	}
	w.feeds[to] = w.says(call)
}

// says is what a command hands to the next one.
func (w *walker) says(call *syntax.CallExpr) feed {
	c := command{words: w.wordsOf(call)}
	switch c.name() {
	case "echo", "printf":
		var b strings.Builder
		for _, a := range c.args() {
			b.WriteString(a.text + " ")
		}
		return feed{text: b.String()}
	case "curl", "wget", "http", "https", "xh":
		return feed{fetch: true}
	}
	return feed{}
}

// assign remembers what a variable is, when the text says it.
func (w *walker) assign(a *syntax.Assign) {
	const longest = 256
	if a.Name == nil || a.Value == nil || a.Append || len(w.vars) > 1000 {
		return
	}
	if v := w.word(a.Value); len(v.text) <= longest && !strings.Contains(v.text, "$(") {
		w.vars[a.Name.Value] = v.text
	}
}

// stmt judges one statement: where it writes, and what it runs.
func (w *walker) stmt(s *syntax.Stmt) {
	c := &command{depth: w.depth}
	w.end = w.ends[s]
	before, piped := w.feeds[s]
	c.stdin, c.script = before.text, piped
	for _, r := range s.Redirs {
		w.redirect(r, c)
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return
	}
	c.text = w.source(call)
	for _, a := range call.Assigns {
		c.env = append(c.env, w.source(a))
	}
	c.words = w.wordsOf(call)
	if before.fetch && shells(c) {
		w.foreign(c)
	}
	w.simple(c)
}

func (w *walker) redirect(r *syntax.Redirect, c *command) {
	switch r.Op {
	case syntax.RdrOut, syntax.ClbOut, syntax.RdrAll, syntax.DplOut:
		if r.Word != nil {
			w.truncates(w.word(r.Word).text)
		}
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc != nil {
			c.stdin, c.script = w.word(r.Hdoc).text, false
		}
	case syntax.WordHdoc:
		if r.Word != nil {
			c.stdin, c.script = w.word(r.Word).text, false
		}
	case syntax.RdrIn:
		c.script = true
	default:
		// Appending and closing destroy nothing.
	}
}

// source is the text of a part as written.
func (w *walker) source(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from < 0 || to > len(w.text) || from > to {
		return ""
	}
	return w.text[from:to]
}

// scan judges a text that is no shell: it is cut at every sign that could part
// commands, quotes are dropped, and what remains is judged as it stands.
func (j *judge) scan(text string) {
	if len(text) > maxScan {
		j.unread() // so a checkpoint is taken, whatever the rest holds
		text = text[:maxScan]
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\n;&|()`{}", r) })
	for _, part := range parts {
		c := &command{text: part, depth: MaxDepth}
		for _, f := range strings.Fields(part) {
			if j.nodes++; j.nodes > MaxNodes {
				j.unread()
				return
			}
			f = strings.Trim(f, `"'$\!`)
			if f != "" && (len(c.words) > 0 || !within("if then else elif while until do time", f)) {
				c.words = append(c.words, word{text: f, glob: strings.ContainsAny(f, "*?[")})
			}
		}
		j.simple(c)
	}
}
