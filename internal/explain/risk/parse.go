package risk

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxNesting bounds the nesting of a text that is parsed: the parser is recursive.
const maxNesting = 2000

// judgeShell judges every simple command of a shell text.
func (j *callJudge) judgeShell(text string, depth int) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if depth > MaxDepth || len(text) > j.parseBudget {
		j.addUnread()
		return
	}
	j.parseBudget -= len(text)
	text = strings.ToValidUTF8(text, "?") // the parser is slow with invalid UTF-8
	file := parseShell(text)
	if file == nil {
		j.scanText(text)
		return
	}
	w := &shellWalker{
		callJudge: j, text: text, depth: depth, otherHome: j.otherUser,
		pipeInputs: map[*syntax.Stmt]pipeInput{}, exits: map[*syntax.Stmt]exitMeaning{},
	}
	outer := j.exit
	if depth == 0 {
		outer = exitCertain
	}
	w.markExits(file.Stmts, outer)
	syntax.Walk(file, w.visitNode)
	j.exit = outer
	if j.nodesVisited > MaxNodes {
		j.addUnread()
	}
}

// judgeChild judges a shell text that another process runs: its cd ends with it.
func (j *callJudge) judgeChild(text string, depth int) {
	before := j.where
	j.judgeShell(text, depth)
	j.where = before
}

