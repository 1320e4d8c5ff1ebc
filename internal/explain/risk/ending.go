package risk

import "mvdan.cc/sh/v3/syntax"

// ending is what the exit of a whole call says of one part of it.
type ending struct {
	done bool // a call that succeeds means that the part succeeded
	not  bool // a call that fails means that the part did not succeed
}

// certain is the ending of a call that is nothing but this part.
var certain = ending{done: true, not: true}

// endsOf notes the endings of statements that run one after the other: the last one gives
// its exit to all of them. Parts of conditions, loops and functions have none, because
// nobody knows whether they ran.
func (w *walker) endsOf(list []*syntax.Stmt, e ending) {
	if len(list) > 0 {
		w.endOf(list[len(list)-1], e)
	}
}

func (w *walker) endOf(s *syntax.Stmt, e ending) {
	if s == nil || s.Background || s.Negated || s.Coprocess || len(w.ends) > MaxNodes {
		return
	}
	w.ends[s] = e
	switch cmd := s.Cmd.(type) {
	case *syntax.Block:
		w.endsOf(cmd.Stmts, e)
	case *syntax.Subshell:
		w.endsOf(cmd.Stmts, e)
	case *syntax.BinaryCmd:
		switch cmd.Op {
		case syntax.AndStmt:
			w.endOf(cmd.X, ending{done: e.done})
			w.endOf(cmd.Y, e)
		case syntax.OrStmt:
			w.endOf(cmd.X, ending{not: e.not})
			w.endOf(cmd.Y, ending{not: e.not})
		default: // a pipe exits as its last part does
			w.endOf(cmd.Y, e)
		}
	}
}
