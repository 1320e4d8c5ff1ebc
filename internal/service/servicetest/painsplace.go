package servicetest

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// Harm: another directory stands at the path meanwhile, and is restored over.
func wrongDirectory(t *testing.T, b *bench) {
	b.shop()
	b.wreck()
	b.save("wrecked")
	req := retake.ApplyRequest{PlanRequest: retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseRestore, Ref: "1"}}
	req.Digest = b.plan(req.PlanRequest).Digest
	away := b.root + "-away"
	b.must(os.Rename(b.root, away))
	_, err := b.s.ApplyRestore(b.ctx(), req)
	wantKind(t, err, retake.Moved)
	b.gone(".")
	b.write("src/app.go", "another project\n")
	b.write("mine", "another project\n")
	stranger, ours := b.marks("."), b.tree(away)
	_, err = b.s.ApplyRestore(b.ctx(), req) // the plan that was shown before
	wantKind(t, err, retake.Moved)
	req.Digest = b.plan(req.PlanRequest).Digest
	_, err = b.s.ApplyRestore(b.ctx(), req) // nobody agreed to lose what is there
	wantKind(t, err, retake.Denied)
	b.unmarked(stranger, ".", "another directory")
	if b.tree(away) != ours {
		t.Error("the workspace was touched where it lies now")
	}
}

// Harm: everything is written again, and every time is of today.
func allRewritten(t *testing.T, b *bench) {
	old := time.Unix(1_500_000_000, 123_456_789)
	for _, name := range []string{"src/a", "src/b", "lib/c", "lib/deep/d"} {
		b.write(name, name)
		b.must(os.Chtimes(b.at(name), old, old))
	}
	for _, dir := range []string{"lib/deep", "lib", "src"} {
		b.must(os.Chtimes(b.at(dir), old, old))
	}
	b.init()
	b.write("src/a", "changed")
	b.save("turn")
	lib, same := b.marks("lib"), b.marks("src/b")
	b.restore("1")
	b.unmarked(lib, "lib", "after a restore")
	b.unmarked(same, "src/b", "after a restore")
	for _, name := range []string{"src/a", "src"} {
		if got := b.stat(name).ModTime(); !got.Equal(old) {
			t.Errorf("%s is of %s", name, got)
		}
	}
}

// Harm: the root is replaced by another directory, and who works in it stands in a
// deleted one.
func rootReplaced(t *testing.T, b *bench) {
	b.shop()
	b.wreck()
	b.save("wrecked")
	root, src := b.stat("."), b.stat("src")
	stands, err := os.OpenRoot(b.root)
	b.must(err)
	defer stands.Close() //nolint:errcheck // only read
	below, err := os.OpenRoot(b.at("src"))
	b.must(err)
	defer below.Close() //nolint:errcheck // only read
	b.restore("1")
	if !os.SameFile(root, b.stat(".")) || !os.SameFile(src, b.stat("src")) {
		t.Error("a directory was replaced")
	}
	for _, at := range []struct {
		dir  *os.Root
		name string
	}{{stands, "src/app.go"}, {below, "app.go"}} {
		if text, err := at.dir.ReadFile(at.name); err != nil || string(text) != "package app\n" {
			t.Errorf("who stands there reads %q, %v", text, err)
		}
	}
	b.must(stands.WriteFile("written", []byte("from inside"), 0o644))
	if b.read("written") != "from inside" {
		t.Error("what is written from inside goes elsewhere")
	}
}

// Harm: a file that was deleted and made again is taken for the one that was there.
func recreatedStays(t *testing.T, b *bench) {
	old := time.Unix(1_500_000_000, 0)
	b.write("same-size", "original\n")
	b.write("dir/file", "original\n")
	b.must(os.Chmod(b.at("same-size"), 0o640))
	b.must(os.Chtimes(b.at("same-size"), old, old))
	b.init()
	before := b.tree(b.root)
	b.remove("same-size")
	b.write("same-size", "replaced\n")
	b.must(os.Chmod(b.at("same-size"), 0o640))
	b.must(os.Chtimes(b.at("same-size"), old, old))
	b.remove("dir")
	b.write("dir", "a file now\n")
	b.restore("1")
	b.wantTree(before, "after the restore")
	b.remove("same-size")
	b.must(os.Mkdir(b.at("same-size"), 0o755))
	b.remove("dir")
	b.must(os.Symlink("/nowhere", b.at("dir")))
	b.restore("1")
	b.wantTree(before, "after the second restore")
}

