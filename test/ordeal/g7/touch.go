//go:build linux

// Package g7 watches what a restore touches: it must be its plan and nothing else.
package g7

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/crashbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/treebed"
)

func init() { harness.Register("G7-touch", touchesOnlyThePlan) }

// touchesOnlyThePlan goes back on trees that are full of things no restore may touch,
// and looks at every path before and after.
func touchesOnlyThePlan(r *harness.Run) []harness.Verdict {
	start := time.Now()
	v := harness.Verdict{Guarantee: "G7", What: "a restore touches its plan and nothing else", Control: "a restorer that cleans and writes by path"}
	kinds := []string{"ext4", "xfs", "btrfs", "tmpfs", "overlay"}
	n := r.Figure(40, 400) / len(kinds)
	sum := map[string]int{}
	for k, kind := range kinds {
		f := &field{r: r, v: &v, kind: kind, sum: sum}
		if err := f.run(k*1000, n); err != nil {
			v.Fail("%s: %v", kind, err)
		}
	}
	v.Detail = map[string]any{"counts": sum}
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

// field is a file system with traps on it.
type field struct {
	r    *harness.Run
	v    *harness.Verdict
	kind string
	sum  map[string]int
	dir  string
}

func (f *field) run(from, n int) error {
	base := f.kind
	if base == "overlay" {
		base = "disk"
	}
	place, err := treebed.NewPlace(f.r, base)
	if err != nil {
		return err
	}
	defer place.End()
	f.dir = place.Dir
	if f.kind == "overlay" {
		if f.dir, err = place.Overlaid(f.r.Scratch("lower"), "traps", false); err != nil {
			return err
		}
	}
	for d := f.dir; strings.HasPrefix(d, f.r.Dir); d = filepath.Dir(d) { // another user goes there
		if err := os.Chmod(d, 0o755); err != nil {
			return err
		}
	}
	for i := range n {
		s := &snare{field: f, i: i, seed: f.r.Seed*100_000 + int64(from+i)}
		f.v.Tried++
		if err := s.spring(false); err != nil {
			f.v.Fail("%s, tree %d: %v", f.kind, i, err)
		}
	}
	c := &snare{field: f, i: 0, seed: f.r.Seed + int64(from) + 500}
	if err := c.spring(true); err != nil {
		f.v.Fail("%s, control: %v", f.kind, err)
	}
	return nil
}

// snare is one tree, and one restore of it.
type snare struct {
	*field
	i          int
	seed       int64
	trap       *trap
	base, data string
	mounted    string
	before     map[string]tracked
}

// user is who restores: in every second tree somebody who may not read everything.
func (s *snare) user() int { return s.i % 2 * 1234 }

func (s *snare) spring(naive bool) error {
	s.base = filepath.Join(s.dir, fmt.Sprintf("t%d", s.seed))
	root, outside := s.base+"/root", s.base+"/outside"
	s.data = s.base + "/home/data"
	if s.i%4 >= 2 {
		s.data = root + "/our store/data" // our store lies in the workspace
	}
	s.trap = newTrap(rand.New(rand.NewSource(s.seed)), root, outside, s.user())
	defer s.clear()
	if err := s.lay(); err != nil {
		return fmt.Errorf("lay: %w", err)
	}
	var err error
	if s.before, err = s.look(); err != nil {
		return err
	}
	if naive {
		return s.naive()
	}
	out, err := s.child("go", s.i%8 == 4)
	if err != nil {
		return err
	}
	return s.judge(out)
}

// lay makes the tree, its first checkpoint, and what is there now.
func (s *snare) lay() error {
	t := s.trap
	if err := t.Sow(30); err != nil {
		return err
	}
	t.first()
	t.Note(os.MkdirAll(s.data, 0o700))
	settings := `{"exclude":"*.skip,skipped/","gitignore":"true","max-new-file":"64KB","floor":"1KB"}`
	t.Note(os.WriteFile(filepath.Join(filepath.Dir(s.data), "settings.json"), []byte(settings), 0o644))
	for _, d := range []string{filepath.Dir(s.data), s.data} {
		t.Note(os.Chown(d, s.user(), s.user()))
	}
	if t.give(); t.Err != nil {
		return t.Err
	}
	if _, err := s.child("save", false); err != nil {
		return err
	}
	if err := treebed.Churn(t.Rnd, t.Sower.Root, 12); err != nil {
		return err
	}
	t.second()
	s.mounted = t.root + "/new/mounted"
	t.Note(os.Mkdir(s.mounted, 0o755))
	t.Note(syscall.Mount("tmpfs", s.mounted, "tmpfs", 0, "size=1m"))
	t.canary("mount", s.mounted+"/f")
	if t.give(); t.Err != nil {
		return t.Err
	}
	if s.i%3 == 1 {
		_, err := s.child("save", false)
		return err
	}
	return nil
}

func (s *snare) clear() {
	if s.mounted != "" {
		_ = syscall.Unmount(s.mounted, syscall.MNT_DETACH) // scratch
	}
	_ = os.RemoveAll(s.base) // scratch
}

func (s *snare) look() (map[string]tracked, error) {
	return survey([]string{s.trap.root, s.trap.outside}, s.data)
}

// child does something as the user. Traced, every call that names a path is judged.
func (s *snare) child(what string, traced bool) (out did, err error) {
	self, err := os.Executable()
	if err != nil {
		return out, err
	}
	if s.user() != 0 {
		self = "/proc/self/exe" // the way to it may be closed to others
	}
	args := []string{self, "child", "g7-does", what, s.data, s.trap.root}
	log := s.base + "/trace"
	if traced {
		args = append([]string{"strace", "-f", "-y", "-qq", "-xx", "-s", "5000", "-e", "trace=%file,fchmod,fchown,ftruncate,fsetxattr,fremovexattr", "-o", log}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	if s.user() != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(s.user()), Gid: uint32(s.user())}}
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return out, fmt.Errorf("%s: %w: %s", what, err, crashbed.LastBytes(stderr.String(), 500))
	}
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		return out, err
	}
	if traced {
		s.sum["traced"]++
		err = s.trace(log)
	}
	return out, err
}

