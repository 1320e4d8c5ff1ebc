//go:build linux

// Package returnbed holds what ordeals of restores stand on.
package returnbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/crashbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/treebed"
)

// look is what one path looks like: all that a restore brings back. Hard links show
// as the first name of their group.
type look struct {
	Text  string
	mtime int64
}

// Shape is every path of a live tree; the root is "".
type Shape map[string]look

// ShapeOf reads a tree with plain calls. What is ours in it does not count.
func ShapeOf(root string) (Shape, error) {
	all, err := treebed.Scan(root)
	if err != nil {
		return nil, err
	}
	paths := make([]string, 0, len(all))
	for p := range all {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	names := map[[2]uint64]string{}
	out := Shape{}
	for _, p := range paths {
		if p == ".retake" || strings.HasPrefix(p, ".retake/") {
			continue
		}
		l := all[p]
		group := ""
		if l.Kind != retake.KindDir {
			if names[l.Inode] == "" {
				names[l.Inode] = p
			}
			group = names[l.Inode]
		}
		out[p] = look{fmt.Sprintf("%s %o %d:%d %d %x %q =%q", l.Kind, l.Mode, l.Uid, l.Gid, l.Size, l.Sum[:6], l.Xattrs, group), l.Mtime}
	}
	return out, nil
}

// Unlike names the first paths in which a tree is not as it should be. Those that
// free answers true for may be anything; of those that stir does, the time alone.
func (s Shape) Unlike(got Shape, free, stir func(string) bool) []string {
	var out []string
	for p, want := range s {
		have, ok := got[p]
		switch {
		case free(p):
		case !ok:
			out = append(out, fmt.Sprintf("%q is missing", p))
		case have.Text != want.Text:
			out = append(out, fmt.Sprintf("%q is %s instead of %s", p, have.Text, want.Text))
		case have.mtime != want.mtime && !stir(p):
			out = append(out, fmt.Sprintf("%q is of %d instead of %d", p, have.mtime, want.mtime))
		}
	}
	for p := range got {
		if _, ok := s[p]; !ok && !free(p) {
			out = append(out, fmt.Sprintf("%q was not there", p))
		}
	}
	slices.Sort(out)
	return out
}

func Nobody(string) bool { return false }

// Is compares all, with no exception.
func (s Shape) Is(got Shape) bool { return len(s.Unlike(got, Nobody, Nobody)) == 0 }

// PlanAndApply plans and applies, with consent to everything.
func PlanAndApply(ctx context.Context, svc retake.Service, req retake.PlanRequest) (retake.Plan, retake.RestoreResult, error) {
	p, err := svc.PlanRestore(ctx, req)
	if err != nil {
		return p, retake.RestoreResult{}, fmt.Errorf("plan: %w", err)
	}
	res, err := svc.ApplyRestore(ctx, retake.ApplyRequest{PlanRequest: req, Digest: p.Digest, Accept: Classes(p)})
	return p, res, err
}

func Classes(p retake.Plan) []string {
	var out []string
	for _, o := range p.Obstacles {
		out = append(out, o.Class)
	}
	return out
}

// Voyage is a workspace that is about to go back: from what it is now to its first
// checkpoint, by some sixty paths of all kinds.
type Voyage struct {
	Data, Ws       string
	ID             retake.WorkspaceID
	Target, Before Shape
}

// NewVoyage protects a tree below dir, changes it, and saves. Both checkpoints are read
// back by the harness itself.
func NewVoyage(ctx context.Context, data, ws, boot string, seed int64) (p *Voyage, err error) {
	p = &Voyage{Data: data, Ws: ws}
	svc, err := crashbed.SoloAt(ctx, data, boot, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, svc.Close()) }()
	g := &Gardener{Root: ws, Seed: seed}
	if g.Plant(); g.Err != nil {
		return nil, g.Err
	}
	res, err := svc.Init(ctx, retake.InitRequest{Dir: ws})
	if err != nil {
		return nil, err
	}
	p.ID = res.Workspace.ID
	if p.Target, err = ShapeOf(ws); err != nil {
		return nil, err
	}
	if g.alter(); g.Err != nil {
		return nil, g.Err
	}
	if _, err := svc.Save(ctx, retake.SaveRequest{Workspace: p.ID}); err != nil {
		return nil, err
	}
	p.Before, err = ShapeOf(ws)
	return p, err
}

// Gardener plants a tree and alters it; the first error stays.
type Gardener struct {
	Root string
	Seed int64
	Err  error
}

func (g *Gardener) at(name string) string { return filepath.Join(g.Root, name) }

func (g *Gardener) note(err error) {
	if err != nil && g.Err == nil {
		g.Err = err
	}
}

func (g *Gardener) write(name, text string) {
	g.note(os.MkdirAll(filepath.Dir(g.at(name)), 0o755))
	b := strings.Repeat(fmt.Sprintf("%s %s %d\n", name, text, g.Seed), 1+int(g.Seed+int64(len(name)))%40)
	g.note(os.WriteFile(g.at(name), []byte(b), 0o644))
}

