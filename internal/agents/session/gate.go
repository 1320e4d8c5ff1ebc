package session

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/risk"
)

// Limits of calls that policies stop.
const (
	maxStopped   = 32
	maxUndone    = 200
	approvalTime = time.Hour // how long an approval waits for its call
)

// StoppedCall is a call that a policy stopped, and that a person may let pass once.
type StoppedCall struct {
	ID       string            `json:"id"`   // of its external action
	Call     string            `json:"call"` // a digest of it
	Class    retake.GateClass  `json:"class"`
	Policy   retake.GatePolicy `json:"policy"`
	Text     string            `json:"text"`
	Why      string            `json:"why"`
	By       retake.SignalID   `json:"by"` // that reported it
	At       time.Time         `json:"at"`
	Approved time.Time         `json:"approved,omitzero"`
}

// gatedCall is a call with the class whose policy stops it.
type gatedCall struct {
	class  retake.GateClass
	policy retake.GatePolicy
	text   string // the part of the call that counts
	why    string // a sentence
}

// gateReasons say why a call of a class cannot be taken back.
var gateReasons = map[retake.GateClass]string{
	retake.GateForcePush: "It rewrites or deletes history in another repository.",
	retake.GatePublish:   "What is published can't be taken back.",
	retake.GateDeploy:    "A restore does not undo a deployment.",
	retake.GateDelete:    "It deletes data that no checkpoint has.",
}

// strictestGate returns the part of a call with the strictest policy; ok is false if all is allowed.
func (n *transition) strictestGate(j risk.Judgement) (g gatedCall, ok bool) {
	consider := func(next gatedCall) {
		next.policy = n.habits.Gate[next.class]
		if slices.Index(retake.GatePolicies, next.policy) > max(0, slices.Index(retake.GatePolicies, g.policy)) {
			g, ok = next, true
		}
	}
	for _, u := range j.Unrecoverable {
		consider(gatedCall{class: u.Class, text: u.Text, why: gateReasons[u.Class]})
	}
	for _, e := range j.Effects {
		if was := n.state.undoneEffect(e); was != nil {
			consider(gatedCall{class: retake.GateRepeat, text: e.Text, why: RepeatText(*was)})
		}
	}
	return g, ok
}

// RepeatText says that an external action was done before.
func RepeatText(e retake.Effect) string {
	return fmt.Sprintf("%s did the same already, and restoring the files did not take it back.", e.ID)
}

// undoneEffect returns the same external action from before the files were restored to an earlier
// state, or nil. A push is none: git itself knows what the other repository has.
func (s *State) undoneEffect(e risk.ExternalEffect) *retake.Effect {
	text, target := truncate(e.Text, maxTitle), truncate(e.Target, maxTitle)
	i := slices.IndexFunc(s.Undone, func(was retake.Effect) bool { return was.Kind == e.Kind && was.Target == target && was.Text == text })
	if i < 0 || e.Kind == "push" {
		return nil
	}
	return &s.Undone[i]
}

// noteRepeat marks an external action that is done once more. It is said once.
func (n *transition) noteRepeat(eff *retake.Effect, e risk.ExternalEffect) {
	was := n.state.undoneEffect(e)
	if was == nil {
		return
	}
	eff.Repeats = was.ID
	text := "`" + eff.Text + "`: " + RepeatText(*was)
	n.session.Note = strings.TrimSpace(n.session.Note + "\n" + text)
	n.act.Repeats = append(n.act.Repeats, text)
	n.state.Undone = slices.DeleteFunc(slices.Clone(n.state.Undone), func(o retake.Effect) bool { return o.ID == was.ID && o.Time.Equal(was.Time) })
}

// addUndone remembers external actions that a restore did not take back.
func (s *State) addUndone(done []retake.Effect) {
	s.Undone = slices.Clone(s.Undone)
	for _, e := range done {
		if !e.Failed() && !slices.ContainsFunc(s.Undone, func(o retake.Effect) bool { return o.ID == e.ID && o.Time.Equal(e.Time) }) {
			s.Undone = append(s.Undone, e)
		}
	}
	if over := len(s.Undone) - maxUndone; over > 0 {
		s.Undone = slices.Delete(s.Undone, 0, over)
	}
}

