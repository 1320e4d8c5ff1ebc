package install

import (
	"bytes"
	"embed"
	"path/filepath"

	"github.com/retake-dev/retake"
)

// embeddedFiles are written as they are; plugin/ has the same files.
//
//go:embed files
var embeddedFiles embed.FS

func embeddedFile(name string) []byte {
	text, err := embeddedFiles.ReadFile("files/" + name)
	if err != nil {
		panic("read " + name + ": " + err.Error()) // it is built in
	}
	return text
}

// ownMark returns the mark in the first lines of a file of ours.
func ownMark(agent string) string { return "Written by: retake agents install " + agent }

// extensionDriver is the driver of agents that run a file of ours in their own process.
type extensionDriver struct {
	file      func(agentSite) (settingsFile, error)
	source    string // the original
	hookCount int    // events that it listens to
	notes     []string

	withProgram func(whole []byte, program string) []byte // puts another path of the program in; nil: into a constant
}

// content returns the file with the path of the program in it.
func (x extensionDriver) content(at agentSite) []byte {
	whole := embeddedFile(x.source)
	if at.program() == "retake" {
		return whole
	}
	if x.withProgram != nil {
		return x.withProgram(whole, at.program())
	}
	return bytes.Replace(whole, []byte(`const RETAKE = "retake"`), []byte(`const RETAKE = `+quoteJSON(at.program())), 1)
}

// status compares the file with the one we would write.
func (x extensionDriver) status(at agentSite) Status {
	pl, err := x.file(at)
	if err != nil {
		return at.unknownStatus(pl.path, err)
	}
	is, there, err := pl.read()
	switch {
	case err != nil:
		return at.unknownStatus(pl.path, err)
	case !there:
		return at.newStatus(pl.path, Absent, 0, "")
	case bytes.Equal(is, x.content(at)):
		return at.newStatus(pl.path, Current, x.hookCount, "")
	case isOurs(is, at.agent):
		return at.newStatus(pl.path, Outdated, x.hookCount, "")
	}
	return at.newStatus(pl.path, Unknown, 0, "the file is not ours")
}

// install plans to write our file. A file without our mark is refused.
func (x extensionDriver) install(at agentSite, _ Options) (Change, error) {
	pl, err := x.file(at)
	if err != nil {
		return Change{}, err
	}
	c, err := at.newChange(pl)
	if err != nil {
		return Change{}, err
	}
	if c.Existed && !isOurs(c.Before, at.agent) {
		return Change{}, foreignFileError(pl.path)
	}
	c.After = x.content(at)
	if c.Empty() {
		return c, nil
	}
	c.Added, c.Notes = x.hookCount, x.notes
	if c.Existed {
		c.Removed = x.hookCount
	}
	return c, nil
}

func (x extensionDriver) remove(at agentSite) (Change, error) {
	pl, err := x.file(at)
	if err != nil {
		return Change{}, err
	}
	c, err := at.newChange(pl)
	if err != nil || !c.Existed {
		return c, err
	}
	if !isOurs(c.Before, at.agent) {
		return Change{}, foreignFileError(pl.path)
	}
	c.After, c.Removed = nil, x.hookCount
	return c, nil
}

// isOurs reports whether a file has our mark in its first lines.
func isOurs(file []byte, agent string) bool {
	head := file[:min(len(file), 400)]
	return bytes.Contains(head, []byte(ownMark(agent)))
}

func foreignFileError(file string) error {
	return &retake.Error{
		Kind: retake.Exists, What: file + " is there, and it is not ours", Safe: nothingChanged,
		Hint: "give it another name, then try again",
	}
}

// scriptDriver is the driver of an agent that runs programs named after its events.
type scriptDriver struct {
	dir    func(agentSite) (settingsFile, error)
	source string
	events []string
	notes  []string
}

func (x scriptDriver) content(at agentSite) []byte {
	whole := embeddedFile(x.source)
	if at.program() == "retake" {
		return whole
	}
	return bytes.Replace(whole, []byte("\nRETAKE=retake\n"), []byte("\nRETAKE="+shellQuote(at.program())+"\n"), 1)
}

// fileChange begins the change of one event's file.
func (x scriptDriver) fileChange(at agentSite, event string) (Change, error) {
	dir, err := x.dir(at)
	if err != nil {
		return Change{}, err
	}
	pl, err := at.locateFile(dir.baseDir, filepath.Join(dir.path[len(dir.baseDir):], event))
	if err != nil {
		return Change{}, err
	}
	c, err := at.newChange(pl)
	c.mode = scriptMode
	return c, err
}

// status compares the scripts of all events with those we would write.
func (x scriptDriver) status(at agentSite) Status {
	dir, err := x.dir(at)
	if err != nil {
		return at.unknownStatus(dir.path, err)
	}
	same, ours := 0, 0
	for _, event := range x.events {
		c, err := x.fileChange(at, event)
		if err != nil {
			return at.unknownStatus(dir.path, err)
		}
		if isOurs(c.Before, at.agent) {
			ours++
		}
		if bytes.Equal(c.Before, x.content(at)) || c.Existed && !isOurs(c.Before, at.agent) {
			same++ // a script of somebody else is not missing
		}
	}
	switch {
	case ours == 0:
		return at.newStatus(dir.path, Absent, 0, "")
	case same == len(x.events):
		return at.newStatus(dir.path, Current, ours, "")
	}
	return at.newStatus(dir.path, Outdated, ours, "")
}

func (x scriptDriver) install(at agentSite, _ Options) (Change, error) {
	return x.planEvents(at, func(all *Change, event string, c Change) (Change, error) {
		if c.Existed && !isOurs(c.Before, at.agent) {
			all.Notes = append(all.Notes, c.File+" is not ours and stays: no signal for "+event)
			return c, nil
		}
		c.After = x.content(at)
		if !c.Empty() {
			all.Added++
			if c.Existed {
				all.Removed++
			}
		}
		return c, nil
	})
}

func (x scriptDriver) remove(at agentSite) (Change, error) {
	return x.planEvents(at, func(all *Change, _ string, c Change) (Change, error) {
		if isOurs(c.Before, at.agent) {
			c.After = nil
			all.Removed++
		}
		return c, nil
	})
}

// planEvents combines the changes of all events. Scripts of others are left alone; if all
// are, it refuses.
func (x scriptDriver) planEvents(at agentSite, one func(*Change, string, Change) (Change, error)) (Change, error) {
	dir, err := x.dir(at)
	if err != nil {
		return Change{}, err
	}
	all := Change{Agent: at.agent, Scope: at.scope, File: dir.path, files: []Change{}}
	for _, event := range x.events {
		c, err := x.fileChange(at, event)
		if err == nil {
			c, err = one(&all, event, c)
		}
		if err != nil {
			return Change{}, err
		}
		all.Existed = all.Existed || c.Existed
		all.Before, all.After = append(all.Before, c.Before...), append(all.After, c.After...)
		all.files = append(all.files, c)
	}
	if len(all.Notes) == len(x.events) {
		return Change{}, foreignFileError(dir.path)
	}
	if all.Added > 0 {
		all.Notes = append(all.Notes, x.notes...)
	}
	return all, nil
}
