//go:build linux

package g3

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/crashbed"
	"github.com/retake-dev/retake/test/ordeal/returnbed"
)

// cutTrial is a restore that something stopped, and what becomes of it.
type cutTrial struct {
	*returnbed.Voyage
	i      int                                        // of the trial; it decides what follows
	boot   func() string                              // of the machine, after all that happened
	crash  func(course retake.Course, at int64) error // lets a child end a restore, and stops it
	ops    int64                                      // of ending one, about
	report func(what string)                          // counts what happened
	work   map[string]string                          // what somebody wrote after the crash, by path
	stirs  map[string]bool                            // directories in which somebody worked
}

func (t *cutTrial) open(ctx context.Context) (retake.Service, error) {
	return crashbed.SoloAt(ctx, t.Data, t.boot(), nil)
}

// judge holds what is left against the promise: told, or whole, or untouched. What is
// told is finished or unwound, in some trials after somebody worked, or with a second crash.
func (t *cutTrial) judge(ctx context.Context, acknowledged bool) error {
	in, err := t.told(ctx)
	if err != nil {
		return err
	}
	if in == nil {
		return t.untold(acknowledged)
	}
	if acknowledged {
		return fmt.Errorf("acknowledged, and told as cut off at %d of %d", in.Done, in.Total)
	}
	if wrongly := in.Target != 1 || in.Safety < 2 || in.Done < 0 || in.Done > in.Total || in.Total < 40; wrongly || in.Course != retake.CourseRestore {
		return fmt.Errorf("it is told wrongly: %+v", *in)
	}
	t.report("told")
	return t.goOn(ctx, in)
}

// goOn ends what was cut off.
func (t *cutTrial) goOn(ctx context.Context, in *retake.Interruption) (err error) {
	if t.i%3 == 2 {
		if err := t.toil(); err != nil {
			return err
		}
		t.report("worked")
	}
	course, goal := retake.CourseFinish, t.Target
	if t.i%2 == 1 {
		course, goal = retake.CourseUnwind, t.Before
	}
	if t.i%4 >= 2 {
		if course, goal, err = t.stumble(ctx, course, goal); err != nil || course == "" {
			return err
		}
	}
	t.report(string(course))
	if err := t.mend(ctx, course, goal); err != nil {
		return fmt.Errorf("%s, cut at %d of %d: %w", course, in.Done, in.Total, err)
	}
	return nil
}

// told answers the restore that was cut off, as the service tells it.
func (t *cutTrial) told(ctx context.Context) (in *retake.Interruption, err error) {
	svc, err := t.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	defer func() { err = errors.Join(err, svc.Close()) }()
	ws, err := svc.Locate(ctx, t.Ws)
	return ws.Interrupted, err
}

// untold: nothing was changed, or everything is done.
func (t *cutTrial) untold(acknowledged bool) error {
	got, err := returnbed.ShapeOf(t.Ws)
	if err != nil {
		return err
	}
	switch {
	case t.Target.Is(got):
		t.report("whole")
		return nil
	case acknowledged:
		return fmt.Errorf("acknowledged, and not so: %s", some(t.Target.Unlike(got, returnbed.Nobody, returnbed.Nobody)))
	case t.Before.Is(got):
		t.report("untouched")
		return nil
	}
	return fmt.Errorf("not told, and neither here nor there: %s; %s",
		some(t.Before.Unlike(got, returnbed.Nobody, returnbed.Nobody)), some(t.Target.Unlike(got, returnbed.Nobody, returnbed.Nobody)))
}

func some(all []string) string { return strings.Join(all[:min(3, len(all))], ", ") }