// judge compares what changed with the plan.
func (s *snare) judge(out did) error {
	after, err := s.look()
	if err != nil {
		return err
	}
	if err := s.sing(after); err != nil {
		return err
	}
	planned, parents := s.planned(&out.Plan)
	kin := map[[2]uint64]bool{} // files of which a name is in the plan
	for p := range planned {
		kin[s.before[p].inode()], kin[after[p].inode()] = true, true
	}
	for _, p := range slices.Sorted(maps.Keys(union(s.before, after))) {
		was, is := s.before[p], after[p]
		if planned[p] || was.same(is) || parents[p] && was.inode() == is.inode() {
			continue
		}
		if kin[was.inode()] && was.linked(is) {
			continue
		}
		return fmt.Errorf("%q is not in the plan, and was touched: %+v, %+v", p, was.stat, is.stat)
	}
	s.sum["planned"] += out.Plan.Total()
	s.sum["kept"] += len(out.Plan.Keeps)
	s.sum["left"] += len(out.Result.Failed)
	return s.recoverable(out, after)
}

// sing: every canary is as it was. One outside has a name in the plan, whose coming
// and going the inode shows.
func (s *snare) sing(after map[string]tracked) error {
	for p, class := range s.trap.canaries {
		s.sum["canary "+class]++
		was, is := s.before[p], after[p]
		if _, there := s.before[p]; !there || was.same(is) || class == "outside" && was.linked(is) {
			continue
		}
		return fmt.Errorf("canary %q (%s) was touched", p, class)
	}
	return nil
}

// planned are the absolute paths of a plan, and the directories that they lie in.
func (s *snare) planned(p *retake.Plan) (planned, parents map[string]bool) {
	planned, parents = map[string]bool{}, map[string]bool{}
	add := func(path string) {
		at := filepath.Join(s.trap.root, path)
		planned[at] = true
		parents[filepath.Dir(at)] = true
	}
	for _, st := range slices.Concat(p.Writes, p.Deletes, p.Merges, p.Times) {
		add(st.Path)
	}
	for _, k := range p.Keeps {
		if k.Side != "" {
			add(k.Side)
		}
	}
	return planned, parents
}

func union(a, b map[string]tracked) map[string]tracked {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// recoverable reads every deleted and replaced file back from the safety checkpoint.
func (s *snare) recoverable(out did, after map[string]tracked) (err error) {
	ctx := context.Background()
	svc, err := shopAt(ctx, s.data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, svc.Close()) }()
	for _, st := range slices.Concat(out.Plan.Deletes, out.Plan.Writes) {
		at := filepath.Join(s.trap.root, st.Path)
		was, ok := s.before[at]
		if is, stays := after[at]; !ok || stays && is.inode() == was.inode() {
			continue
		}
		s.sum["read back"]++
		if st.Now.Kind != retake.KindFile && st.Now.Kind != retake.KindSymlink {
			if _, err := svc.List(ctx, out.Workspace, string(out.Result.Safety.ID), st.Path); err != nil {
				return fmt.Errorf("deleted, and in no checkpoint: %w", err)
			}
			continue
		}
		f, _, err := svc.Open(ctx, out.Workspace, string(out.Result.Safety.ID), st.Path)
		if err != nil {
			return fmt.Errorf("deleted, and in no checkpoint: %w", err)
		}
		b, err := io.ReadAll(f)
		if err = errors.Join(err, f.Close()); err != nil || string(b) != was.sum {
			return fmt.Errorf("deleted, and otherwise in the checkpoint: %q: %w", st.Path, errors.Join(err, os.ErrInvalid))
		}
	}
	return nil
}
