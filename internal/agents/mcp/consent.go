package mcp

import (
	"context"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// personOnlyClasses are the obstacles that only a person may accept: they delete much, lose
// what no checkpoint has, grant rights, or break a running program. The safety checkpoint
// covers all others.
var personOnlyClasses = []string{retake.ObstacleMassDelete, retake.ObstacleUncaptured, retake.ObstacleSetuid, retake.ObstacleDatabase}

func needsPerson(class string) bool { return slices.Contains(personOnlyClasses, class) }

// checkAgentConsent refuses consent that an agent may not give.
func checkAgentConsent(req retake.PlanRequest, accept []string) error {
	var mine []string
	for _, class := range accept {
		if needsPerson(class) {
			mine = append(mine, class)
		}
	}
	if len(mine) == 0 {
		return nil
	}
	return personRequiredError(req, mine, accept)
}

func personRequiredError(req retake.PlanRequest, open, accept []string) error {
	return &retake.Error{
		Kind: retake.Denied, What: "a person decides about " + strings.Join(open, " and ") + ", not an agent", Safe: nothingChanged,
		Hint: "a person runs: " + personCommand(req, accept),
	}
}

// explainRefusal changes the hint of an error to what an agent can do; the hints of the
// service are for people.
func (f *toolServer) explainRefusal(ctx context.Context, req retake.PlanRequest, accept []string, err error) error {
	e := *retake.AsError(err)
	switch e.Kind {
	case retake.Moved:
		e.Hint = "ask for a new plan, without digest, and look at it"
	case retake.Denied:
		p, err := f.PlanRestore(ctx, req)
		if err != nil {
			return &e
		}
		open, mine := unacceptedClasses(&p, accept)
		if len(mine) > 0 {
			return personRequiredError(req, mine, slices.Concat(accept, open))
		}
		e.Hint = "accept it, if that is what the user wants: accept " + strings.Join(slices.Concat(accept, open), ", ")
	default:
	}
	return &e
}

// unacceptedClasses returns the obstacles that were not accepted, and those of them that
// need a person.
func unacceptedClasses(p *retake.Plan, accept []string) (open, mine []string) {
	for _, o := range p.Obstacles {
		if slices.Contains(accept, o.Class) || slices.Contains(open, o.Class) {
			continue
		}
		open = append(open, o.Class)
		if needsPerson(o.Class) {
			mine = append(mine, o.Class)
		}
	}
	return open, mine
}

// personCommand returns what a person types to do what the agent asked for. The command
// shows the plan and asks, so it needs no digest.
func personCommand(req retake.PlanRequest, accept []string) string {
	words := []string{"retake", string(req.Course)}
	if req.Ref != "" {
		words = append(words, shellWord(req.Ref))
	}
	words = append(words, "--accept", strings.Join(accept, ","))
	if len(req.Paths) > 0 {
		words = append(words, "--")
	}
	for _, p := range req.Paths {
		words = append(words, shellWord(p))
	}
	return strings.Join(words, " ")
}
