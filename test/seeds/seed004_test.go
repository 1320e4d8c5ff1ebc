package seeds_test

import (
	"testing"
	"time"

	"github.com/retake-dev/retake"
)

// The morning of the essay: four checkpoints with words and results, a dozen actions of
// an agent between them. Two days and a clean-up later all four are listed with what they
// said, the good one is the one that was good, and each can be gone back to.
func TestSeed004_TheMorningTwoDaysLater(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.write("app.js", "clean clone")
	h.write("config.json", `{"auth":"old"}`)
	h.init()
	type point struct {
		said, state string
		exit        int
		cp          retake.Checkpoint
	}
	morning := []*point{
		{said: "clean clone", state: "clean clone"},
		{said: "before auth refactor", state: "work in progress", exit: -1},
		{said: "after package install", state: "broken by the install", exit: 1},
		{said: "working version, app healthy", state: "works again"},
	}
	for i, p := range morning {
		h.write("app.js", p.state)
		p.cp = h.save(p.said)
		if p.exit >= 0 {
			_, err := h.s.Attest(t.Context(), retake.Attestation{Workspace: h.ws, Ref: string(p.cp.ID), Command: "npm test", Exit: p.exit, Started: h.clock.Now()})
			h.must(err)
		}
		h.act(i, 12)
	}
	h.clock.Advance(24 * time.Hour)
	h.act(10, 12)
	h.clock.Advance(24 * time.Hour)
	h.act(11, 12)
	before := len(h.log())
	rep, err := h.s.Thin(t.Context(), retake.ThinRequest{})
	h.must(err)
	if rep.Forgotten == 0 || len(h.log()) >= before {
		t.Errorf("the clean-up removed nothing of %d, so it shows nothing: %+v", before, rep)
	}
	for _, p := range morning {
		found, err := h.s.Find(t.Context(), h.ws, string(p.cp.ID))
		if err != nil || found.Intent != p.said {
			t.Errorf("%q after two days: %q, %v", p.said, found.Intent, err)
			continue
		}
		h.restore(string(p.cp.ID))
		if got := h.read("app.js"); got != p.state {
			t.Errorf("%q restored %q, want %q", p.said, got, p.state)
		}
	}
	good, err := h.s.Find(t.Context(), h.ws, "good")
	if err != nil || h.read("app.js") != morning[3].state {
		t.Errorf("good: %+v, %v", good, err)
	}
}

// act is a dozen steps of an agent: each leaves an automatic checkpoint.
func (h *house) act(turn, steps int) {
	h.Helper()
	for i := range steps {
		h.clock.Advance(time.Minute)
		h.write("notes/"+time.Duration(turn*100+i).String(), "step")
		_, err := h.s.Save(h.Context(), retake.SaveRequest{Workspace: h.ws, Trigger: retake.TriggerCall, Intent: "a step"})
		h.must(err)
	}
}
