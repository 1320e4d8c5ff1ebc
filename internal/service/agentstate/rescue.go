package agentstate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/service/checkpoint"
	"github.com/retake-dev/retake/internal/service/rescue"
)

// prepareRescue finds what a risky call may destroy outside of its workspace; nil: nothing, or it is
// too late.
func (s *Agents) prepareRescue(ctx context.Context, ws retake.Workspace, j *signalJob, late time.Duration) checkpoint.OutsideFiles {
	save := j.act.Save
	if save.Trigger != retake.TriggerRisk || late > 0 {
		return nil
	}
	targets, more := save.Targets()
	p := s.rescuer.Prepare(ctx, rescue.Request{
		Workspace: ws, Command: save.Turn.Command, Bases: callBaseDirs(j.sig), Targets: targets, More: more,
		Limit: s.workspaces.HabitsOf(ws.ID).Rescue, Since: j.sig.Time,
	})
	if p == nil { // an interface with a nil pointer in it is not nil
		return nil
	}
	return p
}

// notSavedWarning says what a call is about to destroy that nothing holds. What only the running
// command knows is on the checkpoint alone: it is said of too many commands to be read.
func notSavedWarning(rescues []retake.Rescue) []retake.Warning {
	var lost []string
	for _, r := range rescues {
		if r.NotSaved != "" && r.Dir != "" {
			lost = append(lost, fmt.Sprintf("%s (%s)", termtext.Escape(r.Place()), r.NotSaved))
		}
	}
	if len(lost) == 0 {
		return nil
	}
	const shown = 3
	text := strings.Join(lost[:min(len(lost), shown)], ", ")
	if n := len(lost) - shown; n > 0 {
		text += fmt.Sprintf(", and %d more", n)
	}
	return []retake.Warning{{Code: retake.WarningNotSaved, Text: "Retake did not save what this command may delete or overwrite: " + text + "."}}
}
