package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
)

type statusAnswer struct {
	V int `json:"v"`
	retake.Status
}

func (f *face) statusCommand() *cobra.Command {
	var line bool
	cmd := &cobra.Command{
		Use: "status", Short: "how well this workspace is protected", Args: between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if line && !f.json {
				return f.statusLine(cmd)
			}
			s, ws, err := f.here(cmd.Context())
			if err != nil {
				return err
			}
			st, err := s.Status(cmd.Context(), ws.ID)
			if err != nil {
				return err
			}
			err = f.emit(statusAnswer{1, st}, func(l look) string { return renderStatus(l, st) + f.agentsRow(l, ws) })
			return orWaiting(err, ws)
		},
	}
	cmd.Flags().BoolVar(&line, "line", false, "one line, for a prompt; nothing outside a workspace")
	return cmd
}

// statusLine reads no file of the workspace: a prompt must not wait.
// Where nothing was ever protected it starts nothing either.
func (f *face) statusLine(cmd *cobra.Command) error {
	if f.Begun != nil && !f.Begun() {
		return nil
	}
	s, ws, err := f.find(cmd.Context())
	if s != nil && retake.IsKind(err, retake.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	t, err := s.Log(cmd.Context(), retake.LogQuery{Workspace: ws.ID, Limit: 1})
	if err != nil {
		return err
	}
	t.Workspace.Interrupted = ws.Interrupted
	if since := f.pausedSince(ws.ID); since != "" && ws.Interrupted == nil {
		return f.emit(nil, func(l look) string { return l.g.Diamond + " paused since " + since + "\n" })
	}
	return f.emit(nil, func(l look) string { return renderStatusLine(l, t) + "\n" })
}

// renderStatusLine drops facts from the right where there is no room.
func renderStatusLine(l look, t retake.Timeline) string {
	sign := "◆"
	if l.ascii {
		sign = "*"
	}
	if len(t.Checkpoints) == 0 {
		return l.g.Diamond + " NOT PROTECTED" + l.sep() + "no moment"
	}
	c := t.Checkpoints[0]
	parts := []string{fmt.Sprintf("%s %d", sign, c.Number), l.clock(c.Time)}
	if c.Coverage.Grade == retake.Partial {
		parts = append(parts, grade(l, c.Coverage.Grade))
	}
	if t.Workspace.Interrupted != nil {
		parts = append(parts, "RESTORE CUT OFF")
	}
	parts = append(parts, "protected")
	switch {
	case l.width <= 10:
		parts = parts[:1]
	case l.width <= 24:
		parts = parts[:2]
	}
	return l.facts(parts...)
}
