package hook

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// addCalled reports that a tool has run, and the list of tasks if the tool has all of it.
// Claude Code's TaskCreate and TaskUpdate, and its event TaskCompleted, name a single task:
// they yield no list, TaskList does. The list of a subagent is not that of its session.
func (h *eventReader) addCalled(c *retake.Call, response json.RawMessage) {
	c = withResponse(c, response)
	h.addSignal(retake.SignalCalled, func(s *retake.Signal) { s.Call = c })
	if c.Failed {
		return
	}
	in, _ := parseFields(c.Input)
	if list, ok := taskList(c.Tool, in, response); ok {
		h.addTasks(list)
	}
}

func (h *eventReader) addTasks(list []retake.Task) {
	if h.base.Subagent == "" {
		h.addSignal(retake.SignalTasks, func(s *retake.Signal) { s.Tasks = list })
	}
}

// taskList returns the whole list that a call wrote or read.
func taskList(tool string, in jsonFields, response json.RawMessage) ([]retake.Task, bool) {
	answer, _ := parseFields(unwrapJSON(response))
	switch strings.ToLower(tool) {
	case "todowrite", "todo_write", "write_todos", "manage_todo_list":
		if in.isTrue("merge") {
			return nil, false
		}
		return parseTaskList(in.raw("todos", "todoList"))
	case "update_todo", "update_todos":
		if list, ok := parseTaskList(answer.raw("all_todos")); ok {
			return list, true
		}
		return parseChecklist(in.text("todos"))
	case "update_plan":
		return parseTaskList(in.raw("plan"))
	case "tasklist":
		return parseTaskList(answer.raw("tasks"))
	case "create_todo", "create_todos", "list_todos":
		return parseTaskList(answer.raw("all_todos", "todos"))
	}
	return parseChecklist(in.text("task_progress"))
}

// parseTaskList parses an array of tasks, or a text with check boxes.
func parseTaskList(raw json.RawMessage) ([]retake.Task, bool) {
	raw = unwrapJSON(raw)
	if s := jsonString(raw); s != "" {
		return parseChecklist(s)
	}
	items, ok := (jsonFields{"": raw}).list("")
	if !ok {
		return nil, false
	}
	tasks := []retake.Task{}
	for _, item := range items[:min(len(items), maxTasks)] {
		one, _ := parseFields(item)
		title := one.text("content", "step", "description", "subject", "title", "text", "task")
		if title == "" {
			continue
		}
		status := one.text("status", "state")
		if status == "" && one.isTrue("completed") {
			status = "completed"
		}
		tasks = append(tasks, retake.Task{ID: one.text("id", "taskId"), Title: title, Status: parseTaskStatus(status)})
	}
	return tasks, true
}

// parseChecklist parses lines such as "- [x] done". A text without any is not a list.
func parseChecklist(text string) ([]retake.Task, bool) {
	var tasks []retake.Task
	for line := range strings.Lines(text) {
		before, rest, ok := strings.Cut(line, "[")
		if !ok || strings.Trim(before, " \t-*+0123456789.") != "" || len(rest) < 2 || rest[1] != ']' {
			continue
		}
		title := strings.TrimSpace(rest[2:])
		if title == "" || len(tasks) == maxTasks {
			continue
		}
		tasks = append(tasks, retake.Task{Title: title, Status: boxStatus(rest[0])})
	}
	return tasks, len(tasks) > 0
}

func boxStatus(c byte) retake.TaskStatus {
	switch c {
	case 'x', 'X':
		return retake.TaskCompleted
	case '~', '>', '/':
		return retake.TaskActive
	case '-':
		return retake.TaskSkipped
	default:
		return retake.TaskPending
	}
}

// parseTaskStatus knows the words of the agents. Unknown ones mean pending.
func parseTaskStatus(word string) retake.TaskStatus {
	switch strings.ReplaceAll(strings.ToLower(word), "_", "-") {
	case "in-progress", "inprogress", "active", "doing", "started":
		return retake.TaskActive
	case "completed", "complete", "done", "finished":
		return retake.TaskCompleted
	case "failed", "error":
		return retake.TaskFailed
	case "cancelled", "canceled", "skipped", "deleted", "removed":
		return retake.TaskSkipped
	default:
		return retake.TaskPending
	}
}

// boundTasks bounds a list and makes ids unique. A task without an id gets one from its
// title, so that it keeps it when the list around it changes.
func boundTasks(tasks []retake.Task) []retake.Task {
	var out []retake.Task
	seen := make(map[string]bool)
	for _, t := range tasks[:min(len(tasks), maxTasks)] {
		t.Title = truncate(strings.TrimSpace(t.Title), maxTitle)
		if !slices.Contains(retake.TaskStatuses, t.Status) {
			t.Status = parseTaskStatus(string(t.Status))
		}
		id := cleanID(t.ID)
		if id == "" {
			h := fnv.New32a()
			_, _ = h.Write([]byte(t.Title)) // never fails
			id = fmt.Sprintf("t-%08x", h.Sum32())
		}
		t.ID = id
		for n := 2; seen[t.ID]; n++ {
			t.ID = cleanID(fmt.Sprintf("%s-%d", id, n))
		}
		seen[t.ID] = true
		out = append(out, t)
	}
	return out
}
