//go:build linux

package g25

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/test/ordeal/playbed"
)

// tale is one history: a workspace beside its oracle.
type tale struct {
	*stage
	oracle
	root  string
	ws    retake.WorkspaceID
	now   playbed.World
	fork  retake.WorkspaceID
	began playbed.World // what the fork grew from
	grown playbed.World
}

// tell plays the deeds. The error names the one that went wrong.
func (t *tale) tell(ctx context.Context, deeds []string) error {
	defer t.stage.forget(t.root)
	for i, d := range deeds {
		if err := t.deed(ctx, strings.Fields(d)); err != nil {
			return fmt.Errorf("deed %d, %s: %w (%s)", i, d, err, t.line(ctx))
		}
	}
	return nil
}

// line is the timeline in short, for a failure that does not come again.
func (t *tale) line(ctx context.Context) string {
	tl, err := t.svc.Log(ctx, retake.LogQuery{Workspace: t.ws})
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, c := range tl.Checkpoints {
		out = append(out, fmt.Sprintf("%d %s %.8s %.8s", c.Number, c.Trigger, c.Content, c.Tree))
	}
	return strings.Join(out, ", ")
}

// forget leaves nothing of a history that failed to those after it.
func (s *stage) forget(root string) { _ = os.Remove(root) }

func (t *tale) deed(ctx context.Context, words []string) error {
	do, words := words[0], words[1:]
	if t.ws == "" {
		return t.start(ctx, words)
	}
	t.clock.Advance(time.Second)
	who, number, paths, edits := sorted(words)
	switch do {
	case "save", "edit", "quiet":
		return t.byHand(ctx, do, edits)
	case "begin", "risk", "call", "end", "turn":
		return t.byAgent(ctx, do, who, edits)
	case "undo":
		switch {
		case number >= 0:
			return t.undoNumber(ctx, 1+number%t.latest())
		case len(paths) > 0:
			return t.undo(ctx, paths)
		}
		return t.undo(ctx, nil)
	case "discard":
		return t.discard(ctx)
	case "redo":
		return t.redoLast(ctx)
	case "restore":
		return t.restore(ctx, 1+number%t.latest(), paths)
	case "fork", "adopt":
		return t.adopt(ctx, number, edits)
	}
	return fmt.Errorf("what is %q", do)
}

// sorted tells the words of a deed apart.
func sorted(words []string) (who string, number int64, paths, edits []string) {
	number = -1
	for _, w := range words {
		switch {
		case strings.Contains(w, ":"):
			edits = append(edits, w)
		case w[0] == '@':
			paths = append(paths, w[1:])
		case w[0] == '#':
			number, _ = strconv.ParseInt(w[1:], 10, 64)
		default:
			who = w
		}
	}
	return who, number, paths, edits
}

func (t *tale) start(ctx context.Context, words []string) error {
	t.now, t.auto, t.ways, t.owner = playbed.World{}, map[int64]bool{}, map[int64]bool{}, map[int64]*item{}
	if err := errors.Join(os.Mkdir(t.root, 0o755), t.files.MkdirAll(t.root, 0o755)); err != nil {
		return err
	}
	for _, w := range append([]string{"w:.git/HEAD:0", "t:a:0:0"}, words...) {
		if err := t.edit(t.root, t.now, w); err != nil {
			return err
		}
	}
	res, err := t.svc.Init(ctx, retake.InitRequest{Dir: t.root})
	if err != nil {
		return err
	}
	t.ws = res.Workspace.ID
	t.mark(t.now)
	return nil
}

func (t *tale) edits(words []string) error {
	for _, w := range words {
		if err := t.edit(t.root, t.now, w); err != nil {
			return err
		}
	}
	return nil
}

// unsaved are edits that no checkpoint holds.
func (t *tale) unsaved() []string { return t.tip().Differs(t.now) }

// byHand is what a person does, and what is done without being asked.
func (t *tale) byHand(ctx context.Context, do string, edits []string) error {
	if err := t.edits(edits); err != nil || do == "edit" || do == "quiet" && len(t.turns) > 0 {
		return err
	}
	req := retake.SaveRequest{Workspace: t.ws}
	if do == "quiet" {
		if len(t.unsaved()) == 0 {
			return nil
		}
		req.Trigger, req.IfChanged = retake.TriggerQuiet, true
	}
	res, err := t.svc.Save(ctx, req)
	if err != nil {
		return err
	}
	switch who := t.worker(); {
	case do == "quiet":
		t.automatic(t.now)
	case who != "":
		t.inTurn(who, t.now)
	default:
		t.recorded(t.tip(), t.now)
	}
	return t.numbered(res.Checkpoint)
}

func (t *tale) numbered(cp retake.Checkpoint) error {
	if cp.Number != t.latest() {
		return fmt.Errorf("checkpoint %d, want %d", cp.Number, t.latest())
	}
	return nil
}