// Harm: a repository inside of the workspace is renamed, emptied or moved to a commit.
func nestedRepositoryMoved(t *testing.T, b *bench) {
	b.write("vendor/lib/.git/HEAD", "1111111111111111111111111111111111111111\n")
	b.write("vendor/lib/.git/objects/11/11", "commit")
	b.write("vendor/lib/code.c", "one\n")
	b.write("module/.git", "gitdir: ../vendor/lib/.git\n")
	b.write("module/x", "one\n")
	b.write("a", "one\n")
	b.init()
	b.write("vendor/lib/.git/HEAD", "2222222222222222222222222222222222222222\n")
	b.write("vendor/lib/.git/objects/22/22", "commit")
	b.write("vendor/lib/code.c", "two\n")
	b.write("module/x", "two\n")
	b.write("a", "two\n")
	b.save("turn")
	repository, file := b.marks("vendor/lib/.git"), b.marks("module/.git")
	b.restore("1")
	if b.read("a") != "one\n" || b.read("vendor/lib/code.c") != "one\n" || b.read("module/x") != "one\n" {
		t.Error("files beside a repository did not come back")
	}
	b.unmarked(repository, "vendor/lib/.git", "after a restore")
	b.unmarked(file, "module/.git", "after a restore")
	b.undo()
	if b.read("vendor/lib/code.c") != "two\n" {
		t.Error("an undo did not reach it")
	}
	b.unmarked(repository, "vendor/lib/.git", "after an undo")
}

// Harm: names that are no plain text are skipped, or come back as other names.
func oddNamesLost(t *testing.T, b *bench) {
	names := []string{"é", "e\u0301", "日本語/ファイル", " leading", "trailing ", "new\nline", "tab\there", "\xff\xfe", "dir \xc3/\x80", "-rf", "a\\b", "*", "%2F", "\x1b[31m"}
	for _, n := range names {
		b.write(n, n)
	}
	b.must(os.Symlink("\xf0target", b.at("odd\xffling")))
	b.init()
	before := b.tree(b.root)
	for _, n := range names {
		b.write(n, "changed")
	}
	b.save("changed")
	b.restore("1")
	b.wantTree(before, "after they were changed")
	list, err := os.ReadDir(b.root)
	b.must(err)
	for _, e := range list {
		b.remove(e.Name())
	}
	b.restore("1")
	b.wantTree(before, "after they were deleted")
	if _, err := os.Lstat(b.at("dir \xc3/\x80")); err != nil {
		t.Error(err)
	}
}

// Harm: a restore brings bytes, and forgets that a file could be run, what a link was,
// empty directories and attributes.
func onlyBytesComeBack(t *testing.T, b *bench) {
	b.write("run.sh", "#!/bin/sh\n")
	b.must(os.Chmod(b.at("run.sh"), 0o755))
	b.write("secret", "s")
	b.must(os.Chmod(b.at("secret"), 0o600))
	b.must(os.Symlink("run.sh", b.at("link")))
	b.must(os.Symlink("/no/such/place", b.at("dangling")))
	b.must(os.MkdirAll(b.at("empty/deeper"), 0o750))
	b.tag("secret", "one")
	b.init()
	before, tag := b.tree(b.root), b.tagged("secret")
	b.must(os.Chmod(b.at("run.sh"), 0o644))
	b.tag("secret", "two")
	b.remove("empty")
	b.remove("link")
	b.write("link", "a file\n")
	b.remove("dangling")
	b.save("wrecked")
	b.restore("1")
	b.wantTree(before, "after the restore")
	if b.stat("run.sh").Mode()&0o111 == 0 || b.tagged("secret") != tag || tag != "one" {
		t.Errorf("mode %s, attribute %q", b.stat("run.sh").Mode(), b.tagged("secret"))
	}
	b.remove("secret")
	b.restore("1")
	if got := b.tagged("secret"); got != tag || b.stat("secret").Mode() != fs.FileMode(0o600) {
		t.Errorf("a deleted file came back with attribute %q, mode %s", got, b.stat("secret").Mode())
	}
}

