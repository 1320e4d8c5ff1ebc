package risk

import "mvdan.cc/sh/v3/syntax"

// exitMeaning is what the exit status of a whole call says about one part of it.
type exitMeaning struct {
	doneIfPassed bool // a call that succeeds means that the part succeeded
	notIfFailed  bool // a call that fails means that the part did not succeed
}

// exitCertain is the meaning for a call that consists of this part only.
var exitCertain = exitMeaning{doneIfPassed: true, notIfFailed: true}

// markExits records the exit meaning of statements in sequence: the last one determines the
// status. Parts of conditions, loops and functions have none, because they may not have
// run.
func (w *shellWalker) markExits(list []*syntax.Stmt, e exitMeaning) {
	if len(list) > 0 {
		w.markExit(list[len(list)-1], e)
	}
}

// markExit records the exit meaning of one statement, and of those it consists of.
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
