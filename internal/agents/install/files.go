package install

import (
	"bytes"
	"embed"
	"path/filepath"

	"github.com/retake-dev/retake"
)

// originals are the files that are written as they stand; plugin/ holds the same.
//
//go:embed files
var originals embed.FS

func original(name string) []byte {
	text, err := originals.ReadFile("files/" + name)
	if err != nil {
		panic("read " + name + ": " + err.Error()) // it is built in
	}
	return text
}

// written marks a file of ours: it is in its first lines.
func written(agent string) string { return "Written by: retake agents install " + agent }

// extension is the driver of agents that run a file of ours in their own process.
type extension struct {
	file  func(site) (place, error)
	from  string // the original
	hooks int    // events that it listens to
	notes []string

	command func(whole []byte, program string) []byte // puts another path of the program in; nil: into a constant
}

// text is the file with the command in it.
func (x extension) text(at site) []byte {
	whole := original(x.from)
	if at.program() == "retake" {
		return whole
	}
	if x.command != nil {
		return x.command(whole, at.program())
	}
	return bytes.Replace(whole, []byte(`const RETAKE = "retake"`), []byte(`const RETAKE = `+text(at.program())), 1)
}

func (x extension) status(at site) Status {
	pl, err := x.file(at)
	if err != nil {
		return at.unknown(pl.file, err)
	}
	is, there, err := pl.read()
	switch {
	case err != nil:
		return at.unknown(pl.file, err)
	case !there:
		return at.found(pl.file, Absent, 0, "")
	case bytes.Equal(is, x.text(at)):
		return at.found(pl.file, Current, x.hooks, "")
	case mine(is, at.agent):
		return at.found(pl.file, Outdated, x.hooks, "")
	}
	return at.found(pl.file, Unknown, 0, "the file is not ours")
}

func (x extension) install(at site, _ Options) (Change, error) {
	pl, err := x.file(at)
	if err != nil {
		return Change{}, err
	}
	c, err := at.change(pl)
	if err != nil {
		return Change{}, err
	}
	if c.Existed && !mine(c.Before, at.agent) {
		return Change{}, foreign(pl.file)
	}
	c.After = x.text(at)
	if c.Empty() {
		return c, nil
	}
	c.Added, c.Notes = x.hooks, x.notes
	if c.Existed {
		c.Removed = x.hooks
	}
	return c, nil
}

func (x extension) remove(at site) (Change, error) {
	pl, err := x.file(at)
	if err != nil {
		return Change{}, err
	}
	c, err := at.change(pl)
	if err != nil || !c.Existed {
		return c, err
	}
	if !mine(c.Before, at.agent) {
		return Change{}, foreign(pl.file)
	}
	c.After, c.Removed = nil, x.hooks
	return c, nil
}

// mine reports whether a file carries our mark in its first lines.
func mine(file []byte, agent string) bool {
	head := file[:min(len(file), 400)]
	return bytes.Contains(head, []byte(written(agent)))
}

func foreign(file string) error {
	return &retake.Error{
		Kind: retake.Exists, What: file + " is there, and it is not ours", Safe: unchanged,
		Hint: "give it another name, then try again",
	}
}

// scripts is the driver of an agent that runs programs named like its events.
type scripts struct {
	dir    func(site) (place, error)
	from   string
	events []string
	notes  []string
}

func (x scripts) text(at site) []byte {
	whole := original(x.from)
	if at.program() == "retake" {
		return whole
	}
	return bytes.Replace(whole, []byte("\nRETAKE=retake\n"), []byte("\nRETAKE="+quote(at.program())+"\n"), 1)
}

// each makes the change of one event's file.
func (x scripts) each(at site, event string) (Change, error) {
	dir, err := x.dir(at)
	if err != nil {
		return Change{}, err
	}
	pl, err := at.at(dir.base, filepath.Join(dir.file[len(dir.base):], event))
	if err != nil {
		return Change{}, err
	}
	c, err := at.change(pl)
	c.mode = scriptMode
	return c, err
}

func (x scripts) status(at site) Status {
	dir, err := x.dir(at)
	if err != nil {
		return at.unknown(dir.file, err)
	}
	same, ours := 0, 0
	for _, event := range x.events {
		c, err := x.each(at, event)
		if err != nil {
			return at.unknown(dir.file, err)
		}
		if mine(c.Before, at.agent) {
			ours++
		}
		if bytes.Equal(c.Before, x.text(at)) || c.Existed && !mine(c.Before, at.agent) {
			same++ // a script of somebody else is not ours to miss
		}
	}
	switch {
	case ours == 0:
		return at.found(dir.file, Absent, 0, "")
	case same == len(x.events):
		return at.found(dir.file, Current, ours, "")
	}
	return at.found(dir.file, Outdated, ours, "")
}

func (x scripts) install(at site, _ Options) (Change, error) {
	return x.plan(at, func(all *Change, event string, c Change) (Change, error) {
		if c.Existed && !mine(c.Before, at.agent) {
			all.Notes = append(all.Notes, c.File+" is not ours and stays: no signal for "+event)
			return c, nil
		}
		c.After = x.text(at)
		if !c.Empty() {
			all.Added++
			if c.Existed {
				all.Removed++
			}
		}
		return c, nil
	})
}

func (x scripts) remove(at site) (Change, error) {
	return x.plan(at, func(all *Change, _ string, c Change) (Change, error) {
		if mine(c.Before, at.agent) {
			c.After = nil
			all.Removed++
		}
		return c, nil
	})
}

// plan makes one change of the changes of all events.
func (x scripts) plan(at site, one func(*Change, string, Change) (Change, error)) (Change, error) {
	dir, err := x.dir(at)
	if err != nil {
		return Change{}, err
	}
	all := Change{Agent: at.agent, Scope: at.scope, File: dir.file, many: []Change{}}
	for _, event := range x.events {
		c, err := x.each(at, event)
		if err == nil {
			c, err = one(&all, event, c)
		}
		if err != nil {
			return Change{}, err
		}
		all.Existed = all.Existed || c.Existed
		all.Before, all.After = append(all.Before, c.Before...), append(all.After, c.After...)
		all.many = append(all.many, c)
	}
	if len(all.Notes) == len(x.events) {
		return Change{}, foreign(dir.file)
	}
	if all.Added > 0 {
		all.Notes = append(all.Notes, x.notes...)
	}
	return all, nil
}
