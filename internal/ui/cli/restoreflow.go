package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
	"github.com/retake-dev/retake/internal/view"
)

// restoreFlow is what restore, undo, redo and adopt share: it shows a plan, asks for consent,
// and applies that same plan.
type restoreFlow struct {
	*commandLine
	planOnly     bool
	list         bool
	git          bool
	session      string
	discardEdits bool // undo discards unsaved edits
	here         bool // undo only in this workspace
	all          bool // undo is not limited to the sub-directory that we are in
	limitedToDir bool // it is limited to it
	digest       string
	accept       []string
	typedCommand typedCommand
	titles       term.TargetTitles // of the checkpoint gone to
	otherNames   map[retake.WorkspaceID]string
}

// planStyle returns how plans and results are drawn.
func (j *restoreFlow) planStyle() term.Style {
	l := j.commandLine.stdoutStyle()
	l.Titles = j.titles
	return l
}

// addFlags adds the flags that all commands with a plan have.
func (j *restoreFlow) addFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.BoolVar(&j.planOnly, "plan", false, "show the plan and exit")
	fs.BoolVar(&j.planOnly, "dry-run", false, "the same as --plan")
	fs.BoolVar(&j.list, "list", false, "list every path of the plan")
	fs.StringVar(&j.digest, "digest", "", "apply exactly the plan with this `DIGEST`, without questions")
	fs.StringSliceVar(&j.accept, "accept", nil, "confirm a `WARNING`: uncaptured, changed, partial, held, mass-delete, space, names, setuid, database, git, overlap, agent-working, damaged")
	fs.BoolVar(&j.git, "git", false, "move git back, too")
}

// planAnswer and resultAnswer are the two forms of JSON: what would be done, and
// what was.
type planAnswer struct {
	V int `json:"v"`
	retake.Plan
}

type resultAnswer struct {
	V int `json:"v"`
	retake.RestoreResult
}

// MarshalJSON is needed because a plan writes itself.
func (a planAnswer) MarshalJSON() ([]byte, error) { return marshalVersioned(a.V, a.Plan) }

// MarshalJSON keeps the number whatever a result does.
func (a resultAnswer) MarshalJSON() ([]byte, error) { return marshalVersioned(a.V, a.RestoreResult) }

// planAndApply makes the plan, collects consent and applies the plan.
func (j *restoreFlow) planAndApply(ctx context.Context, s retake.Service, req retake.PlanRequest) error {
	if req.Git = j.git; !j.isRemote() {
		req.Asker = os.Getpid()
	}
	for _, class := range j.accept {
		if !slices.Contains(retake.ObstacleClasses, class) {
			return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("there is no warning %s to accept", class), Hint: "there are: " + strings.Join(retake.ObstacleClasses, ", ")}
		}
	}
	plan, err := s.PlanRestore(ctx, req)
	if err != nil {
		return err
	}
	if t := plan.Target; t != nil && t.Return != nil && !j.json {
		j.titles = term.ReadTargetTitles(ctx, s, retake.Workspace{ID: req.Workspace}, []retake.Checkpoint{*t})
	}
	if err := j.nameOthers(ctx, s, &plan); err != nil {
		return err
	}
	if j.planOnly {
		return j.printPlan(&plan, true)
	}
	if view.IsIdlePlan(&plan) {
		return j.printIdlePlan(&plan)
	}
	if j.limitedToDir && !j.json {
		fmt.Fprintf(j.Err, "Only %s/, where you are. For everything: %s\n\n", termtext.Escape(plan.Paths[0]), j.typedCommand.withFlags("--all"))
	}
	accepted, err := j.collectAcceptance(ctx, s, &plan)
	if err != nil {
		return err
	}
	return j.applyPlan(ctx, s, req, &plan, accepted)
}

