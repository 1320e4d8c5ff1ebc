package server_test

import (
	"testing"

	"github.com/retake-dev/retake"
)

// What an agent's key reports about itself is a claim: it is recorded, but makes no checkpoint
// good. A report with an operator's key does.
func TestV1_AgentKeyReportsClaims(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	b.writeFile("a", "1")
	cp := b.saveCheckpoint("one")
	ws := b.initial.Namespace.Default
	passed := retake.Attestation{Workspace: ws, Ref: string(cp.ID), Name: "test", Command: "npm test", Verdict: retake.Passed}
	for _, says := range []string{"", "retake", "claude-code"} {
		said := passed
		said.By = says
		v, err := b.clientAs(retake.KeyAgent).Attest(t.Context(), said)
		must(t, err)
		if !v.Claim || v.By == "retake" {
			t.Errorf("an agent that calls itself %q: claim %v, by %q", says, v.Claim, v.By)
		}
	}
	reader := b.clientAs(retake.KeyReader)
	if good, err := reader.Find(t.Context(), ws, "good"); err == nil {
		t.Errorf("checkpoint %d is good by the word of an agent", good.Number)
	}
	v, err := b.clientAs(retake.KeyOperator).Attest(t.Context(), passed)
	must(t, err)
	if v.Claim || v.By != "first operator" {
		t.Errorf("a person: claim %v, by %q", v.Claim, v.By)
	}
	good, err := reader.Find(t.Context(), ws, "good")
	must(t, err)
	if good.ID != cp.ID {
		t.Errorf("good is %d", good.Number)
	}
}

// Receivers of messages learn who reported a result.
func TestV1_MessagesTellClaims(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	b := newTestServer(t, r.URL, nil)
	cp := b.saveCheckpoint("one")
	_, err := b.clientAs(retake.KeyAgent).Attest(t.Context(), retake.Attestation{Workspace: cp.Workspace, Ref: string(cp.ID), Name: "test", Command: "npm test", Verdict: retake.Passed})
	must(t, err)
	for {
		e := decodeEvent(t, r.nextMessage(t).body)
		if e.Type != retake.EventVerified {
			continue
		}
		if !e.Data.Claim || e.Data.By != "first agent" {
			t.Errorf("the message says %+v", e.Data)
		}
		return
	}
}
