package servicetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
)

// repeatings are external actions that are done once more.
var repeatings = map[string]func(*testing.T, *bench){
	"RepeatAfterUndo": repeatAfterUndo,
	"RepeatApproval":  repeatApproval,
}

// What was done outside in a turn that was taken back is told when an agent does it again.
func repeatAfterUndo(t *testing.T, b *bench) {
	const pay = "stripe charges create --amount 500"
	b.write("a", "a")
	b.init()
	a := b.agent("claude-code", "one")
	a.turnOf("pay the invoice", func() {
		b.write("a", "paid")
		if r := a.run(pay); len(r.Warnings) > 0 {
			t.Errorf("the first time: %+v", r.Warnings)
		}
		a.ran(pay, false)
	})
	if n := b.effects(""); len(n) != 1 || n[0].Repeats != "" {
		t.Fatalf("effects %+v", n)
	}
	b.undo()
	a.prompt("pay the invoice")
	again := a.signal(retake.SignalCall)
	again.Call = &retake.Call{ID: "again", Tool: "Bash", Kind: retake.CallShell, Command: pay}
	r := a.tell(again)
	if r.Stop != nil || len(r.Effects) != 1 || r.Effects[0].Repeats != "e1" {
		t.Errorf("the reaction is %+v", r)
	}
	if !slices.ContainsFunc(r.Warnings, func(w retake.Warning) bool {
		return w.Code == retake.WarningRepeated && strings.Contains(w.Text, "e1 did the same already")
	}) {
		t.Errorf("the warnings are %+v", r.Warnings)
	}
	a.end("done")
	if n := b.effects(""); len(n) != 2 || n[1].Repeats != "e1" {
		t.Errorf("effects %+v", n)
	}
}

// Only a call that was stopped can be approved.
func repeatApproval(t *testing.T, b *bench) {
	b.init()
	_, err := b.s.Approve(b.ctx(), retake.ApproveRequest{Workspace: b.ws.ID, ID: "e1"})
	wantKind(t, err, retake.NotFound)
	_, err = b.s.Approve(b.ctx(), retake.ApproveRequest{Workspace: "ws_none", ID: "e1"})
	wantKind(t, err, retake.NotFound)
}

func (b *bench) effects(since string) []retake.Effect {
	b.Helper()
	list, err := b.s.Effects(b.ctx(), b.ws.ID, since)
	b.must(err)
	return list
}