// byAgent is what a session tells.
func (t *tale) byAgent(ctx context.Context, do, who string, edits []string) error {
	if do == "turn" || t.turns[who] == nil && do != "begin" {
		if err := t.byAgent(ctx, "begin", who, nil); err != nil {
			return err
		}
	}
	if err := t.edits(edits); err != nil {
		return err
	}
	sig := retake.Signal{ID: queue.NewID(), Time: t.clock.Now(), Agent: "agent-" + strings.ToLower(who), Session: fmt.Sprintf("%s-%d", who, t.count), Dir: t.root}
	changed := len(t.unsaved()) > 0
	switch do {
	case "call":
		if !changed { // no checkpoint, so nothing to wait for
			return nil
		}
		sig.Kind, sig.Call = retake.SignalCalled, &retake.Call{ID: string(sig.ID), Tool: "Bash", Kind: retake.CallShell, Command: "make"}
	case "begin":
		sig.Kind, sig.Prompt = retake.SignalPrompt, "do it"
	case "risk":
		sig.Kind, sig.Call = retake.SignalCall, &retake.Call{ID: string(sig.ID), Tool: "Bash", Kind: retake.CallShell, Command: "rm -rf src"}
	default:
		sig.Kind = retake.SignalTurnEnd
	}
	if _, err := t.svc.Observe(ctx, sig); err != nil {
		return err
	}
	t.heardOf(do, who, changed)
	return t.settled(ctx)
}

// heardOf does in the oracle what a signal of an agent does.
func (t *tale) heardOf(do, who string, changed bool) {
	t.hears(who)
	switch {
	case do == "begin":
		if t.turns[who] != nil { // its end was not told
			t.inTurn(who, t.now)
			delete(t.turns, who)
		} else if changed {
			t.automatic(t.now)
		}
		t.begins(who)
	default:
		t.inTurn(who, t.now)
	}
	if do == "end" || do == "turn" {
		delete(t.turns, who)
	}
}

const slowest = 5 * time.Minute

// settled waits for the checkpoint that was asked for: some are taken after the answer. It asks
// the catalog: a question to the service reads the clock, which moves on, and enough of them end
// the time that a capture has.
func (t *tale) settled(ctx context.Context) error {
	for patience := time.Now().Add(slowest); ; <-time.After(100 * time.Microsecond) {
		cp, err := t.rows.Latest(ctx, t.ws, 0)
		if err != nil || cp.Number >= t.latest() || time.Now().After(patience) {
			return errors.Join(err, t.numbered(cp))
		}
	}
}

// restore goes to a checkpoint.
func (t *tale) restore(ctx context.Context, to int64, paths []string) error {
	then := t.marks[to-1]
	req := retake.PlanRequest{Course: retake.CourseRestore, Ref: fmt.Sprint(to), Paths: paths}
	for _, p := range paths {
		if !then.Has(p) && !t.now.Has(p) {
			return t.refused(ctx, req, retake.NotFound, "")
		}
	}
	return t.travel(ctx, req, aim{target: to, after: restoring(t.now, then, paths)})
}

// adopt grows a fork the first time, works in it, and adopts it.
func (t *tale) adopt(ctx context.Context, number int64, edits []string) error {
	dir := t.root + "-fork"
	if t.fork == "" {
		from := t.latest()
		if number >= 0 {
			from = 1 + number%t.latest()
		}
		res, err := t.svc.Fork(ctx, retake.ForkRequest{Workspace: t.ws, Ref: fmt.Sprint(from), Dir: dir})
		if err != nil {
			return err
		}
		t.fork, t.began, t.grown = res.Workspace.ID, t.marks[from-1], maps.Clone(t.marks[from-1])
	}
	for _, w := range edits {
		if err := t.edit(dir, t.grown, w); err != nil {
			return err
		}
	}
	b := t.bringing(t.began, t.grown, ".from-fork", nil)
	return t.travel(ctx, retake.PlanRequest{Course: retake.CourseAdopt, Fork: t.fork}, aim{after: b.bring(), left: b.left})
}

// bringing is a change of what is there now.
func (t *tale) bringing(base, want playbed.World, side string, named []string) *bringing {
	return &bringing{now: t.now, base: base, want: want, side: side, named: named, edits: t.lie == editsGiveIn}
}

// undo takes back what a person points at, or a part of it.
func (t *tale) undo(ctx context.Context, paths []string) error {
	req := retake.PlanRequest{Course: retake.CourseUndo, Paths: paths}
	if t.lie == ruleBefore {
		if err := t.heldToTheRuleBefore(ctx, req); err != nil {
			return err
		}
	}
	i := t.pointed(0, paths)
	switch {
	case t.apart(i):
		return t.travel(ctx, req, aim{among: true})
	case i == nil && len(t.unsaved()) > 0:
		return t.refused(ctx, req, retake.NotFound, "retake undo --edits")
	case i == nil:
		return t.refused(ctx, req, retake.NotFound, "")
	}
	return t.takeBack(ctx, req, i)
}