// printPlan prints the plan; alone means that nothing else was asked for.
func (j *restoreFlow) printPlan(p *retake.Plan, alone bool) error {
	if j.json {
		return j.writeJSON(planAnswer{1, withoutNulls(*p)})
	}
	if j.list {
		return j.writePlanLists(p)
	}
	err := j.printAnswer(nil, func(term.Style) string { return j.renderPlans(p) })
	if alone && !view.IsIdlePlan(p) {
		flags := append([]string{"--digest " + p.Short()}, acceptFlags(p, j.accept)...)
		j.printHints("apply it", j.typedCommand.withFlags(flags...), "every path", j.typedCommand.withFlags("--plan", "--list"))
	}
	return err
}

// nameOthers learns how the other workspaces of a plan are called.
func (j *restoreFlow) nameOthers(ctx context.Context, s retake.Service, p *retake.Plan) error {
	if len(p.Others) == 0 || j.json {
		return nil
	}
	all, err := s.Workspaces(ctx)
	j.otherNames = map[retake.WorkspaceID]string{}
	for _, w := range all {
		j.otherNames[w.ID] = termtext.Escape(w.Name) + ", " + j.planStyle().DisplayPath(w.Root)
	}
	return err
}

// renderPlans renders a plan, and those for other workspaces below it.
func (j *restoreFlow) renderPlans(p *retake.Plan) string {
	text := term.RenderPlan(j.planStyle(), p)
	for i := range p.Others {
		other := p.Others[i]
		other.Digest = "" // the one above covers it
		text += j.otherTitle(&other) + term.RenderPlan(j.planStyle(), &other)
	}
	return text
}

// otherTitle is the line above what is said of another workspace.
func (j *restoreFlow) otherTitle(p *retake.Plan) string {
	return "\n" + j.planStyle().Bold("The same turn in "+j.otherNames[p.Workspace]) + "\n\n"
}

func (j *restoreFlow) writePlanLists(p *retake.Plan) error {
	err := term.WritePlanList(j.Out, j.planStyle(), p)
	for i := range p.Others {
		fmt.Fprint(j.Out, j.otherTitle(&p.Others[i]))
		err = errors.Join(err, term.WritePlanList(j.Out, j.planStyle(), &p.Others[i]))
	}
	return outputError(err)
}

// printIdlePlan prints that there is nothing to do, and what is kept anyway.
func (j *restoreFlow) printIdlePlan(p *retake.Plan) error {
	return j.printAnswer(planAnswer{1, withoutNulls(*p)}, func(l term.Style) string { return term.RenderIdlePlan(l, p) })
}

// withoutNulls returns p with empty lists instead of nil ones, so that JSON has no null where
// a list is documented.
func withoutNulls(p retake.Plan) retake.Plan {
	for _, steps := range []*[]retake.Step{&p.Writes, &p.Deletes, &p.Merges, &p.Times} {
		if *steps == nil {
			*steps = []retake.Step{}
		}
	}
	if p.Keeps == nil {
		p.Keeps = []retake.Keep{}
	}
	if p.Obstacles == nil {
		p.Obstacles = []retake.Obstacle{}
	}
	if p.Effects == nil {
		p.Effects = []retake.Effect{}
	}
	return p
}

// collectAcceptance returns the classes of obstacles that the user accepts, by digest, by
// --yes or by answers. Each class must be accepted by name in all three cases.
func (j *restoreFlow) collectAcceptance(ctx context.Context, s retake.Service, p *retake.Plan) ([]string, error) {
	open := len(view.Unaccepted(p, j.accept)) > 0
	switch {
	case j.digest != "":
		if open && matchesDigest(p, j.digest) {
			return nil, yesNotEnoughError(p, j.accept, j.typedCommand, "--digest")
		}
	case j.yes:
		if open {
			return nil, yesNotEnoughError(p, j.accept, j.typedCommand, "--yes")
		}
	case !j.canAsk() || j.json: // a question without the plan above it is none
		return nil, noTerminalError(p, j.accept, j.typedCommand)
	}
	if j.digest != "" || j.yes {
		return j.accept, nil
	}
	if err := j.printPlan(p, false); err != nil {
		return nil, err
	}
	return j.askObstacles(ctx, s, p)
}

