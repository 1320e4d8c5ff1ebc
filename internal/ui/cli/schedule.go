package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type schedulesAnswer struct {
	V         int               `json:"v"`
	Schedules []retake.Schedule `json:"schedules"`
}

type scheduleAnswer struct {
	V        int             `json:"v"`
	Schedule retake.Schedule `json:"schedule"`
}

var scheduleWorks = []retake.ScheduleWork{retake.WorkSave, retake.WorkRetain, retake.WorkDrill}

func newScheduleCommand(f *commandLine) *cobra.Command {
	return newParentCommand(f, "schedule", "Add, list and remove schedules on a server", newScheduleListCommand(f), newScheduleAddCommand(f), newScheduleRemoveCommand(f))
}

func newScheduleListCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List schedules and their last runs", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := f.openServer()
			if err != nil {
				return err
			}
			all, err := s.Schedules(cmd.Context())
			if err != nil {
				return err
			}
			names := workspaceNames(cmd.Context(), s)
			return f.printAnswer(schedulesAnswer{1, nonNil(all)}, func(l term.Style) string { return renderSchedules(l, all, names) })
		},
	}
}

// workspaceNames are the names of workspaces by id; one that is not known is shown as its id.
func workspaceNames(ctx context.Context, s retake.Service) map[retake.WorkspaceID]string {
	out := map[retake.WorkspaceID]string{}
	all, err := s.Workspaces(ctx)
	if err != nil {
		return out
	}
	for i := range all {
		out[all[i].ID] = all[i].Name
	}
	return out
}

func workspaceName(names map[retake.WorkspaceID]string, ws retake.WorkspaceID) string {
	if n := names[ws]; n != "" {
		return termtext.Escape(n)
	}
	return termtext.Escape(string(ws))
}

func renderSchedules(l term.Style, all []retake.Schedule, names map[retake.WorkspaceID]string) string {
	if len(all) == 0 {
		return "No schedules yet.\n\n  " + l.HintLine([]string{"a checkpoint every hour", `retake schedule add "0 * * * *" save`}) + "\n"
	}
	var rows []tableRow
	for i := range all {
		c := &all[i]
		r := tableRow{sign: l.Green(l.Glyphs.Point)}
		last := "not yet"
		if c.Last != nil {
			last = l.ShortTime(c.Last.At) + ", " + l.EscapeText(c.Last.What)
			if c.Last.Err != "" {
				r.sign, last = l.Red(l.Glyphs.No), l.ShortTime(c.Last.At)+", it failed"
				r.notes = append(r.notes, l.EscapeText(c.Last.Err))
			}
		}
		if c.Missed > 0 {
			r.notes = append(r.notes, term.CountNoun(c.Missed, "run was", "runs were")+" missed: the server was not running")
		}
		r.cells = []string{shortID(l, c.ID), termtext.Escape(string(c.Work)), termtext.Escape(c.Cron), workspaceName(names, c.Workspace), timeAheadText(l, c.Next), last}
		rows = append(rows, r)
	}
	return drawTable(l, []string{"id", "does", "when, in UTC", "workspace", "next", "last"}, 5, rows)
}

func newScheduleAddCommand(f *commandLine) *cobra.Command {
	var jitter time.Duration
	cmd := &cobra.Command{
		Use: "add CRON save|retain|drill", Short: "Add a schedule", Args: argsBetween(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			work := retake.ScheduleWork(args[1])
			if !slices.Contains(scheduleWorks, work) {
				return usageError(helpHint(cmd), "A schedule does save, retain or drill, not %s.", args[1])
			}
			ctx := cmd.Context()
			s, err := f.openServer()
			if err != nil {
				return err
			}
			req := retake.ScheduleRequest{Work: work, Cron: args[0], Jitter: jitter}
			if work == retake.WorkSave {
				_, ws, err := f.locateWorkspace(ctx)
				if err != nil {
					return err
				}
				req.Workspace = ws.ID
			} else if f.workspace != "" {
				return usageError(helpHint(cmd), "Only save is for one workspace; %s is for all.", args[1])
			}
			c, err := s.MakeSchedule(ctx, req)
			if err != nil {
				return err
			}
			names := workspaceNames(ctx, s)
			return f.printAnswer(scheduleAnswer{1, c}, func(l term.Style) string { return renderSchedule(l, c, names) })
		},
	}
	cmd.Flags().DurationVar(&jitter, "jitter", 0, "delay each run by up to `DURATION`")
	return cmd
}

// scheduleWorkTexts say what a schedule does.
var scheduleWorkTexts = map[retake.ScheduleWork]string{
	retake.WorkSave: "A checkpoint of %s is taken", retake.WorkRetain: "What is too old goes", retake.WorkDrill: "A share of the stored bytes is read back",
}

func renderSchedule(l term.Style, c retake.Schedule, names map[retake.WorkspaceID]string) string {
	what := scheduleWorkTexts[c.Work]
	if c.Work == retake.WorkSave {
		what = fmt.Sprintf(what, l.Bold(workspaceName(names, c.Workspace)))
	}
	later := ""
	if c.Jitter > 0 {
		later = ", up to " + intervalText(c.Jitter) + " later"
	}
	return fmt.Sprintf("%s %s by %s in UTC%s.\n  %s\n", l.Green(l.Glyphs.Yes), what, l.Bold(termtext.Escape(c.Cron)), later,
		l.Dim(l.JoinFacts("next "+timeAheadText(l, c.Next), subjectText(l, c.ID))))
}

// intervalText is a length of time as somebody wrote it: 2 min, not 2 min 0 s.
func intervalText(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return termtext.Duration(d)
}

func newScheduleRemoveCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "remove ID", Short: "Delete a schedule", Args: argsBetween(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			s, err := f.openServer()
			if err != nil {
				return err
			}
			all, err := s.Schedules(ctx)
			if err != nil {
				return err
			}
			c, err := findByID(all, func(c retake.Schedule) string { return c.ID }, "schedule", args[0], "retake schedule list")
			if err != nil {
				return err
			}
			if err := f.confirm(ctx, "nothing is done by a schedule that is removed", fmt.Sprintf("End %s by %s?", c.Work, c.Cron), "retake schedule remove "+args[0]); err != nil {
				return err
			}
			if err := s.DropSchedule(ctx, c.ID); err != nil {
				return err
			}
			return f.printAnswer(scheduleAnswer{1, c}, func(l term.Style) string {
				return fmt.Sprintf("%s %s by %s is removed. What it did stays.\n", l.Green(l.Glyphs.Yes), termtext.Escape(string(c.Work)), termtext.Escape(c.Cron))
			})
		},
	}
}
