package session

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
)

// applyTaskCall returns the task list after a call, and whether the call was about it. Some
// agents report one task at a time; an adapter sees a single event, so the list is updated
// here, where it is known.
func applyTaskCall(list []retake.Task, c *retake.Call) ([]retake.Task, bool) {
	if c == nil || c.Failed {
		return nil, false
	}
	var in struct {
		Subject string `json:"subject"`
		TaskID  string `json:"taskId"`
		Status  string `json:"status"`
	}
	if (c.Tool != "TaskCreate" && c.Tool != "TaskUpdate") || json.Unmarshal(c.Input, &in) != nil {
		return nil, false
	}
	list = slices.Clone(list)
	if c.Tool == "TaskCreate" {
		if strings.TrimSpace(in.Subject) == "" {
			return nil, false
		}
		return append(list, retake.Task{ID: createdTaskID(c.Output, len(list)), Title: in.Subject, Status: retake.TaskPending}), true
	}
	i := slices.IndexFunc(list, func(t retake.Task) bool { return t.ID == in.TaskID })
	if i < 0 {
		return nil, false
	}
	if in.Subject != "" {
		list[i].Title = in.Subject
	}
	switch in.Status {
	case "deleted":
		list = slices.Delete(list, i, i+1)
	case "pending":
		list[i].Status = retake.TaskPending
	case "in_progress":
		list[i].Status = retake.TaskActive
	case "completed":
		list[i].Status = retake.TaskCompleted
	}
	return list, true
}

// createdTaskID returns the number that the output gives a new task, "Task #3 created",
// else the next number.
func createdTaskID(output string, known int) string {
	if _, rest, ok := strings.Cut(output, "#"); ok {
		end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
		if end < 0 {
			end = len(rest)
		}
		if end > 0 && end < 10 {
			return rest[:end]
		}
	}
	return strconv.Itoa(known + 1)
}