// toil is somebody who works after the crash: on a path of the plan, in a directory
// of the plan, and beside all of it.
func (t *cutTrial) toil() error {
	planned := []string{"src/e03", "src/gone2", "src/new1", "new/sub/f1", "old/deep/f1", "mode/f0", "odd/bad\xff\xfename", "link/mine", "src/e11"}
	dirs := []string{"new/sub", "old/deep", "src", "new", "old", "mode", "tight", "new/empty", "kind"}
	t.work, t.stirs = map[string]string{}, map[string]bool{}
	for _, p := range []string{planned[t.i/3%len(planned)], there(t.Ws, dirs[t.i/7%len(dirs)]) + "/mine", "still/f1"} {
		dir := filepath.Dir(p)
		if there(t.Ws, dir) != dir {
			p = "src/" + filepath.Base(p)
		}
		f, err := os.OpenFile(filepath.Join(t.Ws, p), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
		if err != nil {
			return err
		}
		_, err = f.WriteString("my work\n")
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		b, err := os.ReadFile(filepath.Join(t.Ws, p))
		if err != nil {
			return err
		}
		t.work[p] = string(b)
		for d := filepath.Dir(p); ; d = filepath.Dir(d) {
			if t.stirs[strings.TrimPrefix(d, ".")] = true; d == "." {
				break
			}
		}
	}
	return nil
}

// fields are the kind, the mode and the owner of a look.
func fields(text string) string { return strings.Join(strings.Fields(text)[:3], " ") }

// there answers the directory, or another one that is there.
func there(root, dir string) string {
	if i, err := os.Lstat(filepath.Join(root, dir)); err == nil && i.IsDir() {
		return dir
	}
	return "src"
}

// stumble ends a restore by a child that is stopped as well. After that it may be
// done, and else the course may be another one.
func (t *cutTrial) stumble(ctx context.Context, course retake.Course, goal returnbed.Shape) (retake.Course, returnbed.Shape, error) {
	at := int64(uint64(t.i+1)*2654435761%uint64(t.ops)) + 1
	if err := t.crash(course, at); err != nil {
		return "", nil, fmt.Errorf("%s that is cut off: %w", course, err)
	}
	in, err := t.told(ctx)
	if err != nil {
		return "", nil, err
	}
	t.report("cut again")
	switch {
	case in == nil:
		return "", nil, t.reached(goal, nil)
	case t.i%8 >= 6 && course == retake.CourseFinish:
		return retake.CourseUnwind, t.Before, nil
	case t.i%8 >= 6:
		return retake.CourseFinish, t.Target, nil
	}
	return course, goal, nil
}

// mend ends it, and looks whether it is where it should be.
func (t *cutTrial) mend(ctx context.Context, course retake.Course, goal returnbed.Shape) error {
	svc, err := t.open(ctx)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	p, res, err := returnbed.PlanAndApply(ctx, svc, retake.PlanRequest{Workspace: t.ID, Course: course})
	if err = errors.Join(err, svc.Close()); err != nil {
		return err
	}
	if len(res.Failed) > 0 {
		return fmt.Errorf("%d paths were left, first %q: %s", len(res.Failed), res.Failed[0].Path, res.Failed[0].Why)
	}
	in, err := t.told(ctx)
	if err == nil && in != nil {
		err = fmt.Errorf("it is told as cut off still, at %d of %d", in.Done, in.Total)
	}
	if err != nil {
		return err
	}
	return t.reached(goal, p.Keeps)
}

// reached: all is as in the goal, but for somebody's work, which is as they left it
// and is named where the plan met it.
func (t *cutTrial) reached(goal returnbed.Shape, keeps []retake.Keep) error {
	got, err := returnbed.ShapeOf(t.Ws)
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	for _, k := range keeps {
		p := strings.TrimSuffix(k.Path, "/")
		if kept[p] = true; t.work[p] == "" && !t.stirs[p] {
			return fmt.Errorf("%q is kept as %s, and nobody touched it: before %+v, wanted %+v, now %+v", k.Path, k.Why, t.Before[p], t.Target[p], got[p])
		}
	}
	if err := t.allWorked(goal, got, keeps, kept); err != nil {
		return err
	}
	free := func(p string) bool { return t.work[p] != "" || kept[p] || keeps == nil && t.stirs[p] }
	if bad := goal.Unlike(got, free, func(p string) bool { return t.stirs[p] }); len(bad) > 0 {
		return fmt.Errorf("%d paths are not as they should be: %s", len(bad), some(bad))
	}
	return nil
}

// allWorked: what somebody wrote is there, and named where the plan met it.
func (t *cutTrial) allWorked(goal, got returnbed.Shape, keeps []retake.Keep, kept map[string]bool) error {
	for p, text := range t.work {
		if err := t.worked(p, text); err != nil {
			return err
		}
		// Attributes may come to the goal under somebody's bytes; then nothing is left to name.
		came := strings.HasPrefix(p, "mode/f") && fields(goal[p].Text) == fields(got[p].Text)
		if met := t.Target[p] != t.Before[p]; keeps != nil && met && !kept[p] && !came {
			return fmt.Errorf("work on %q is not named: %v", p, keeps)
		}
	}
	return nil
}

// worked: the bytes are somebody's.
func (t *cutTrial) worked(p, text string) error {
	b, err := os.ReadFile(filepath.Join(t.Ws, p))
	if err != nil {
		return fmt.Errorf("work on %q is gone: %w", p, err)
	}
	if string(b) != text {
		return fmt.Errorf("work on %q is gone: it holds %.60q", p, b)
	}
	return nil
}
