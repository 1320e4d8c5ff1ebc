package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type tasksAnswer struct {
	V     int           `json:"v"`
	Tasks []retake.Task `json:"tasks"`
}

const maxTasksText = 1 << 20

func newTasksCommand(f *commandLine) *cobra.Command {
	var set bool
	cmd := &cobra.Command{
		Use: "tasks", Short: "Show the agent's to-do list", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if set {
				return setTasks(f, cmd)
			}
			s, ws, err := f.currentWorkspace(cmd.Context())
			if err != nil {
				return err
			}
			list, err := s.Tasks(cmd.Context(), ws.ID)
			if err != nil {
				return err
			}
			return f.printAnswer(tasksAnswer{1, nonNilTasks(list)}, func(l term.Style) string { return renderTasks(l, list) })
		},
	}
	cmd.Flags().BoolVar(&set, "set", false, "replace the list with JSON from standard input: [{\"title\":…,\"status\":…}]")
	return cmd
}

func nonNilTasks(list []retake.Task) []retake.Task {
	if list == nil {
		return []retake.Task{}
	}
	return list
}

func setTasks(f *commandLine, cmd *cobra.Command) error {
	b, err := io.ReadAll(io.LimitReader(f.In, maxTasksText))
	if err != nil {
		return &retake.Error{Kind: retake.Invalid, What: "the tasks could not be read", Safe: nothingChanged, Err: err}
	}
	var list []retake.Task
	if err := json.Unmarshal(b, &list); err != nil {
		return &retake.Error{Kind: retake.Invalid, What: "that is no list of tasks", Safe: nothingChanged, Hint: `for example: [{"title":"write it","status":"pending"}]`, Err: err}
	}
	for i := range list {
		if list[i].ID == "" {
			list[i].ID = fmt.Sprint(i + 1)
		}
	}
	s, ws, err := f.currentWorkspace(cmd.Context())
	if err != nil {
		return err
	}
	if _, err := s.SetTasks(cmd.Context(), ws.ID, list); err != nil {
		return err
	}
	return f.printAnswer(tasksAnswer{1, nonNilTasks(list)}, func(l term.Style) string { return renderTasks(l, list) })
}

func renderTasks(l term.Style, list []retake.Task) string {
	if len(list) == 0 {
		return "No agent has reported tasks here.\n"
	}
	var b strings.Builder
	done := 0
	for i, t := range list {
		sign, text := l.Dim(termtext.Pad(l.Glyphs.Ring, termtext.Width(l.Glyphs.Yes))), termtext.Escape(t.Title)
		switch t.Status {
		case retake.TaskCompleted:
			sign, text = l.Green(l.Glyphs.Yes), l.Dim(text)
		case retake.TaskFailed:
			sign = l.Red(l.Glyphs.No)
		case retake.TaskSkipped:
			sign, text = l.Dim(termtext.Pad(l.Glyphs.Dash, termtext.Width(l.Glyphs.Yes))), l.Dim(text)
		case retake.TaskActive:
			sign, text = l.Bold(termtext.Pad(l.Glyphs.Point, termtext.Width(l.Glyphs.Yes))), l.Bold(text)
		case retake.TaskPending:
		}
		if !t.Open() {
			done++
		}
		fmt.Fprintf(&b, "%s %s  %s\n", sign, termtext.PadLeft(fmt.Sprint(i+1), 2), text)
	}
	fmt.Fprintf(&b, "\n%d of %d done\n", done, len(list))
	return b.String()
}