// parseShell parses a text as bash, else as POSIX shell; it returns nil if it is neither.
func parseShell(text string) *syntax.File {
	if countOpeners(text) > maxNesting {
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

// countOpeners counts the characters and keywords that may begin a nested part.
func countOpeners(text string) int {
	n, sums := 0, strings.Contains(text, "((")
	for i := range len(text) {
		switch text[i] {
		case '(', '{', '`', '[':
			n++
		case '-', '+', '!', '~', '?', '=', '*':
			// Operators nest in arithmetic only, where they are adjacent.
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

// pipeInput is what the command before passes on in a pipeline.
type pipeInput struct {
	text        string // of echo or printf
	fromNetwork bool   // comes from the network
	found       []word // the directories in which find found it
}

// shellWalker judges the commands in one parsed shell text.
type shellWalker struct {
	*callJudge
	text       string
	depth      int
	pipeInputs map[*syntax.Stmt]pipeInput
	exits      map[*syntax.Stmt]exitMeaning // of those that say something
	otherHome  bool                         // HOME may be that of another user

	level    int              // of the node that is being visited
	scopes   []scope          // the subshells that it is in
	branches []int            // levels of the parts of a file that only some runs reach
	settings []*syntax.Assign // those that hold for one command only
}

// scope is a subshell: what it changes ends with it.
type scope struct {
	level int
	where workDirs
}

// visitNode visits every node once, in the order of the text, up to MaxNodes. It is called with nil at
// the end of each.
func (w *shellWalker) visitNode(n syntax.Node) bool {
	if n == nil {
		w.leaveNode()
		return true
	}
	if w.nodesVisited++; w.nodesVisited > MaxNodes {
		return false
	}
	w.level++
	switch n := n.(type) {
	case *syntax.BinaryCmd:
		w.recordPipe(n)
	case *syntax.Assign:
		w.recordAssign(n)
	case *syntax.CallExpr:
		if len(n.Args) > 0 {
			w.settings = n.Assigns
		}
	case *syntax.WordIter:
		w.recordLoop(n)
	case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
		w.scopes = append(w.scopes, scope{w.level, w.where})
	case *syntax.IfClause, *syntax.CaseClause, *syntax.FuncDecl, *syntax.WhileClause:
		if w.fileDepth > 0 {
			w.branches, w.maybe = append(w.branches, w.level), w.maybe+1
		}
	case *syntax.Stmt:
		w.judgeStmt(n)
	}
	return true
}

// leaveNode ends the subshell, or the branch, that ends here.
func (w *shellWalker) leaveNode() {
	if last := len(w.branches) - 1; last >= 0 && w.branches[last] == w.level {
		w.branches, w.maybe = w.branches[:last], w.maybe-1
	}
	if last := len(w.scopes) - 1; last >= 0 && w.scopes[last].level == w.level {
		w.where = w.scopes[last].where
		w.scopes = w.scopes[:last]
	}
	w.level--
}

// recordPipe records what the left side of a pipe passes to the right side.
func (w *shellWalker) recordPipe(b *syntax.BinaryCmd) {
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
	var out pipeInput
	if call, ok := from.Cmd.(*syntax.CallExpr); ok {
		out = w.pipeOutput(call)
	}
	if runsXargs(to) {
		out.found = w.foundBy(b.X, 0)
	}
	w.pipeInputs[to] = out
}

// pipeOutput returns what a command passes to the next one.
func (w *shellWalker) pipeOutput(call *syntax.CallExpr) pipeInput {
	c := command{words: w.commandWords(call)}
	switch c.name() {
	case "echo", "printf":
		return pipeInput{text: printedText(&c)}
	case "curl", "wget", "http", "https", "xh":
		return pipeInput{fromNetwork: true}
	}
	return pipeInput{}
}

// judgeStmt judges one statement: its redirects and the command it runs.
func (w *shellWalker) judgeStmt(s *syntax.Stmt) {
	c := &command{depth: w.depth, walker: w}
	w.exit = w.exits[s]
	before, piped := w.pipeInputs[s]
	c.stdin, c.readsInput, c.found = before.text, piped, before.found
	for _, r := range s.Redirs {
		w.judgeRedirect(r, c)
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return
	}
	c.text = w.sourceText(call)
	for _, a := range call.Assigns {
		c.env = append(c.env, w.sourceText(a))
	}
	c.words = w.commandWords(call)
	w.recordScript(s, c)
	if c.stdin == "" {
		c.stdin = w.redirectedText(s, c)
	}
	if before.fromNetwork && isShell(c) {
		w.addForeignScript(c)
	}
	w.judgeSimple(c)
}

// judgeRedirect judges where a statement writes, and records its input.
func (w *shellWalker) judgeRedirect(r *syntax.Redirect, c *command) {
	switch r.Op {
	case syntax.RdrOut, syntax.ClbOut, syntax.RdrAll, syntax.DplOut, syntax.RdrInOut:
		if r.Word != nil {
			w.addTruncate(c, w.expandWord(r.Word))
		}
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc != nil {
			c.stdin, c.readsInput = w.expandWord(r.Hdoc).text, false
		}
	case syntax.WordHdoc:
		if r.Word != nil {
			c.stdin, c.readsInput = w.expandWord(r.Word).text, false
		}
	case syntax.RdrIn:
		c.readsInput = true
	default:
		// Appending and closing destroy nothing.
	}
}

// sourceText returns the text of a node as written.
func (w *shellWalker) sourceText(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from < 0 || to > len(w.text) || from > to {
		return ""
	}
	return w.text[from:to]
}

// scanText judges a text that cannot be parsed: it is split at every character that could
// separate commands, quotes are dropped, and the rest is judged as it is.
func (j *callJudge) scanText(text string) {
	if len(text) > maxScanBytes {
		j.addUnread() // so a checkpoint is taken, whatever the rest holds
		text = text[:maxScanBytes]
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\n;&|()`{}", r) })
	for _, part := range parts {
		c := &command{text: part, depth: MaxDepth}
		for _, f := range strings.Fields(part) {
			if j.nodesVisited++; j.nodesVisited > MaxNodes {
				j.addUnread()
				return
			}
			one := plainWord(f)
			one.text = strings.Trim(f, `"'$\!`)
			if one.text != "" && (len(c.words) > 0 || !containsWord("if then else elif while until do time", one.text)) {
				c.words = append(c.words, one)
			}
		}
		j.judgeSimple(c)
	}
}
