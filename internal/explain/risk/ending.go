package risk

import "mvdan.cc/sh/v3/syntax"

// exitMeaning is what the exit of a whole call says of one part of it.
type exitMeaning struct {
	doneIfPassed bool // a call that succeeds means that the part succeeded
	notIfFailed  bool // a call that fails means that the part did not succeed
}

// certain is the ending of a call that is nothing but this part.
var exitCertain = exitMeaning{doneIfPassed: true, notIfFailed: true}

// markExits notes the endings of statements that run one after the other: the last one gives
// its exit to all of them. Parts of conditions, loops and functions have none, because
// nobody knows whether they ran.
func (w *shellWalker) markExits(list []*syntax.Stmt, e exitMeaning) {
	if len(list) > 0 {
		w.markExit(list[len(list)-1], e)
	}
}

func (w *shellWalker) markExit(s *syntax.Stmt, e exitMeaning) {
	if s == nil || s.Background || s.Negated || s.Coprocess || len(w.exits) > MaxNodes {
		return
	}
	w.exits[s] = e
	switch cmd := s.Cmd.(type) {
	case *syntax.Block:
		w.markExits(cmd.Stmts, e)
	case *syntax.Subshell:
		w.markExits(cmd.Stmts, e)
	case *syntax.BinaryCmd:
		switch cmd.Op {
		case syntax.AndStmt:
			w.markExit(cmd.X, exitMeaning{doneIfPassed: e.doneIfPassed})
			w.markExit(cmd.Y, e)
		case syntax.OrStmt:
			w.markExit(cmd.X, exitMeaning{notIfFailed: e.notIfFailed})
			w.markExit(cmd.Y, exitMeaning{notIfFailed: e.notIfFailed})
		default: // a pipe exits as its last part does
			w.markExit(cmd.Y, e)
		}
	}
}
