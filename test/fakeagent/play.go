package fakeagent

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// step is one line of a play.
type step struct {
	line       int
	verb, rest string
}

// verbs are the language. A play is a list of these, one a line:
//
//	session NAME           another session; the same name is the same one
//	begin                  the session begins; a prompt does it too
//	prompt TEXT            a turn begins
//	shell COMMAND          a tool runs it, unless a hook stops it
//	write PATH TEXT        a tool makes a file
//	edit PATH TEXT         a tool changes a file
//	read PATH              a tool reads a file
//	todo [x] A [~] B [ ] C the list of tasks
//	parallel N TOOL …      so many calls at once; {n} is the number of the call
//	stop TEXT              the turn ends with these words
//	fail TEXT              the turn is ended by this trouble
//	compact                the agent forgets
//	end                    the session ends
//	crash                  the agent is gone, and tells nothing
//	slow DURATION          hooks get no more time than this
//	hasty                  the next events come at once, as without a model
//	expect-note TEXT       it was put before the model since the last prompt
//	expect-shown TEXT      the user was told it since the last prompt
//	expect-silent          nothing was, and nothing was stopped
//	expect-stop TEXT       a hook stopped the agent
//	expect-fault TEXT      the agent complained
var verbs = map[string]func(*agent, string) error{
	"session":  (*agent).takeUp,
	"begin":    func(a *agent, _ string) error { return a.enter() },
	"prompt":   (*agent).ask,
	"parallel": (*agent).parallel,
	"stop":     (*agent).stopTurn,
	"fail":     (*agent).failTurn,
	"compact":  func(a *agent, _ string) error { return a.within(event{kind: forgets, reason: "auto"}) },
	"end":      func(a *agent, _ string) error { return a.leave(false) },
	"crash":    func(a *agent, _ string) error { return a.leave(true) },
	"slow": func(a *agent, rest string) (err error) {
		a.limit, err = time.ParseDuration(rest)
		return err
	},
	"hasty":         func(a *agent, _ string) error { a.hasty = true; return nil },
	"expect-note":   (*agent).expectNote,
	"expect-shown":  (*agent).expectShown,
	"expect-silent": (*agent).expectSilent,
	"expect-stop":   func(a *agent, rest string) error { return a.expect(&a.stops, "stopped", rest) },
	"expect-fault":  func(a *agent, rest string) error { return a.expect(&a.faults, "complained", rest) },
}

var (
	errVerb = errors.New("no such verb")
	errDead = errors.New("nothing comes after a crash")
)

func parse(play string) ([]step, error) {
	var out []step
	n := 0
	for line := range strings.Lines(play) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		s := step{line: n}
		s.verb, s.rest, _ = strings.Cut(line, " ")
		s.rest = strings.TrimSpace(s.rest)
		if verbs[s.verb] == nil && !slices.Contains(toolVerbs, s.verb) {
			return nil, fmt.Errorf("read line %d: %w: %s", n, errVerb, s.verb)
		}
		if crashes(out) {
			return nil, fmt.Errorf("read line %d: %w", n, errDead)
		}
		out = append(out, s)
	}
	return out, nil
}

// play does all lines, and fails when the agent was stopped or complained and
// nobody expected it. A crash is the last line.
func (a *agent) play(play string) error {
	steps, err := parse(play)
	if err != nil {
		return err
	}
	if err := a.session("one"); err != nil {
		return err
	}
	defer func() {
		if a.body != nil {
			a.body.quit(false)
		}
	}()
	for _, s := range steps {
		if err := a.do(s); err != nil {
			return fmt.Errorf("line %d, %s %s: %w", s.line, s.verb, s.rest, err)
		}
	}
	if a.body != nil {
		a.body.rest()
	}
	a.background.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	if left := append(slices.Clone(a.stops), a.faults...); len(left) > 0 {
		return fmt.Errorf("nobody expected: %s", strings.Join(left, "; "))
	}
	if err := a.remember(); err != nil || !crashes(steps) {
		return err
	}
	return die()
}

func (a *agent) do(s step) error {
	a.think()
	if f := verbs[s.verb]; f != nil {
		return f(a, s.rest)
	}
	if err := a.enter(); err != nil {
		return err
	}
	return a.use(s.verb, s.rest)
}

