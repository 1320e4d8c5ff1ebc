package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// scenario is one thing that must work with every agent.
type scenario struct {
	id, what string
	script   func(h hands) script
	do       func(b *bed) error
}

var scenarios = []scenario{
	{"turns", "three turns; the last one is undone, and the conversation goes on without it", threeTurns, (*bed).takeBack},
	{"killed", "killed in task 3 of 5; the conversation goes on with task 3", fiveTasks, (*bed).goOnAfterKill},
	{"paid", "a payment, taken back and made again: told, and stopped by policy", payments, (*bed).payAgain},
}

// The prompts. None is part of another.
const (
	promptWrite   = "Write the greeting into the sources."
	promptInstall = "Install the package that lies beside."
	promptClean   = "Tidy up what is not needed."
	promptOn      = "Go on from here."
	promptTasks   = "Do all five tasks, one after the other."
)

func threeTurns(h hands) script {
	return script{
		{promptWrite, []step{
			h.write("src/greeting.txt", "Good morning."),
			h.shell("mkdir -p src/lib && echo 'module.exports = 1' > src/lib/one.js"),
			{Text: "The greeting is written."},
		}},
		{promptInstall, []step{
			h.shell("npm install ./localpkg --install-links --offline --no-audit --no-fund"),
			{Text: "The package is installed."},
		}},
		{promptClean, []step{h.deletes("src"), {Text: "Everything is tidy."}}},
		{promptOn, []step{{Text: "Understood."}}},
	}
}

// logged is what the driver reads of "retake log --json".
type logged struct {
	Number  int64  `json:"number"`
	Trigger string `json:"trigger"`
	Turn    *struct {
		Session string `json:"session"`
		Prompt  string `json:"prompt"`
		Failed  string `json:"failed"`
	} `json:"turn"`
}

func (b *bed) log() ([]logged, error) {
	var answer struct {
		Checkpoints []logged `json:"checkpoints"`
	}
	err := b.ask(&answer, "log")
	return answer.Checkpoints, err
}

// prompts are those of the turns that came to their end, oldest first. opencode
// puts those of its command line in quotes.
func (b *bed) prompts() ([]string, error) {
	list, err := b.log()
	var out []string
	for _, c := range slices.Backward(list) {
		if c.Turn != nil && c.Trigger == "turn" {
			out = append(out, strings.Trim(c.Turn.Prompt, `"`))
		}
	}
	return out, err
}

// turnOf waits until a prompt has become a checkpoint with its turn: the end of a turn
// is heard after the agent went away.
func (b *bed) turnOf(prompt string) (session string, err error) {
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		list, err := b.log()
		if err != nil {
			return "", err
		}
		for _, c := range list {
			if c.Turn != nil && c.Trigger == "turn" && strings.Contains(c.Turn.Prompt, prompt) {
				return c.Turn.Session, nil
			}
		}
		if time.Now().After(end) {
			return "", fmt.Errorf("find the turn %q: no checkpoint has it", prompt)
		}
	}
}

// turn lets the agent do one prompt, and answers its session.
func (b *bed) turn(prompt, session string) (string, error) {
	argv := b.agent.first(b.program, prompt)
	if session != "" {
		argv = b.agent.again(b.program, session, prompt)
	}
	if err := b.prompt(argv...); err != nil {
		return "", err
	}
	return b.turnOf(prompt)
}

func (b *bed) takeBack() error {
	session, first := "", ""
	for _, p := range []string{promptWrite, promptInstall, promptClean} {
		var err error
		if session, err = b.turn(p, session); err != nil {
			return err
		}
		if first == "" {
			first = session
		}
		switch p {
		case promptWrite:
			b.check(b.exists("src/greeting.txt") && b.exists("src/lib/one.js"), "turn 1 wrote by its edit tool and by its shell")
		case promptInstall:
			b.check(b.exists("node_modules/localpkg/index.js"), "turn 2 installed a package")
		case promptClean:
			b.check(!b.exists("src"), "turn 3 deleted src")
		}
	}
	b.check(session == first, "three turns are of one session")
	prompts, err := b.prompts()
	if err != nil {
		return err
	}
	b.check(slices.Equal(prompts, []string{promptWrite, promptInstall, promptClean}), "the log has each turn with its prompt, once")
	for _, args := range [][]string{{"log"}, {"undo", "--yes"}} {
		if _, err := b.tell(args...); err != nil {
			return err
		}
	}
	b.check(b.exists("src/greeting.txt") && b.exists("src/lib/one.js"), "undo brought src back")
	b.check(b.exists("node_modules/localpkg/index.js"), "undo left turn 2 alone")
	return b.goOn(func(talk []said) {
		b.check(holds(talk, promptWrite) && holds(talk, "The greeting is written."), "the model is told turn 1")
		b.check(holds(talk, promptInstall) && holds(talk, "The package is installed."), "the model is told turn 2")
		b.check(!holds(talk, promptClean) && !holds(talk, "Everything is tidy."), "the model is not told turn 3")
		b.check(holds(talk, "Retake:"), "the model is told that files were changed")
	})
}

// resumption is what the driver reads of "retake resume --json".
type resumption struct {
	Checkpoint struct {
		Turn struct {
			Failed string `json:"failed"`
		} `json:"turn"`
	} `json:"checkpoint"`
	Command []string `json:"command"`
	Session string   `json:"session"`
	Exact   bool     `json:"exact"`
	Why     string   `json:"why"`
	Note    string   `json:"note"`
	Tasks   []struct {
		Title  string `json:"title"`
		Status string `json:"status"`
	} `json:"tasks"`
}

// goOn runs the command that resume gives, with a prompt, and looks at what the
// model was asked then.
func (b *bed) goOn(look func(talk []said)) error {
	var r resumption
	if err := b.ask(&r, "resume"); err != nil {
		return err
	}
	b.check(len(r.Command) > 0, "resume gives a command: %s", strings.Join(b.short(r.Command), " "))
	b.check(r.Exact, "the conversation goes on at the turn%s", because(r.Why))
	if len(r.Command) == 0 {
		return nil
	}
	before := len(b.model.requests())
	if err := b.prompt(b.agent.goOn(b.program, r.Command, promptOn)...); err != nil {
		return err
	}
	asked := b.model.requests()[before:]
	i := slices.IndexFunc(asked, func(q request) bool { return holds(q.Talk, promptOn) })
	b.check(i >= 0, "the model is asked again")
	if i >= 0 {
		b.keepTalk(asked[i].Talk)
		look(asked[i].Talk)
	}
	return nil
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

// short is a command without the scratch directory in it.
func (b *bed) short(command []string) []string {
	out := slices.Clone(command)
	for i, w := range out {
		out[i] = strings.ReplaceAll(w, b.home(), "~")
	}
	return out
}

func (b *bed) keepTalk(talk []said) {
	for _, t := range talk {
		b.note("request.log", fmt.Sprintf("%s %s %.200q\n", t.Who, t.Tool, t.Text))
	}
}
