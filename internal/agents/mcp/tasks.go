package mcp

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

const (
	maxTasks      = 200
	taskListBytes = 6000
)

var tasksTool = toolSpec{
	name:        "tasks",
	description: "Read the to-do list, or replace it as a whole. Earlier lists stay with their checkpoints.",
	input: objectSchema(nil, schemaFields{
		"tasks": listSchema("the new list", maxTasks, objectSchema([]string{"title", "status"}, schemaFields{
			"id": stringSchema("", maxRef), "title": stringSchema("", maxIntent), "status": map[string]any{"type": "string", "enum": retake.TaskStatuses},
		})),
	}),
	hints: toolHints{idempotent: true},
}

type tasksIn struct {
	Tasks []taskRow `json:"tasks"`
}

type taskRow struct {
	ID     string            `json:"id"`
	Title  string            `json:"title"`
	Status retake.TaskStatus `json:"status"`
}

type tasksOut struct {
	Done     int       `json:"done"`
	Total    int       `json:"total"`
	Next     string    `json:"next,omitempty" jsonschema:"the first that is not done"`
	Tasks    []taskRow `json:"tasks"`
	More     int       `json:"more,omitempty"`
	Recorded int64     `json:"recorded,omitempty" jsonschema:"the checkpoint that the new list led to"`
	Warnings []string  `json:"warnings,omitempty"`
	answerNote
}

// handleTasks replaces the list if one is given, and returns the current list.
func (f *toolServer) handleTasks(ctx context.Context, ws retake.Workspace, in tasksIn) (tasksOut, error) {
	var out tasksOut
	if in.Tasks != nil {
		named, err := assignTaskIDs(in.Tasks)
		if err != nil {
			return out, err
		}
		r, err := f.SetTasks(ctx, ws.ID, named)
		if err != nil {
			return out, err
		}
		out.Warnings = warningTexts(r.Warnings)
		if r.Checkpoint != nil {
			out.Recorded = r.Checkpoint.Number
		}
	}
	all, err := f.Tasks(ctx, ws.ID)
	if err != nil {
		return out, err
	}
	out.setTasks(all)
	return out, nil
}

// assignTaskIDs gives ids to tasks without one, and refuses duplicates.
func assignTaskIDs(rows []taskRow) ([]retake.Task, error) {
	out := make([]retake.Task, len(rows))
	seen := map[string]bool{}
	for i, r := range rows {
		if r.ID == "" {
			r.ID = strconv.Itoa(i + 1)
		}
		if seen[r.ID] {
			return nil, invalidError("give each task an id of its own", "two tasks have the id %s", r.ID)
		}
		seen[r.ID] = true
		out[i] = retake.Task{ID: r.ID, Title: r.Title, Status: r.Status}
	}
	return out, nil
}

func (o *tasksOut) setTasks(all []retake.Task) {
	o.Total = len(all)
	for _, t := range all {
		if !t.Open() {
			o.Done++
		} else if o.Next == "" {
			o.Next = safeWord(t.Title, maxTitle)
		}
	}
	o.Tasks, o.More = newTaskRows(&byteBudget{taskListBytes}, all)
}

func newTaskRows(r *byteBudget, all []retake.Task) ([]taskRow, int) {
	return fillRows(r, maxTasks, len(all), func(i int) taskRow {
		return taskRow{safeWord(all[i].ID, maxTitle), safeWord(all[i].Title, maxTitle), all[i].Status}
	})
}

func (o tasksOut) text(*toolServer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d tasks are done\n", o.Done, o.Total)
	writeTasks(&b, o.Tasks, o.More)
	if o.Recorded > 0 {
		fmt.Fprintf(&b, "recorded as checkpoint %d\n", o.Recorded)
	}
	writeWarnings(&b, o.Warnings)
	return b.String()
}

func writeTasks(b *strings.Builder, rows []taskRow, more int) {
	for _, t := range rows {
		fmt.Fprintf(b, "%s %s %s\n", t.Status, quoteWord(t.ID), quoteWord(t.Title))
	}
	if more > 0 {
		fmt.Fprintf(b, "and %s more\n", termtext.Count(int64(more)))
	}
}
