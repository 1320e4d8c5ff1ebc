// Package risk judges one call of a tool by plain rules: whether it may destroy
// something in the workspace, and what it does outside that no restore takes
// back. docs/use/risky-commands.md lists the rules.
//
// It reads the text of the call, of the files that it runs as far as its caller has read them, and
// programs.json, which is part of the program: no other file, no network, no clock, and it runs
// nothing. Every word of a call is hostile.
//
// Invariants:
//  1. Work is bounded by MaxText and MaxNodes; a call that is not read whole is
//     taken for destructive.
//  2. No secret that internal/pure/secrets knows leaves in a judgement, but for Target.Paths: a file is
//     found by its whole name.
//  3. A judgement names its rule.
package risk

import (
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/secrets"
)

// Limits of one judgement.
const (
	MaxText      = 64 << 10 // bytes of a command that are read
	maxScanBytes = 8 << 10  // bytes that are searched for words, of one that is longer or cannot be parsed
	MaxNodes     = 10_000   // parts of commands that are looked at
	MaxDepth     = 5        // commands inside of commands that are parsed again
	MaxEffects   = 32
)

// Judgement is what the rules say about a call.
type Judgement struct {
	Destructive bool             // may destroy something in the workspace: a checkpoint is taken first
	Why         string           // the worst of it, for a card: "deletes dist, node_modules"
	Rule        string           // the rule that applies
	Dangers     []Danger         // all of it, the worst first
	Effects     []ExternalEffect // done outside

	Runs []string // files that it runs and whose text was not there: absolute, "~/…", or relative to where the call begins

	Unrecoverable []Unrecoverable // parts that neither a checkpoint nor a restore helps against

	// MayDestroyOutside: there are dangers OnlyOutside, which do not make the call destructive before
	// WithoutMissing was told what is inside.
	MayDestroyOutside bool
	knowsOutside      bool // it was
}

// ExternalEffect is one thing a call does outside the workspace, which no restore undoes.
type ExternalEffect struct {
	Kind   string
	Target string // where it goes: "origin auth-sessions", "api.example.com"
	Text   string // the simple command as run, secrets masked
	Rule   string

	// What the exit status of the whole call says about this part. Of "git push; make" neither is
	// true; of "make && git push" both are.
	DoneIfPassed bool // the call succeeds only when this was done
	NotIfFailed  bool // the call fails only when this was not done
}

// Judge applies the rules to a call. It never panics, whatever the call holds.
func Judge(c retake.Call) Judgement { return JudgeWith(nil, c) }

// JudgeWith applies the rules, and those that the user added; nil: none.
func JudgeWith(user *retake.RiskRules, c retake.Call) Judgement {
	j := newCallJudge(user)
	j.files = c.Files
	switch c.Kind {
	case retake.CallShell:
		j.judgeText(c.Command)
	case retake.CallMCP:
		j.exit = exitCertain
		j.judgeMCP(c)
	case retake.CallWrite:
		j.judgeWrite(c)
	case retake.CallRead:
	case retake.CallOther:
		j.judgeText(c.Command)
	}
	return sortDangers(j.result)
}

func newCallJudge(user *retake.RiskRules) *callJudge {
	j := &callJudge{
		parseBudget: 4 * MaxText, expansionBudget: MaxText, formBudget: maxFormBytes,
		vars: map[string]string{}, scripts: map[string]string{}, values: map[string][]string{}, where: workDirs{current: []string{""}},
	}
	j.useRules(user)
	return j
}

// callJudge is the state of one judgement.
type callJudge struct {
	result          Judgement
	nodesVisited    int               // looked at
	parseBudget     int               // bytes that may still be parsed
	expansionBudget int               // bytes that variables may still add
	formBudget      int               // bytes of paths that may still be built
	vars            map[string]string // set in the text itself
	scripts         map[string]string // the files that the call writes

	files     map[string]string // texts of files that were read, by place
	running   []string          // the files that are being judged
	fileDepth int               // how many of these are scripts
	deletions int               // dangers that were recorded, but for what is only written over
	maybe     int               // above 0: nobody knows whether this part of a file runs

	values    map[string][]string // the same as forms, encoded; several if a loop sets them
	where     workDirs            // where relative paths begin, because of cd
	elsewhere bool                // the command runs where paths are not those of this machine
	otherUser bool                // it runs as another user, whose home only the shell knows

	exit exitMeaning // what the exit status says about the current part

	added map[string][]*programRule // the user's, by program
	like  map[string]string         // the user's: a program to the one that it is like
	tools []retake.RiskTool         // the user's

	effectCommand, effectText string // the last command of an effect, and how it is shown
}

// judgeText judges a command line; one that is too long is only scanned.
func (j *callJudge) judgeText(text string) {
	if len(text) > MaxText {
		j.scanText(text)
		return
	}
	j.judgeShell(text, 0)
}

// addUnread records that a part was not examined. That proves no harm, but a checkpoint
// costs little.
func (j *callJudge) addUnread() {
	j.addDanger("unread", "is too long or too deep to be read whole", unnamedTarget("what is not read"))
}

// addEffect records an external effect. Equal ones are merged.
func (j *callJudge) addEffect(rule, target string, c *command) {
	if j.maybe > 0 {
		return
	}
	addUnrecoverable(j, effectClass(rule, target, c), target, c)
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

// addFinding records the match of a rule: as a danger, or as an effect if the rule has a
// kind. Files are the operands that name what is destroyed if the rule has none of its own.
func (j *callJudge) addFinding(rule, detail string, c *command, files []word) {
	if ruleKind(rule) != "" {
		j.addEffect(rule, detail, c)
		return
	}
	if rule == "sql-destroy" || rule == "volumes" || rule == "migrate" && losesDatabase(c) {
		addUnrecoverable(j, retake.GateDelete, detail, c)
	}
	phrase := rulePhrase(rule)
	if phrase == "" { // a rule whose own judges name what is destroyed
		phrase = "runs "
	}
	j.inProject(c, func() { j.addDanger(rule, phrase+detail, j.ruleTargets(rule, detail, c, files)...) })
}

// ruleTargets returns what a program of the table destroys.
func (j *callJudge) ruleTargets(rule, detail string, c *command, files []word) []Target {
	switch rule {
	case "migrate", "git-discard", "git-refs", "git-rewrite":
		return []Target{j.targetHere()}
	case "clean":
		return []Target{j.targetHere(), unnamedTarget("what " + detail + " deletes")}
	case "fresh-install":
		return []Target{j.newTarget("node_modules", form{text: "node_modules"}, false)}
	case "sql-destroy", "volumes", "change-modes", "mcp-destructive":
		return nil
	}
	if list := j.fileTargets(c, files, false); len(list) > 0 {
		return list
	}
	return []Target{unnamedTarget("what " + detail + " deletes")}
}

// cleanText makes text of a call fit for display: one line, with secrets masked, and
// bounded. It masks before it cuts, because half a secret is not recognized.
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

// joinNames lists operands after a verb; only the first are named, the rest is counted.
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