func (a *agent) takeUp(name string) error {
	if err := a.remember(); err != nil {
		return err
	}
	if a.body != nil {
		a.body.quit(false)
		a.body = nil
	}
	return a.session(name)
}

// enter begins the session, or goes on with it. One that ended or crashed is
// resumed.
func (a *agent) enter() error {
	if err := a.begin(); err != nil {
		return err
	}
	if a.memory.Open {
		return nil
	}
	why := "startup"
	if a.memory.Begun {
		why = "resume"
	}
	a.memory.Begun, a.memory.Open = true, true
	if err := a.record0(why); err != nil {
		return err
	}
	if !a.d.promptFirst {
		a.tell(event{kind: begins, reason: why})
	}
	return nil
}

// record0 begins the transcript.
func (a *agent) record0(why string) error {
	if a.d.talk == nil || why != "startup" {
		return nil
	}
	a.memory.Transcript = a.d.talk.path(a)
	return a.write(a.d.talk.head(a)...)
}

func (a *agent) ask(text string) error {
	first := !a.memory.Open
	if err := a.enter(); err != nil {
		return err
	}
	a.memory.Turn, a.memory.Prompt = uuid.NewString(), text
	a.mu.Lock()
	a.notes, a.shown = nil, nil
	a.mu.Unlock()
	went := a.tell(event{kind: asked, prompt: text})
	if first && a.d.promptFirst {
		a.tell(event{kind: begins, reason: "startup"})
	}
	if !went || a.d.talk == nil {
		return nil
	}
	return a.write(a.d.talk.prompt(a, text)...)
}

// within fires an event of a session that goes on.
func (a *agent) within(e event) error {
	if err := a.enter(); err != nil {
		return err
	}
	a.tell(e)
	return nil
}

// stopTurn ends a turn. The last words are flushed while its hooks run, as agents do: a
// hook may look for them before they are there.
func (a *agent) stopTurn(words string) error {
	if err := a.enter(); err != nil {
		return err
	}
	wrote := make(chan error, 1)
	if a.d.talk == nil {
		wrote <- nil
	} else {
		lines := a.d.talk.words(a, words)
		go func() { wrote <- a.write(lines...) }()
	}
	a.tell(event{kind: rests, message: words, prompt: a.memory.Prompt})
	return <-wrote
}

func (a *agent) failTurn(trouble string) error {
	return a.within(event{kind: fails, message: "", reason: trouble, prompt: a.memory.Prompt})
}

func (a *agent) leave(crash bool) error {
	if err := a.begin(); err != nil {
		return err
	}
	if !crash && a.memory.Open {
		a.tell(event{kind: ends, reason: "exit"})
	}
	a.memory.Open = false
	a.body.quit(crash)
	a.body = nil
	return nil
}

func (a *agent) parallel(rest string) error {
	count, rest, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(count)
	if err != nil {
		return fmt.Errorf("read count: %w", err)
	}
	verb, args, _ := strings.Cut(rest, " ")
	if !slices.Contains(toolVerbs, verb) {
		return fmt.Errorf("%w: %s", errVerb, verb)
	}
	if err := a.enter(); err != nil {
		return err
	}
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = a.use(verb, strings.ReplaceAll(args, "{n}", strconv.Itoa(i+1))) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func (a *agent) expectNote(text string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range a.notes {
		if strings.Contains(n, text) {
			return nil
		}
	}
	return fmt.Errorf("expect note: there is %q", a.notes)
}

func (a *agent) expectShown(text string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if slices.ContainsFunc(a.shown, func(s string) bool { return strings.Contains(s, text) }) {
		return nil
	}
	return fmt.Errorf("expect that the user is told: there is %q", a.shown)
}

func (a *agent) expectSilent(string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.notes) + len(a.stops) + len(a.faults); n > 0 {
		return fmt.Errorf("expect silence: there is %q %q %q", a.notes, a.stops, a.faults)
	}
	return nil
}

// expect takes what it expects away from the list.
func (a *agent) expect(list *[]string, what, text string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	had := len(*list)
	*list = slices.DeleteFunc(*list, func(s string) bool { return strings.Contains(s, text) })
	if len(*list) == had {
		return fmt.Errorf("expect that it %s with %q: there is %q", what, text, *list)
	}
	return nil
}
