package hook

import "time"

// WithBudget gives every part of a run the same budget.
func WithBudget(d Deps, budget time.Duration) Deps {
	d.budgets = &budgets{
		read: budget, protected: budget, prompt: budget, call: budget, end: budget, other: budget, queue: budget, external: budget, worktree: budget,
	}
	return d
}

// Usual gives the budgets that agents meet.
func Usual(d Deps) Deps {
	d.budgets = nil
	return d
}

// MaxPayload is the largest payload that is read.
const MaxPayload = maxPayload
