// Package risk judges one call of a tool by plain rules: whether it may destroy
// something in the workspace, and what it does outside that no restore takes
// back. docs/use/risky-commands.md lists the rules.
//
// It reads the text of the call alone: no file, no network, no clock, and it
// runs nothing. Every word of a call is hostile.
//
// Invariants:
//  1. Work is bounded by MaxText and MaxNodes; a call that is not read whole is
//     taken for destructive.
//  2. No secret that internal/pure/secrets knows leaves in a judgement.
//  3. A judgement names its rule.
package risk

import (
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/secrets"
)

// Bounds of one judgement.
const (
	MaxText      = 64 << 10 // bytes of a command that are read
	maxScanBytes = 8 << 10  // bytes that are searched for words, of one that is longer or cannot be parsed
	MaxNodes     = 10_000   // parts of commands that are looked at
	MaxDepth     = 5        // commands inside of commands that are parsed again
	MaxEffects   = 32
)

// Judgement is what the rules say of a call.
type Judgement struct {
	Destructive bool             // may destroy something in the workspace: a checkpoint is taken first
	Why         string           // the worst of it, for a card: "deletes dist, node_modules"
	Rule        string           // that says so
	Dangers     []Danger         // all of it, the worst first
	Effects     []ExternalEffect // done outside
}

// ExternalEffect is one thing done outside the workspace; no restore takes it back.
type ExternalEffect struct {
	Kind   string
	Target string // where it goes: "origin auth-sessions", "api.example.com"
	Text   string // the simple command as run, secrets masked
	Rule   string

	// What the end of the whole call says of this part. Of "git push; make" neither is
	// true; of "make && git push" both are.
	DoneIfPassed bool // the call succeeds only when this was done
	NotIfFailed  bool // the call fails only when this was not done
}

// Judge says what the rules say of a call. It never panics, whatever the call.
func Judge(c retake.Call) Judgement {
	j := &callJudge{parseBudget: 4 * MaxText, expansionBudget: MaxText, vars: map[string]string{}, baseDirs: []string{""}}
	switch c.Kind {
	case retake.CallShell:
		j.judgeText(c.Command)
	case retake.CallMCP:
		j.exit = exitCertain
		j.judgeMCP(c)
	case retake.CallWrite, retake.CallRead:
		// The checkpoint of the turn holds what was there before.
	case retake.CallOther:
		j.judgeText(c.Command)
	}
	return sortDangers(j.result)
}

// callJudge is one judgement on its way.
type callJudge struct {
	result          Judgement
	nodesVisited    int               // looked at
	parseBudget     int               // bytes that may still be parsed
	expansionBudget int               // bytes that variables may still add
	vars            map[string]string // set in the text itself

	baseDirs    []string // where relative paths may begin, because of cd; "" is where the call begins
	baseUnknown bool     // a cd leads to where only the shell knows

	exit exitMeaning // what the end of the call says of the part that is looked at

	effectCommand, effectText string // the last command of an effect, and how it is shown
}

func (j *callJudge) judgeText(text string) {
	if len(text) > MaxText {
		j.scanText(text)
		return
	}
	j.judgeShell(text, 0)
}

// addUnread says that a part was not looked at. That is not proof of harm; a
// checkpoint costs little.
func (j *callJudge) addUnread() { j.addDanger("unread", "is too long or too deep to be read whole") }

// addDanger records a reason. When enough are known, a hostile text costs no more.
func (j *callJudge) addDanger(rule, why string) {
	if len(j.result.Dangers) < maxDangers {
		j.recordDanger(Danger{Rule: rule, Why: cleanText(why, 120)})
	}
}

// addEffect records an effect. Equal ones are one.
func (j *callJudge) addEffect(rule, target string, c *command) {
	if len(j.result.Effects) >= MaxEffects {
		return
	}
	if j.effectCommand != c.text || j.effectText == "" {
		j.effectCommand, j.effectText = c.text, cleanText(c.text, 200)
	}
	e := ExternalEffect{Kind: ruleKind(rule), Target: cleanText(target, 120), Text: j.effectText, Rule: rule, DoneIfPassed: j.exit.doneIfPassed, NotIfFailed: j.exit.notIfFailed && !c.generatedArgs}
	for i := range j.result.Effects {
		if have := &j.result.Effects[i]; have.Kind == e.Kind && have.Target == e.Target && have.Text == e.Text && have.Rule == e.Rule {
			have.DoneIfPassed, have.NotIfFailed = have.DoneIfPassed || e.DoneIfPassed, have.NotIfFailed && e.NotIfFailed
			return
		}
	}
	j.result.Effects = append(j.result.Effects, e)
}

// addFinding takes a rule as found in a table: it destroys, or is done outside.
func (j *callJudge) addFinding(rule, detail string, c *command) {
	if ruleKind(rule) == "" {
		j.addDanger(rule, rulePhrase(rule)+detail)
		return
	}
	j.addEffect(rule, detail, c)
}

// cleanText makes text of a call fit for a card: one line, masked, and not long. It is
// cut last, because half a secret is not known for one.
func cleanText(s string, limit int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	s, _ = secrets.Mask(s)
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}

// joinNames lists operands for a card, cut and counted.
func joinNames(verb string, list []string) string {
	const shown = 3
	var b strings.Builder
	b.WriteString(verb)
	for i, n := range list {
		if i == shown {
			b.WriteString(" and " + strconv.Itoa(len(list)-shown) + " more")
			break
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(" " + cleanText(n, 40))
	}
	return b.String()
}