// undoNumber takes back what somebody names.
func (t *tale) undoNumber(ctx context.Context, n int64) error {
	req := retake.PlanRequest{Course: retake.CourseUndo, Ref: fmt.Sprint(n)}
	i := t.owner[n]
	switch {
	case n == 1:
		return t.refused(ctx, req, retake.Invalid, "")
	case i == nil: // a way
		return nil
	case i.undone(nil):
		return t.refused(ctx, req, retake.Exists, "")
	case i.contested:
		return t.travel(ctx, req, aim{target: i.number, item: i})
	}
	return t.takeBack(ctx, req, i)
}

func (t *tale) takeBack(ctx context.Context, req retake.PlanRequest, i *item) error {
	b := t.bringing(i.to, i.from, fmt.Sprintf(".before-%d", i.number), req.Paths)
	if b.bring(); b.idle() { // git is all there is to take back: then exactly that
		b.git = true
		b.bring()
	}
	to := aim{target: i.number, item: i, after: b.after, left: b.left, unsaved: len(t.unsaved()) > 0, idle: b.idle()}
	if req.Ref == "" {
		to.kept = t.kept(i.number, req.Paths)
	}
	switch next := t.pointed(i.number, req.Paths); {
	case slices.ContainsFunc(t.items, func(c *item) bool { return c.contested && c.number < i.number && !c.undone(req.Paths) }):
		to.next = anyNext
	case to.idle && next != nil && req.Ref == "":
		to.next = next.number
	}
	return t.travel(ctx, req, to)
}

// redoLast brings again what was taken back last. With nothing between, all is as it was.
func (t *tale) redoLast(ctx context.Context) error {
	req := retake.PlanRequest{Course: retake.CourseRedo}
	last, unsure := t.redoable()
	if unsure {
		return nil
	}
	if last == nil {
		t.redo = nil
		return t.refused(ctx, req, retake.NotFound, "")
	}
	b := t.bringing(last.after, last.before, fmt.Sprintf(".as-%d", last.item.number), last.paths)
	b.git = true // it differs only if the undo moved it
	b.bring()
	if still := len(t.now.Differs(last.after)) == 0; still && len(last.paths) == 0 { // a part leaves directories that it needed
		if err := firstDifferences(last.before, b.after); err != nil {
			return fmt.Errorf("the oracle itself does not get back: %w", err)
		}
	}
	return t.travel(ctx, req, aim{target: last.item.number, item: last.item, after: b.after, left: b.left, idle: b.idle()})
}

// discard takes back what nobody saved.
func (t *tale) discard(ctx context.Context) error {
	req := retake.PlanRequest{Course: retake.CourseUndo, Edits: true}
	if len(t.unsaved()) == 0 {
		return t.refused(ctx, req, retake.NotFound, "")
	}
	b := t.bringing(maps.Clone(t.now), t.tip(), "", nil)
	b.steady = true
	if b.bring(); b.idle() { // logs and git are all there is
		b.steady, b.git = false, true
		b.bring()
	}
	return t.travel(ctx, req, aim{after: b.after, left: b.left})
}

// heldToTheRuleBefore is the control: the service must not do what the rule before says.
func (t *tale) heldToTheRuleBefore(ctx context.Context, req retake.PlanRequest) error {
	req.Workspace = t.ws
	plan, err := t.svc.PlanRestore(ctx, req)
	target, loose := t.before(t.now)
	var got int64
	if plan.Target != nil {
		got = plan.Target.Number
	}
	if none := target == 0 && !loose; none == (err == nil) || err == nil && got != target {
		return fmt.Errorf("the rule before says %d (loose edits: %v), undo says %d: %w", target, loose, got, err)
	}
	return nil
}

// refused: there is no such plan, and nothing changes.
func (t *tale) refused(ctx context.Context, req retake.PlanRequest, kind retake.ErrorKind, hint string) error {
	req.Workspace = t.ws
	p, err := t.svc.PlanRestore(ctx, req)
	if !retake.IsKind(err, kind) {
		return fmt.Errorf("got a plan of %+v, %w; want an error of kind %s", p.Target, err, kind)
	}
	if e := retake.AsError(err); hint != "" && !strings.Contains(e.Hint, hint) {
		return fmt.Errorf("the hint %q does not name %q", e.Hint, hint)
	}
	got, err := t.look(t.root)
	return errors.Join(err, firstDifferences(t.now, got))
}

// countable are the items that are not taken back, of some paths. Whether a turn that others
// worked beside changed anything is a matter of attribution.
func (t *tale) countable(paths []string) []int64 {
	var out []int64
	for _, i := range t.items {
		if i.counts && !i.undone(paths) && (i.contested || i.changed(paths)) {
			out = append(out, i.number)
		}
	}
	slices.Sort(out)
	return out
}
