package install

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/retake-dev/retake"
)

// Scope says whose settings are meant: those of the user, or those of one project.
type Scope string

// The scopes.
const (
	User    Scope = "user"
	Project Scope = "project"
)

// Places is where things are. The environment is read only through Env.
type Places struct {
	Home     string
	Project  string
	Env      func(key string) string
	LookPath func(program string) (path string, ok bool) // is a program installed
	Retake   string                                      // the command to write: "retake", or an absolute path when it is not found by its name
}

// Options are what a user may ask for beyond the default.
type Options struct {
	Worktree bool // let Claude Code make its worktrees with us; in a project only
}

// Agent is an agent whose settings can be changed.
type Agent struct {
	Name  string // "claude-code"
	Title string // "Claude Code"

	programs   []string
	configDirs func(Places) []string // directories that are there when it is used
	driver     driver
}

// Condition is how the settings of an agent compare with ours.
type Condition string

// The conditions.
const (
	Absent   Condition = "absent"
	Current  Condition = "current"
	Outdated Condition = "outdated" // an older set of ours, or another path of the program
	Unknown  Condition = "unknown"  // the file cannot be understood
)

// Status is what was found.
type Status struct {
	Agent     string    `json:"agent"`
	Scope     Scope     `json:"scope"`
	File      string    `json:"file"`
	Condition Condition `json:"condition"`
	Hooks     int       `json:"hooks"`
	Detail    string    `json:"detail,omitempty"`
}

// driver is one way in which agents accept hooks.
type driver interface {
	status(at agentSite) Status
	install(at agentSite, o Options) (Change, error)
	remove(at agentSite) (Change, error)
}

// agentSite is the settings of one agent in one scope.
type agentSite struct {
	agent string
	scope Scope
	Places
}

// All returns the agents, the most used first.
func All() []Agent { return slices.Clone(knownAgents) }

// ByName finds an agent.
func ByName(name string) (Agent, bool) {
	for _, a := range knownAgents {
		if a.Name == name {
			return a, true
		}
	}
	return Agent{}, false
}

// Installed reports whether the program is found or its directory exists.
func (a Agent) Installed(p Places) bool {
	for _, name := range a.programs {
		if p.LookPath == nil {
			break
		}
		if _, ok := p.LookPath(name); ok {
			return true
		}
	}
	return slices.ContainsFunc(a.configDirs(p), func(dir string) bool {
		info, err := os.Stat(dir)
		return err == nil && info.IsDir()
	})
}

// Status returns the state of the settings. It changes nothing.
func (a Agent) Status(s Scope, p Places) Status {
	at := agentSite{agent: a.Name, scope: s, Places: p}
	if err := at.validate(); err != nil {
		return at.unknownStatus("", err)
	}
	return a.driver.status(at)
}

// PlanInstall returns the change that adds our hooks. It changes nothing itself.
func (a Agent) PlanInstall(s Scope, p Places, o Options) (Change, error) {
	at := agentSite{agent: a.Name, scope: s, Places: p}
	if err := at.validate(); err != nil {
		return Change{}, err
	}
	if o.Worktree && (a.Name != claudeCode || s != Project) {
		return Change{}, &retake.Error{
			Kind: retake.Invalid, What: "worktrees are made by us for claude-code in a project only", Safe: nothingChanged,
			Hint: "leave the worktrees out, or name claude-code and the project",
		}
	}
	return a.driver.install(at, o)
}

// PlanRemove returns the change that removes our hooks. It changes nothing itself.
func (a Agent) PlanRemove(s Scope, p Places) (Change, error) {
	at := agentSite{agent: a.Name, scope: s, Places: p}
	if err := at.validate(); err != nil {
		return Change{}, err
	}
	return a.driver.remove(at)
}

// validate checks the scope, the root of it and the program.
func (at agentSite) validate() error {
	root := map[Scope]string{User: at.Home, Project: at.Project}[at.scope]
	if at.scope != User && at.scope != Project {
		return &retake.Error{Kind: retake.Invalid, What: "there is no scope " + string(at.scope), Safe: nothingChanged, Hint: "there are: user, project"}
	}
	if !filepath.IsAbs(root) {
		return &retake.Error{Kind: retake.Invalid, What: "the place of the " + string(at.scope) + " is not known", Safe: nothingChanged}
	}
	return checkProgram(at.program())
}

// program returns the command that is written.
func (at agentSite) program() string {
	if at.Retake == "" {
		return "retake"
	}
	return at.Retake
}

// absEnv returns a variable that is an absolute path, else "". A relative path would mean
// another place in each directory.
func (p Places) absEnv(key string) string {
	if p.Env == nil {
		return ""
	}
	// What is not absolute would mean another place in each directory.
	if v := p.Env(key); filepath.IsAbs(v) {
		return v
	}
	return ""
}

func (at agentSite) newStatus(file string, c Condition, hooks int, detail string) Status {
	return Status{Agent: at.agent, Scope: at.scope, File: file, Condition: c, Hooks: hooks, Detail: detail}
}

func (at agentSite) unknownStatus(file string, err error) Status {
	return at.newStatus(file, Unknown, 0, err.Error())
}