// passApproved reports whether a person has let a call pass, and uses that up.
func (s *State) passApproved(sig *retake.Signal) bool {
	digest := callDigest(sig.Call)
	i := slices.IndexFunc(s.Stopped, func(c StoppedCall) bool { return c.Call == digest && !c.Approved.IsZero() })
	if i < 0 {
		return false
	}
	fresh := sig.Time.Sub(s.Stopped[i].Approved) < approvalTime
	s.Stopped = slices.Delete(s.Stopped, i, i+1)
	return fresh
}

// stopCall stops a call. The same call again keeps its ID.
func (s *State) stopCall(sig *retake.Signal, g gatedCall) *retake.Stop {
	if g.policy == retake.GateAsk && sig.CanAsk {
		return &retake.Stop{Policy: g.policy, Class: g.class, Text: fmt.Sprintf("Retake: %s Allow it? (gate.%s is ask)", g.why, g.class)}
	}
	digest := callDigest(sig.Call)
	i := slices.IndexFunc(s.Stopped, func(c StoppedCall) bool { return c.Call == digest })
	if i < 0 {
		s.Counted++
		c := StoppedCall{ID: fmt.Sprintf("e%d", s.Counted), Call: digest, Class: g.class, Policy: g.policy, Text: g.text, Why: g.why, At: sig.Time}
		s.Effects = append(s.Effects, retake.Effect{
			ID: c.ID, Time: sig.Time, Text: truncate(g.text, maxTitle), Kind: string(g.class), Agent: sig.Agent, Session: sig.Session, Call: sig.Call.ID, Outcome: retake.OutcomeStopped,
		})
		s.Stopped = append(s.Stopped, c)
		if over := len(s.Stopped) - maxStopped; over > 0 {
			s.Stopped = slices.Delete(s.Stopped, 0, over)
		}
		i = len(s.Stopped) - 1
	}
	s.Stopped[i].By = sig.ID
	return s.Stopped[i].stop()
}

// stop is the answer to the call.
func (c *StoppedCall) stop() *retake.Stop {
	return &retake.Stop{Policy: retake.GateDeny, Class: c.Class, ID: c.ID, Text: fmt.Sprintf(
		"Stopped: %s\n%s Nothing was run (gate.%s is %s). Do not try it in another way. The user can allow it once, in their own terminal: retake approve %s",
		c.Text, c.Why, c.Class, c.Policy, c.ID)}
}

// stopBy returns the answer to a call that is reported again by the same signal, or nil.
func (s *State) stopBy(id retake.SignalID) *retake.Stop {
	if i := slices.IndexFunc(s.Stopped, func(c StoppedCall) bool { return c.By == id && c.Approved.IsZero() }); i >= 0 {
		return s.Stopped[i].stop()
	}
	return nil
}

// StopUnsaved stops a call because files that it may delete could not be saved; nil: it may run.
func (s *State) StopUnsaved(sig retake.Signal, policy retake.GatePolicy, why string) *retake.Stop {
	if sig.Call == nil || policy != retake.GateAsk && policy != retake.GateDeny || s.passApproved(&sig) {
		return nil
	}
	stop := s.stopCall(&sig, gatedCall{class: retake.GateNotSaved, policy: policy, text: callText(sig.Call), why: why})
	if stop.Policy == retake.GateDeny { // what it would have done outside was not done
		for i := range s.Effects {
			if e := &s.Effects[i]; e.Call == sig.Call.ID && e.Session == sig.Session && e.Time.Equal(sig.Time) {
				e.Outcome = retake.OutcomeStopped
			}
		}
	}
	return stop
}

// FindStopped returns a stopped call by its ID, or nil.
func (s *State) FindStopped(id string) *StoppedCall {
	if i := slices.IndexFunc(s.Stopped, func(c StoppedCall) bool { return c.ID == id }); i >= 0 {
		return &s.Stopped[i]
	}
	return nil
}

// callDigest identifies what a call does. It contains nothing of it, because a call may have secrets.
func callDigest(c *retake.Call) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q ", c.Tool, c.Server, c.Command)
	if c.Command == "" {
		h.Write(c.Input)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