func (g *Gardener) many(form string, n int, text string) {
	for i := range n {
		g.write(fmt.Sprintf(form, i), text)
	}
}

func (g *Gardener) link(text, name string) {
	g.note(os.MkdirAll(filepath.Dir(g.at(name)), 0o755))
	g.note(harness.IgnoreAbsent(os.Remove(g.at(name))))
	g.note(os.Symlink(text, g.at(name)))
}

func (g *Gardener) hard(old, name string) {
	g.note(harness.IgnoreAbsent(os.Remove(g.at(name))))
	g.note(os.Link(g.at(old), g.at(name)))
}

func (g *Gardener) gone(name string) { g.note(os.RemoveAll(g.at(name))) }

// Plant makes the checkpoint that is gone back to.
func (g *Gardener) Plant() {
	g.note(os.MkdirAll(g.Root, 0o755))
	g.many("still/f%d", 8, "stays")
	g.many("src/e%02d", 12, "first")
	g.many("src/gone%d", 6, "first")
	g.many("old/deep/f%d", 3, "first")
	g.write("old/top", "first")
	g.note(os.MkdirAll(g.at("old/empty"), 0o700))
	g.many("kind/file%d", 4, "first")
	g.many("kind/dir/f%d", 2, "first")
	g.link("nowhere", "kind/link")
	g.note(unix.Mkfifo(g.at("kind/pipe"), 0o640))
	for i := range 3 {
		g.link(fmt.Sprintf("to-%d", i), fmt.Sprintf("link/l%d", i))
	}
	g.many("mode/f%d", 5, "same")
	g.many("hard/a%d", 2, "first")
	g.hard("hard/a0", "hard/b0")
	g.hard("hard/a0", "hard/c0")
	g.write("hard/d0", "alone")
	g.write("hard/d1", "alone")
	g.many("tight/f%d", 2, "first")
	g.note(os.Chmod(g.at("tight"), 0o555))
	for _, f := range []string{"app.db", "app.db-wal", "app.db-shm"} {
		g.write("db/"+f, "first")
	}
	g.write("odd/bad\xff\xfename", "first")
	g.write("odd/new\nline", "first")
	g.write("odd/"+strings.Repeat("n", 255), "first")
	g.note(treebed.SetTime(g.at("src"), 1.6e18+g.Seed))
	g.note(treebed.SetTime(g.at("old/deep/f0"), -5e17))
}

// alter makes of it what is there now.
func (g *Gardener) alter() {
	g.note(os.Chmod(g.at("tight"), 0o755))
	g.many("src/e%02d", 12, "second")
	for i := range 6 {
		g.gone(fmt.Sprintf("src/gone%d", i))
	}
	g.gone("old")
	g.many("src/new%d", 6, "second")
	g.many("new/sub/f%d", 3, "second")
	g.write("new/top", "second")
	g.note(os.MkdirAll(g.at("new/empty"), 0o711))
	g.retype()
	for i := range 3 {
		g.link(fmt.Sprintf("elsewhere-%d", i), fmt.Sprintf("link/l%d", i))
	}
	g.note(os.Chmod(g.at("mode/f0"), 0o600))
	g.note(os.Chmod(g.at("mode/f1"), 0o755))
	g.note(unix.Lsetxattr(g.at("mode/f2"), "user.note", []byte("second"), 0))
	g.note(os.Lchown(g.at("mode/f3"), 4242, 4242))
	g.note(treebed.SetTime(g.at("mode/f4"), 1.5e18+g.Seed))
	g.note(os.Chmod(g.at("mode"), 0o700))
	g.gone("hard/c0")
	g.write("hard/c0", "apart")
	g.write("hard/a1", "second")
	g.hard("hard/d0", "hard/d1")
	g.write("tight/f0", "second")
	g.write("tight/more", "second")
	g.note(os.Chmod(g.at("tight"), 0o555))
	g.write("db/app.db", "second")
	g.write("db/app.db-wal", "second")
	g.gone("db/app.db-shm")
	g.write("odd/bad\xff\xfename", "second")
	g.gone("odd/new\nline")
	g.write("odd/other\nline", "second")
}

// retype makes other things of what was there.
func (g *Gardener) retype() {
	g.gone("kind/file0")
	g.many("kind/file0/f%d", 2, "second")
	g.gone("kind/file1")
	g.link("file2", "kind/file1")
	g.gone("kind/file2")
	g.note(unix.Mkfifo(g.at("kind/file2"), 0o600))
	g.gone("kind/dir")
	g.write("kind/dir", "second")
	g.gone("kind/link")
	g.write("kind/link", "second")
	g.gone("kind/pipe")
	g.many("kind/pipe/f%d", 2, "second")
}
