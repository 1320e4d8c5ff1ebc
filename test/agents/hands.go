package main

// hands are the tools of one agent, as its model calls them.
type hands struct {
	write func(path, text string) step // a path below the workspace
	shell func(command string) step
	tasks func(list []task, first bool) []step // tell the whole list
	wipe  string                               // deletes a directory; empty: rm -rf
}

// deletes is the command that the last turn runs. Codex refuses rm -rf when nobody
// can be asked.
func (h hands) deletes(dir string) step {
	if h.wipe == "" {
		return h.shell("rm -rf " + dir)
	}
	return h.shell(h.wipe + " " + dir)
}

type task struct{ title, status string }

// Status of a task, as all four agents spell it.
const (
	pending = "pending"
	active  = "in_progress"
	done    = "completed"
)

// listed makes the objects of a list, under the keys of an agent.
func listed(list []task, title string, more map[string]any) []any {
	var out []any
	for _, t := range list {
		o := map[string]any{title: t.title, "status": t.status}
		for k, v := range more {
			o[k] = v
		}
		out = append(out, o)
	}
	return out
}
