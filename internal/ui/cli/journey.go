package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// journey is what restore, undo, redo and adopt have in common: a plan, consent,
// and the same plan applied.
type journey struct {
	*face
	planOnly bool
	list     bool
	git      bool
	session  string
	edits    bool // undo discards unsaved edits
	all      bool // undo is not limited to the sub-directory that we are in
	scoped   bool // it is limited to it
	digest   string
	accept   []string
	typed    spoken
	goals    term.Goals // of the checkpoint gone to
}

// out is where plans and results are drawn.
func (j *journey) out() term.Look {
	l := j.face.out()
	l.Goals = j.goals
	return l
}

func (j *journey) flags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.BoolVar(&j.planOnly, "plan", false, "show the plan and exit")
	fs.BoolVar(&j.planOnly, "dry-run", false, "the same as --plan")
	fs.BoolVar(&j.list, "list", false, "list every path of the plan")
	fs.StringVar(&j.digest, "digest", "", "apply exactly the plan with this `DIGEST`, without questions")
	fs.StringSliceVar(&j.accept, "accept", nil, "confirm a `WARNING`: uncaptured, changed, partial, held, mass-delete, space, names, setuid, database, git, overlap, agent-working")
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
func (a planAnswer) MarshalJSON() ([]byte, error) { return versioned(a.V, a.Plan) }

// MarshalJSON keeps the number whatever a result does.
func (a resultAnswer) MarshalJSON() ([]byte, error) { return versioned(a.V, a.RestoreResult) }

// travel plans, asks and applies.
func (j *journey) travel(ctx context.Context, s retake.Service, req retake.PlanRequest) error {
	if req.Git = j.git; !j.far() {
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
		j.goals = term.GoalsOf(ctx, s, retake.Workspace{ID: req.Workspace}, []retake.Checkpoint{*t})
	}
	if j.planOnly {
		return j.showPlan(&plan, true)
	}
	if term.Idle(&plan) {
		return j.showIdle(&plan)
	}
	if j.scoped && !j.json {
		fmt.Fprintf(j.Err, "Only %s/, where you are. For everything: %s\n\n", termtext.Escape(plan.Paths[0]), j.typed.with("--all"))
	}
	accepted, err := j.consent(ctx, s, &plan)
	if err != nil {
		return err
	}
	return j.apply(ctx, s, req, &plan, accepted)
}

// showPlan prints the plan; alone says that it is all that is asked for.
func (j *journey) showPlan(p *retake.Plan, alone bool) error {
	if j.json {
		return j.writeJSON(planAnswer{1, whole(*p)})
	}
	if j.list {
		return answered(term.WritePlanList(j.Out, j.out(), p))
	}
	err := j.emit(nil, func(term.Look) string { return term.RenderPlan(j.out(), p) })
	if alone && !term.Idle(p) {
		flags := append([]string{"--digest " + p.Short()}, accepting(p, j.accept)...)
		j.hint("apply it", j.typed.with(flags...), "every path", j.typed.with("--plan", "--list"))
	}
	return err
}

// showIdle says that there is nothing to do, and what is kept all the same.
func (j *journey) showIdle(p *retake.Plan) error {
	return j.emit(planAnswer{1, whole(*p)}, func(l term.Look) string { return term.RenderIdle(l, p) })
}

// whole has no null where a list is promised.
func whole(p retake.Plan) retake.Plan {
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

// consent is by digest, by --yes or by answers. An obstacle needs a word of its
// own in each case.
func (j *journey) consent(ctx context.Context, s retake.Service, p *retake.Plan) ([]string, error) {
	open := len(term.Unaccepted(p, j.accept)) > 0
	switch {
	case j.digest != "":
		if open && meant(p, j.digest) {
			return nil, refuseYes(p, j.accept, j.typed, "--digest")
		}
	case j.yes:
		if open {
			return nil, refuseYes(p, j.accept, j.typed, "--yes")
		}
	case !j.canAsk() || j.json: // a question without the plan above it is none
		return nil, refuseSilence(p, j.accept, j.typed)
	}
	if j.digest != "" || j.yes {
		return j.accept, nil
	}
	if err := j.showPlan(p, false); err != nil {
		return nil, err
	}
	return j.agree(ctx, s, p)
}

// meant reports whether a digest as typed is that of p.
func meant(p *retake.Plan, typed string) bool {
	typed = strings.ToLower(strings.ReplaceAll(typed, "-", ""))
	return typed != "" && strings.HasPrefix(p.Digest, typed)
}

func (j *journey) apply(ctx context.Context, s retake.Service, req retake.PlanRequest, p *retake.Plan, accepted []string) error {
	word := string(p.Course)
	bar := j.progress(word)
	if bar != nil && j.digest == "" && !j.yes { // there are questions above
		fmt.Fprintln(j.Err)
	}
	if bar != nil && j.alone() { // the daemon goes on without us
		fmt.Fprintf(j.Err, "%s\n\n", j.talk().Dim("ctrl-c stops between two files; then finish it or undo it, nothing is lost"))
	}
	digest := p.Digest
	if j.digest != "" {
		digest = j.digest
	}
	began := j.Clock.Now()
	res, err := s.ApplyRestore(ctx, retake.ApplyRequest{PlanRequest: req, Digest: digest, Accept: slices.Clone(accepted), Progress: bar.tell()})
	took := j.Clock.Now().Sub(began)
	bar.done()
	if err != nil {
		return j.notApplied(err)
	}
	err = j.arrived(p, res, took)
	if p.Course != retake.CourseAdopt && len(p.Paths) == 0 && res.Checkpoint.ID != "" {
		j.afterwards(ctx, s, req.Workspace, "", res.Checkpoint)
	}
	return err
}

// notApplied adds the commands that help, which only we know: they repeat what was
// typed.
func (j *journey) notApplied(err error) error {
	e := *retake.AsError(err)
	switch e.Kind {
	case retake.Moved:
		e.Hint = "plan again: " + j.typed.with() + "\nsee what changed: retake diff"
	case retake.Canceled:
		e.Safe, e.Hint = "What was done until then stays; no byte is lost.", "see its state: retake status"
	default:
		return err
	}
	return &e
}

func (j *journey) arrived(p *retake.Plan, res retake.RestoreResult, took time.Duration) error {
	if res.Failed == nil {
		res.Failed = []retake.Failure{}
	}
	if res.Warnings == nil {
		res.Warnings = []retake.Warning{}
	}
	j.warn(res.Warnings)
	err := j.emit(resultAnswer{1, res}, func(term.Look) string { return term.RenderResult(j.out(), p, res, took) })
	if err != nil {
		return err
	}
	if len(res.Failed) > 0 {
		return told{term.PartlyDone(res)}
	}
	switch {
	case p.Lost != nil:
		j.hint("go there", "cd "+j.talk().Word(p.Lost.Root))
	case p.Course == retake.CourseUndo:
		j.hint("forward again", "retake redo", "one further", "retake undo")
	case p.Course == retake.CourseUnwind:
		j.hint("the timeline", "retake log")
	default:
		j.hint("changed your mind", "retake undo")
	}
	return nil
}
