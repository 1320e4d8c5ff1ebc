package fakeagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Places is where an agent lives and works.
type Places struct {
	Home string
	Dir  string   // that it works in
	Env  []string // of the agent, its hooks and its tools
}

func (p Places) env(key string) string {
	for _, kv := range p.Env {
		if v, ok := strings.CutPrefix(kv, key+"="); ok {
			return v
		}
	}
	return ""
}

// under is a directory named by the environment, or one below the home.
func (p Places) under(key, dir string) string {
	if v := p.env(key); v != "" {
		return v
	}
	return filepath.Join(p.Home, dir)
}

// agent is one fake agent. It lives for one play.
type agent struct {
	Places
	name string
	out  io.Writer // what happened, a line each

	d      dialect
	ctx    context.Context
	body   body
	memory memory
	limit  time.Duration // of a hook, instead of the one in the settings
	hasty  bool          // it does not think between two events

	background sync.WaitGroup
	mu         sync.Mutex // guards everything below, and out
	notes      []string   // put before the model since the last prompt
	shown      []string   // to the user since the last prompt
	stops      []string   // not expected yet
	faults     []string   // not expected yet
}

// body is how an agent calls hooks: programs, or a plugin in its process.
type body interface {
	fire(e event) verdict
	rest() // until nothing is in the background
	quit(crash bool)
}

// memory is what is known of a session in the next play.
type memory struct {
	Session    string `json:"session"`
	Begun      bool   `json:"begun"`
	Open       bool   `json:"open"` // it did not end
	Transcript string `json:"transcript"`
	Calls      int    `json:"calls"`
	Turn       string `json:"turn"` // id of the newest one
	Prompt     string `json:"prompt"`
}

var errUnknown = errors.New("there is no such agent here")

// Names are the agents that can be played.
func Names() []string {
	var out []string
	for _, d := range dialects {
		out = append(out, d.name)
	}
	return out
}

// perform plays a text in this process.
func perform(ctx context.Context, p innerPlay, out io.Writer) error {
	for _, d := range dialects {
		if d.name == p.Agent {
			a := &agent{Places: p.Places, name: p.Agent, out: out, d: d, ctx: ctx}
			return a.play(p.Play)
		}
	}
	return errUnknown
}

// event is one thing that happens to an agent.
type event struct {
	kind    kind
	prompt  string
	message string // last words
	reason  string
	call    *call
}

type kind string

const (
	begins  kind = "begins" // the session
	asked   kind = "asked"
	before  kind = "before" // a tool runs
	after   kind = "after"
	broken  kind = "broken" // a tool did not work
	rests   kind = "rests"  // the turn
	fails   kind = "fails"  // the turn
	forgets kind = "forgets"
	ends    kind = "ends" // the session
)

// call is one use of a tool.
type call struct {
	id     string
	verb   string // of the play
	tool   string // as the agent names it
	input  map[string]any
	output string
	failed bool
	tasks  []task
}

// verdict is what an agent makes of an answer.
type verdict struct {
	stop  string   // why it does not go on
	fault string   // what it complains about
	notes []string // put before the model
	shown []string // to the user
	ran   int      // hooks, also those that nobody waits for
}

func (v *verdict) add(o verdict) {
	if v.stop == "" {
		v.stop = o.stop
	}
	if v.fault == "" {
		v.fault = o.fault
	}
	v.notes = append(v.notes, o.notes...)
	v.shown = append(v.shown, o.shown...)
	v.ran += o.ran
}

// tell fires one event and reports whether the agent goes on.
func (a *agent) tell(e event) bool {
	v := a.body.fire(e)
	a.record(e, v)
	return v.stop == ""
}

// record writes down what an event led to.
func (a *agent) record(e event, v verdict) {
	a.mu.Lock()
	defer a.mu.Unlock()
	name := a.d.event(e)
	if name == "" {
		return
	}
	if e.call != nil {
		name += " " + e.call.tool
	}
	for _, n := range v.notes {
		fmt.Fprintf(a.out, "%s: note %s\n", name, n)
	}
	for _, s := range v.shown {
		fmt.Fprintf(a.out, "%s: shows %s\n", name, s)
	}
	a.notes = append(a.notes, v.notes...)
	a.shown = append(a.shown, v.shown...)
	switch {
	case v.stop != "":
		fmt.Fprintf(a.out, "%s: stopped, %s\n", name, v.stop)
		a.stops = append(a.stops, name+": "+v.stop)
	case v.fault != "":
		fmt.Fprintf(a.out, "%s: complains, %s\n", name, v.fault)
		a.faults = append(a.faults, name+": "+v.fault)
	case v.ran == 0:
		fmt.Fprintf(a.out, "%s: no hook\n", name)
	case len(v.notes) == 0:
		fmt.Fprintf(a.out, "%s: goes on\n", name)
	}
}

func (a *agent) memoryFile() string {
	return filepath.Join(a.Home, ".fakeagent", a.name+"-"+a.memory.Session+".json")
}

// session takes up a session by a name: the same name is the same session.
func (a *agent) session(name string) error {
	id := uuid.NewSHA1(uuid.NameSpaceURL, []byte(a.name+" "+a.Dir+" "+name)).String()
	a.memory = memory{Session: id}
	b, err := os.ReadFile(a.memoryFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("take up session: %w", err)
	}
	if err := json.Unmarshal(b, &a.memory); err != nil {
		return fmt.Errorf("take up session: %w", err)
	}
	return nil
}

func (a *agent) remember() error {
	b, err := json.Marshal(a.memory)
	if err != nil {
		return fmt.Errorf("keep session: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(a.memoryFile()), 0o700); err != nil {
		return fmt.Errorf("keep session: %w", err)
	}
	if err := os.WriteFile(a.memoryFile(), b, 0o600); err != nil {
		return fmt.Errorf("keep session: %w", err)
	}
	return nil
}

// begin makes the agent ready: the settings are read when its session begins.
func (a *agent) begin() error {
	if a.body != nil {
		return nil
	}
	b, err := a.d.body(a)
	if err != nil {
		return err
	}
	a.body = b
	return nil
}

// think is the time that a model takes: what only tells is done by then.
func (a *agent) think() {
	if a.body != nil && !a.hasty {
		a.body.rest()
		a.background.Wait()
	}
}
