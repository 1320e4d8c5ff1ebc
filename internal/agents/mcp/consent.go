package mcp

import (
	"context"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// personal are the obstacles that a person decides about: what they cover is gone for
// many, is in no checkpoint, gives rights, or breaks a program that is running. All others
// are covered by the safety checkpoint.
var personal = []string{retake.ObstacleMassDelete, retake.ObstacleUncaptured, retake.ObstacleSetuid, retake.ObstacleDatabase}

// agentMay are the obstacles that an agent may accept.
func agentMay() []string {
	return slices.DeleteFunc(slices.Clone(retake.ObstacleClasses), isPersonal)
}

func isPersonal(class string) bool { return slices.Contains(personal, class) }

// onlyAgents refuses consent that is not an agent's to give.
func onlyAgents(req retake.PlanRequest, accept []string) error {
	var mine []string
	for _, class := range accept {
		if isPersonal(class) {
			mine = append(mine, class)
		}
	}
	if len(mine) == 0 {
		return nil
	}
	return askPerson(req, mine, accept)
}

func askPerson(req retake.PlanRequest, open, accept []string) error {
	return &retake.Error{
		Kind: retake.Denied, What: "a person decides about " + strings.Join(open, " and ") + ", not an agent", Safe: nothingChanged,
		Hint: "a person runs: " + command(req, accept),
	}
}

// notApplied says what an agent can do now; the service speaks to people.
func (f *face) notApplied(ctx context.Context, req retake.PlanRequest, accept []string, err error) error {
	e := *retake.AsError(err)
	switch e.Kind {
	case retake.Moved:
		e.Hint = "ask for a new plan, without digest, and look at it"
	case retake.Denied:
		p, err := f.PlanRestore(ctx, req)
		if err != nil {
			return &e
		}
		open, mine := openClasses(&p, accept)
		if len(mine) > 0 {
			return askPerson(req, mine, slices.Concat(accept, open))
		}
		e.Hint = "accept it, if that is what the user wants: accept " + strings.Join(slices.Concat(accept, open), ", ")
	default:
	}
	return &e
}

// openClasses are the obstacles that nobody accepted, and those of them for a person.
func openClasses(p *retake.Plan, accept []string) (open, mine []string) {
	for _, o := range p.Obstacles {
		if slices.Contains(accept, o.Class) || slices.Contains(open, o.Class) {
			continue
		}
		open = append(open, o.Class)
		if isPersonal(o.Class) {
			mine = append(mine, o.Class)
		}
	}
	return open, mine
}

// command is what a person types to do what the agent asked for. It shows the plan and
// asks, so no digest is named.
func command(req retake.PlanRequest, accept []string) string {
	words := []string{"retake", string(req.Course)}
	if req.Ref != "" {
		words = append(words, shell(req.Ref))
	}
	words = append(words, "--accept", strings.Join(accept, ","))
	if len(req.Paths) > 0 {
		words = append(words, "--")
	}
	for _, p := range req.Paths {
		words = append(words, shell(p))
	}
	return strings.Join(words, " ")
}
