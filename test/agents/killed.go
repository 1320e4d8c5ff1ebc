package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// five are the tasks; those before now are done.
func five(now int) []task {
	var out []task
	for i := 1; i <= 5; i++ {
		status := pending
		switch {
		case i < now:
			status = done
		case i == now:
			status = active
		}
		out = append(out, task{fmt.Sprintf("write part %d of the book", i), status})
	}
	return out
}

// fiveTasks does two of five tasks and half of the third; then the model is silent.
func fiveTasks(h hands) script {
	steps := h.tasks(five(0), true)
	for i := 1; i <= 3; i++ {
		steps = append(steps, h.tasks(five(i), false)...)
		steps = append(steps, h.shell(fmt.Sprintf("echo part %d > part%d.txt", i, i)))
	}
	return script{
		{promptTasks, append(steps, step{Hang: true})},
		{promptOn, []step{{Text: "I go on with task 3."}}},
	}
}

// inTaskThree reports whether the third task was told as the one at work, and the two before as done:
// nobody waits for these hooks, so they may arrive in another order.
func (b *bed) inTaskThree() bool {
	var answer struct {
		Tasks []struct {
			Status string `json:"status"`
		} `json:"tasks"`
	}
	err := b.ask(&answer, "tasks")
	return err == nil && len(answer.Tasks) == 5 && answer.Tasks[2].Status == "in-progress" &&
		answer.Tasks[0].Status == done && answer.Tasks[1].Status == done
}

func (b *bed) goOnAfterKill() error {
	if err := b.killed(b.inTaskThree, b.agent.first(b.program, promptTasks)...); err != nil {
		return err
	}
	b.check(b.exists("part1.txt") && b.exists("part2.txt") && b.exists("part3.txt"), "the agent was in task 3 when it was killed")
	var r resumption
	for end := time.Now().Add(10 * time.Second); r.Checkpoint.Turn.Failed == "" && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		r = resumption{}
		if err := b.ask(&r, "resume", "--plan"); err != nil {
			return err
		}
	}
	b.check(r.Checkpoint.Turn.Failed != "", "the end of the agent was noticed, and is a checkpoint")
	b.check(len(r.Tasks) == 5, "resume knows %d of 5 tasks", len(r.Tasks))
	var is []string
	for _, t := range r.Tasks {
		is = append(is, t.Status)
	}
	what := "tasks 1 and 2 are completed, task 3 is not"
	ok := slices.Equal(is, []string{"completed", "completed", "in-progress", "pending", "pending"})
	if !ok {
		what += ": " + strings.Join(is, " ")
	}
	b.check(ok, "%s", what)
	return b.goOn(func(talk []said) {
		b.check(holds(talk, five(3)[4].title), "the model is told the list of tasks")
		b.check(holds(talk, "Go on with task 3"), "the model is told to go on with task 3, and not to repeat 1 and 2")
	})
}