const tagName = "user.tag"

// inside opens a file by the seam, which knows attributes on every system.
func (b *bench) inside(name string, do func(fsx.File) error) {
	b.Helper()
	d, err := fsx.OS().OpenRoot(filepath.Dir(b.at(name)))
	b.must(err)
	defer d.Close() //nolint:errcheck // a directory handle
	f, err := d.OpenFile(filepath.Base(name))
	b.must(err)
	defer f.Close() //nolint:errcheck // nothing is written through it
	b.must(do(f))
}

func (b *bench) tag(name, value string) {
	b.Helper()
	i := b.stat(name)
	b.inside(name, func(f fsx.File) error {
		return f.SetMetadata(fsx.Metadata{Mode: uint32(i.Mode().Perm()), Mtime: i.ModTime().UnixNano(), Xattrs: map[string][]byte{tagName: []byte(value)}})
	})
}

func (b *bench) tagged(name string) (value string) {
	b.Helper()
	b.inside(name, func(f fsx.File) error {
		x, err := f.Xattrs()
		value = string(x[tagName])
		return err
	})
	return value
}

// Harm: a deleted repository stays deleted, because restores leave repositories out.
func repositoryStaysGone(t *testing.T, b *bench) {
	b.write(".git/HEAD", "ref: refs/heads/main\n")
	b.write(".git/refs/heads/main", "1111111111111111111111111111111111111111\n")
	b.write(".git/objects/11/11", "commit")
	b.must(os.Mkdir(b.at(".git/empty"), 0o755))
	b.write("a", "1\n")
	b.init()
	before := b.tree(b.root)
	b.remove(".git")
	b.restore("1")
	b.wantTree(before, "after rm -rf .git, not recorded")
	b.remove(".git")
	b.save("gone")
	b.restore("1")
	b.wantTree(before, "after rm -rf .git, recorded")
	b.remove(".git")
	b.save("gone again")
	b.undo()
	if b.read(".git/objects/11/11") != "commit" {
		t.Error("undo did not bring it")
	}
}

// stashIsSeen: a directory that is called as ours hides nothing. What somebody puts there
// is in the next checkpoint, goes with a restore to one before it, and comes back with undo.
func stashIsSeen(t *testing.T, b *bench) {
	b.init()
	b.write("a", "1")
	b.save("clean")
	b.write(".retake/evil.sh", "payload")
	if cmp, err := b.s.Diff(b.ctx(), retake.DiffQuery{Workspace: b.ws.ID}); err != nil || len(cmp.Changes) == 0 {
		t.Errorf("nothing is seen of it: %v", err)
	}
	if res := b.save("stashed"); res.Checkpoint.Coverage.Grade != retake.Complete {
		t.Errorf("coverage: %+v", res.Checkpoint.Coverage)
	}
	if got := b.cat("latest", ".retake/evil.sh"); got != "payload" {
		t.Errorf("the checkpoint holds %q", got)
	}
	b.restore("2")
	b.gone(".retake/evil.sh")
	if ws, err := b.s.Locate(b.ctx(), b.root); err != nil || ws.ID != b.ws.ID {
		t.Errorf("after the restore it is %v, %v", ws.ID, err)
	}
	b.undo()
	if got := b.read(".retake/evil.sh"); got != "payload" {
		t.Errorf("it came back as %q", got)
	}
	_, err := b.s.Deinit(b.ctx(), b.ws.ID)
	b.must(err)
}