// matchesDigest reports whether a digest, as typed, is that of p.
func matchesDigest(p *retake.Plan, typed string) bool {
	typed = strings.ToLower(strings.ReplaceAll(typed, "-", ""))
	return typed != "" && strings.HasPrefix(p.Digest, typed)
}

// applyPlan applies the plan, prints the result, and how the conversation can be resumed. The
// service refuses if the plan has no longer the digest that was shown or typed.
func (j *restoreFlow) applyPlan(ctx context.Context, s retake.Service, req retake.PlanRequest, p *retake.Plan, accepted []string) error {
	word := string(p.Course)
	bar := j.newProgressLine(word)
	if bar != nil && j.digest == "" && !j.yes { // there are questions above
		fmt.Fprintln(j.Err)
	}
	if bar != nil && j.isSolo() { // the daemon goes on without us
		fmt.Fprintf(j.Err, "%s\n\n", j.stderrStyle().Dim("ctrl-c stops between two files; then finish it or undo it, nothing is lost"))
	}
	digest := p.Digest
	if j.digest != "" {
		digest = j.digest
	}
	began := j.Clock.Now()
	res, err := s.ApplyRestore(ctx, retake.ApplyRequest{PlanRequest: req, Digest: digest, Accept: slices.Clone(accepted), Progress: bar.callback()})
	took := j.Clock.Now().Sub(began)
	bar.clear()
	if err != nil {
		return j.asApplyError(err)
	}
	err = j.printRestored(p, res, took)
	if p.Course != retake.CourseAdopt && len(p.Paths) == 0 && res.Checkpoint.ID != "" {
		printResumption(ctx, j.commandLine, s, req.Workspace, "", res.Checkpoint)
	}
	return err
}

// asApplyError adds hints to an error of applying: they repeat the command that was typed,
// which only the command line knows.
func (j *restoreFlow) asApplyError(err error) error {
	e := *retake.AsError(err)
	switch e.Kind {
	case retake.Moved:
		e.Hint = "plan again: " + j.typedCommand.withFlags() + "\nsee what changed: retake diff"
	case retake.Canceled:
		e.Safe, e.Hint = "What was done until then stays; no byte is lost.", "see its state: retake status"
	default:
		return err
	}
	return &e
}

// renderResults renders a result, and those of other workspaces below it.
func (j *restoreFlow) renderResults(p *retake.Plan, res retake.RestoreResult, took time.Duration) string {
	text := term.RenderResult(j.planStyle(), p, res, took)
	for i, r := range res.Others {
		if i < len(p.Others) {
			text += j.otherTitle(&p.Others[i]) + term.RenderResult(j.planStyle(), &p.Others[i], r, took)
		}
	}
	return text
}

// printRestored prints the result of a restore and what to type next. Files that could not be
// restored are an error, which the result has reported already.
func (j *restoreFlow) printRestored(p *retake.Plan, res retake.RestoreResult, took time.Duration) error {
	if res.Failed == nil {
		res.Failed = []retake.Failure{}
	}
	if res.Warnings == nil {
		res.Warnings = []retake.Warning{}
	}
	j.printWarnings(res.Warnings)
	err := j.printAnswer(resultAnswer{1, res}, func(term.Style) string { return j.renderResults(p, res, took) })
	if err != nil {
		return err
	}
	if len(res.Failed) > 0 {
		return reportedError{term.PartlyDoneError(res)}
	}
	switch {
	case p.To != "":
	case p.Lost != nil:
		j.printHints("go there", "cd "+j.stderrStyle().ShellPath(p.Lost.Root))
	case p.Course == retake.CourseUndo:
		j.printHints("forward again", "retake redo", "one further", "retake undo")
	case p.Course == retake.CourseUnwind:
		j.printHints("the timeline", "retake log")
	default:
		j.printHints("changed your mind", "retake undo")
	}
	return nil
}
