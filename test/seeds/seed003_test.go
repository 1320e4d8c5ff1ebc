package seeds_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
)

// The task flow: a checkpoint at the end of each task, the status of each subtask with it,
// a resumed session that continues with the first incomplete one, a fork from the last
// good step, and a warning about what was done outside.
func TestSeed003_TasksResumeAndFork(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "granularity", "call")
	h.write("app.txt", "start")
	h.init()
	h.tell(retake.SignalPrompt, 1, func(s *retake.Signal) { s.Prompt = "do the four tasks" })
	tasks := []retake.Task{
		{ID: "1", Title: "write the model", Status: retake.TaskActive}, {ID: "2", Title: "skip the docs", Status: retake.TaskPending},
		{ID: "3", Title: "migrate", Status: retake.TaskPending}, {ID: "4", Title: "deploy", Status: retake.TaskPending},
	}
	say := func() {
		h.tell(retake.SignalTasks, 1, func(s *retake.Signal) { s.Tasks = append([]retake.Task{}, tasks...) })
	}
	say()
	h.write("app.txt", "the model")
	tasks[0].Status, tasks[1].Status, tasks[2].Status = retake.TaskCompleted, retake.TaskSkipped, retake.TaskActive
	say()
	first := h.await("the end of the first task", func(cp retake.Checkpoint) bool { return cp.Trigger == retake.TriggerTask })
	if first.Turn == nil || first.Turn.Tasks == nil || first.Turn.Tasks.Next != "migrate" {
		t.Errorf("the first task's end: %+v", first.Turn)
	}

	h.write("app.txt", "corrupted")
	push := &retake.Call{ID: "c1", Tool: "Bash", Kind: retake.CallShell, Command: "git push origin main"}
	h.tell(retake.SignalCall, 1, func(s *retake.Signal) { s.Call = push })
	h.tell(retake.SignalCalled, 1, func(s *retake.Signal) { s.Call = push })
	tasks[2].Status = retake.TaskFailed
	say()
	h.await("the end of the failed task", func(cp retake.Checkpoint) bool {
		return cp.Trigger == retake.TriggerTask && cp.Number > first.Number
	})

	plan, err := h.s.PlanRestore(t.Context(), retake.PlanRequest{Workspace: h.ws, Course: retake.CourseRestore, Ref: string(first.ID)})
	h.must(err)
	if len(plan.Effects) == 0 || !strings.Contains(plan.Effects[0].Text, "git push") {
		t.Errorf("the plan does not warn of the push: %+v", plan.Effects)
	}
	state, err := h.s.State(t.Context(), h.ws, string(first.ID))
	if err != nil || len(state.Tasks) != 4 || state.Tasks[0].Status != retake.TaskCompleted || state.Tasks[1].Status != retake.TaskSkipped {
		t.Errorf("tasks at the first task's end: %+v, %v", state.Tasks, err)
	}
	h.restore(string(first.ID))
	if got := h.read("app.txt"); got != "the model" {
		t.Errorf("rolled back to %q", got)
	}
	resumed, err := h.s.Resume(t.Context(), retake.ResumeRequest{Workspace: h.ws, Ref: string(first.ID), Look: true})
	if err != nil || resumed.Next == nil || resumed.Next.Title != "migrate" {
		t.Errorf("resumed at %+v, %v", resumed.Next, err)
	}

	for _, name := range []string{"one", "two"} { // two ways from the same state
		dir := filepath.Join(t.TempDir(), name)
		_, err := h.s.Fork(t.Context(), retake.ForkRequest{Workspace: h.ws, Ref: string(first.ID), Dir: dir})
		h.must(err)
		if b, err := os.ReadFile(filepath.Join(dir, "app.txt")); err != nil || string(b) != "the model" {
			t.Errorf("fork %s begins with %q, %v", name, b, err)
		}
	}
}
