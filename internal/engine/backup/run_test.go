package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/backup"
)

func TestEveryCheckpointBecomesACommit(t *testing.T) {
	t.Parallel()
	b := newBackupTest(t)
	one := map[string]item{
		"a.txt": file("a"), "bin/run": {data: "#!/bin/sh\n", exec: true}, "link": {data: "a.txt", kind: retake.KindSymlink},
		"d/e/f": file("deep"), "caf\xe9": file("latin"), "new\nline \"q\"": file("odd"), "empty": file(""), "ü": file("u"),
	}
	two := map[string]item{"a.txt": file("b"), "d": file("now a file"), "bin/run": {data: "#!/bin/sh\n"}, "link": file("no link"), "x/y": file("1"), "ü": file("u")}
	three := map[string]item{"d/e": file("a directory again"), "x": {data: "y", kind: retake.KindSymlink}}
	b.history.save("first", one)
	got := b.runBackup()
	b.wantFiles(got.Pushed.Commit, one)
	b.history.save("second", two)
	b.history.save("", three)
	b.history.save("nothing changed", three)
	got = b.runBackup()
	if got.Pushed.Number != 4 || got.Trouble != nil || !got.Set || len(got.Left) != 0 {
		t.Errorf("%+v", got)
	}
	if there := strings.TrimSpace(b.remoteGit("rev-parse", b.ref())); there != got.Pushed.Commit {
		t.Errorf("the remote has %s, not %s", there, got.Pushed.Commit)
	}
	for i, want := range []map[string]item{one, two, three, three} {
		b.wantFiles(fmt.Sprintf("%s~%d", b.ref(), 3-i), want)
	}
	subjects := strings.Fields(strings.ReplaceAll(b.remoteGit("log", "--format=%s", b.ref()), " ", "_"))
	if strings.Join(subjects, " ") != "nothing_changed Checkpoint_3_(manual) second first" {
		t.Errorf("%q", subjects)
	}
	b.remoteGit("fsck", "--strict", "--no-dangling")
	if again := b.runBackup(); again.Pushed.Commit != got.Pushed.Commit {
		t.Error("a run with nothing to send made a commit")
	}
}

func TestCommitsSayWhatTheyAre(t *testing.T) {
	t.Parallel()
	b := newBackupTest(t)
	b.history.save("fix it\n\nRetake-Checkpoint: cp_forged\nRetake-Number: 99\ntoken = \"ghp_0123456789012345678901234567890123\"\x00\x1b[31m", map[string]item{"a": file("1")})
	m := &b.history.checkpoints[0]
	m.Checkpoint.Turn = &retake.Turn{Agent: "codex\nRetake-Number: 98", Version: "1.2", Session: "s"}
	m.Answers = []retake.Answer{{Name: "test", Verdict: retake.Passed}, {Name: "lint", Verdict: retake.Failed}, {Name: "claim", Verdict: retake.Passed, Claim: true}}
	got := b.runBackup()
	text := b.remoteGit("log", "-1", "--format=%an <%ae>%n%ad%n%B", "--date=iso", got.Pushed.Commit)
	for _, want := range []string{
		"Retake <backup@retake.invalid>", "2026-01-02 03:04:01 +0000", "fix it\n", "\nRetake-Agent: codex Retake-Number: 98 1.2\n", "\nRetake-Verified: test passed, lint failed\n",
		"\nRetake-Checkpoint: " + string(m.Checkpoint.ID) + "\nRetake-Number: 1\nRetake-Tree: " + string(m.Checkpoint.Tree) + "\n", "\nRetake-Left-Out: 0\n", "\nRetake-Coverage: complete\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if strings.Contains(text, "ghp_") || strings.ContainsAny(text, "\x00\x1b") {
		t.Errorf("%q", text)
	}
	b.history.save("", map[string]item{"a": file("2")})
	if got = b.runBackup(); got.Pushed.Number != 2 || strings.Count(b.remoteGit("rev-list", b.ref()), "\n") != 2 {
		t.Errorf("the forged number counts: %+v", got.Pushed)
	}
}

func TestARewrittenRemoteIsNotReplaced(t *testing.T) {
	t.Parallel()
	for name, rewrite := range map[string]func(b *backupTest, tip string){
		"another commit": func(b *backupTest, _ string) {
			tree := strings.TrimSpace(b.remoteGit("hash-object", "-t", "tree", "-w", "/dev/null"))
			b.remoteGit("update-ref", b.ref(), strings.TrimSpace(b.remoteGit("commit-tree", "-m", "mine", tree)))
		},
		"one on top": func(b *backupTest, tip string) {
			b.remoteGit("update-ref", b.ref(), strings.TrimSpace(b.remoteGit("commit-tree", "-p", tip, "-m", "mine", tip+"^{tree}")))
		},
		"an older one": func(b *backupTest, tip string) { b.remoteGit("update-ref", b.ref(), tip+"^") },
		"gone":         func(b *backupTest, tip string) { b.remoteGit("update-ref", "-d", b.ref()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBackupTest(t)
			b.history.save("one", map[string]item{"a": file("1")})
			b.history.save("two", map[string]item{"a": file("2")})
			tip := b.runBackup().Pushed.Commit
			rewrite(b, tip)
			before := b.remoteGit("for-each-ref")
			b.history.save("three", map[string]item{"a": file("3")})
			got, err := b.w.Run(t.Context(), b.history.ws.ID, b.history)
			if !errors.Is(err, backup.ErrRewritten) || !retake.IsKind(err, retake.Moved) {
				t.Fatalf("%v", err)
			}
			if got.Trouble == nil || got.Pushed.Commit != tip {
				t.Errorf("%+v", got)
			}
			if after := b.remoteGit("for-each-ref"); after != before {
				t.Errorf("%s became %s", before, after)
			}
			// Who takes it away there and says so begins anew.
			b.remoteGit("update-ref", "-d", b.ref())
			if _, err := b.w.Set(t.Context(), b.history.ws, retake.BackupRequest{URL: b.remote}); err != nil {
				t.Fatal(err)
			}
			if got := b.runBackup(); got.Pushed.Number != 3 || got.Trouble != nil {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestALostSideIsTakenOverFromTheRemote(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(b *backupTest){
		"the repository": func(b *backupTest) { removeFile(b.t, filepath.Join(b.dir, string(b.history.ws.ID), "git")) },
		"everything":     func(b *backupTest) { removeFile(b.t, b.dir); b.setRemote() },
		"where it was":   func(b *backupTest) { b.setRemote() },
		"the old tree":   func(b *backupTest) { b.history.lost[b.history.checkpoints[1].Checkpoint.Tree] = true },
		"the old checkpoints": func(b *backupTest) {
			b.history.checkpoints = b.history.checkpoints[2:]
			removeFile(b.t, b.dir)
			b.setRemote()
		},
		"nothing but words": func(b *backupTest) { b.w = b.worker(backup.Options{}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBackupTest(t)
			b.history.save("one", map[string]item{"a": file("1"), "b": file("b"), ".env": file("x")})
			b.history.save("two", map[string]item{"a": file("2"), "b": file("b"), ".env": file("x")})
			tip := b.runBackup().Pushed.Commit
			b.history.save("three", map[string]item{"a": file("2"), "c": file("c"), ".env": file("x")})
			lose(b)
			got := b.runBackup()
			b.wantFiles(got.Pushed.Commit, map[string]item{"a": file("2"), "c": file("c")})
			if parent := strings.TrimSpace(b.remoteGit("rev-parse", got.Pushed.Commit+"^")); parent != tip {
				t.Errorf("it stands on %s, not on %s", parent, tip)
			}
			if len(got.Left) != 1 || got.Left[0].Reason != retake.LeaveSecret || got.Left[0].Count != 1 {
				t.Errorf("%+v", got.Left)
			}
		})
	}
}

func (b *backupTest) setRemote() {
	b.t.Helper()
	if _, err := b.w.Set(b.t.Context(), b.history.ws, retake.BackupRequest{URL: b.remote}); err != nil {
		b.t.Fatal(err)
	}
}

func removeFile(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

func TestTheBranchOfAnotherIsNotTakenOver(t *testing.T) {
	t.Parallel()
	b, other := newBackupTest(t), newBackupTest(t)
	other.history.save("theirs", map[string]item{"a": file("1")})
	theirs := other.runBackup().Pushed.Commit
	b.git("--git-dir", b.remote, "fetch", "-q", other.remote, other.ref()+":"+b.ref())
	b.history.save("ours", map[string]item{"a": file("2")})
	if _, err := b.w.Run(t.Context(), b.history.ws.ID, b.history); !errors.Is(err, backup.ErrRewritten) {
		t.Errorf("%v", err)
	}
	if there := strings.TrimSpace(b.remoteGit("rev-parse", b.ref())); there != theirs {
		t.Errorf("%s became %s", theirs, there)
	}
}

func TestARemoteThatIsAwayIsSaidAndTriedAgain(t *testing.T) {
	t.Parallel()
	b := newBackupTest(t)
	b.history.save("one", map[string]item{"a": file("1")})
	away := b.remote + ".away"
	if err := os.Rename(b.remote, away); err != nil {
		t.Fatal(err)
	}
	var since time.Time
	for n := int64(1); n <= 3; n++ {
		got, err := b.w.Run(t.Context(), b.history.ws.ID, b.history)
		if err == nil || got.Trouble == nil || got.Trouble.Tries != n || got.Trouble.What == "" || got.Trouble.Next == nil || !got.Trouble.Next.After(b.clock.Now()) {
			t.Fatalf("%v %+v", err, got.Trouble)
		}
		if n == 1 {
			since = got.Trouble.Since
		}
		if known, err := b.w.State(b.history.ws.ID); err != nil || known.Trouble == nil || !known.Trouble.Since.Equal(since) {
			t.Errorf("%+v %v", known.Trouble, err)
		}
		b.clock.Advance(time.Hour)
	}
	if err := os.Rename(away, b.remote); err != nil {
		t.Fatal(err)
	}
	if got := b.runBackup(); got.Trouble != nil || got.Pushed.Number != 1 {
		t.Errorf("%+v", got)
	}
}

func TestARunThatIsEndedLosesNothing(t *testing.T) {
	t.Parallel()
	b := newBackupTest(t)
	b.history.save("one", map[string]item{"a": file("1")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := b.w.Run(ctx, b.history.ws.ID, b.history); err == nil || got.Trouble != nil {
		t.Errorf("%v %+v", err, got.Trouble)
	}
	if got := b.runBackup(); got.Pushed.Number != 1 {
		t.Errorf("%+v", got)
	}
}

func TestABackupIsDropped(t *testing.T) {
	t.Parallel()
	b := newBackupTest(t)
	b.history.save("one", map[string]item{"a": file("1")})
	tip := b.runBackup().Pushed.Commit
	if all, err := b.w.All(); err != nil || len(all) != 1 || all[0] != b.history.ws.ID {
		t.Errorf("%v %v", all, err)
	}
	if got, err := b.w.Drop(t.Context(), b.history.ws.ID); err != nil || got.Set || got.URL != b.remote {
		t.Errorf("%+v %v", got, err)
	}
	if names, err := os.ReadDir(b.dir); err != nil || len(names) != 0 {
		t.Errorf("%v %v", names, err)
	}
	for _, f := range []func() error{
		func() error { _, err := b.w.State(b.history.ws.ID); return err },
		func() error { _, err := b.w.Drop(t.Context(), b.history.ws.ID); return err },
		func() error { _, err := b.w.Run(t.Context(), b.history.ws.ID, b.history); return err },
	} {
		if err := f(); !errors.Is(err, backup.ErrNone) || !retake.IsKind(err, retake.NotFound) {
			t.Errorf("%v", err)
		}
	}
	if there := strings.TrimSpace(b.remoteGit("rev-parse", b.ref())); there != tip {
		t.Error("the remote lost something")
	}
}

func TestNoSecretIsInAnyObject(t *testing.T) {
	t.Parallel()
	b := newBackupTest(t)
	pem := "-----BEGIN OPENSSH PRIVATE KEY-----\nZq7tL9mRk2Xvb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\n-----END OPENSSH PRIVATE KEY-----\n"
	wide := strings.Repeat("# a line of a long file\n", 120_000)
	planted := map[string]item{
		".env": file("A=Zq7tL9mRk2Xv"), "conf/.env.local": file("A=Zq7tL9mRk2Xv"), "deploy.env": file("A=Zq7tL9mRk2Xv"), "app.py": file("TOKEN = 'ghp_Zq7tL9mRk2XvZq7tL9mRk2XvZq7tL9mRk2Xv'\n"),
		"key": file(pem), ".ssh/id": file("Zq7tL9mRk2Xv"), "store.p12": file("Zq7tL9mRk2Xv"), "url.txt": file("postgres://app:Zq7tL9mRk2Xv@db/x"),
		"long.txt": file(wide + "AWS_SECRET_ACCESS_KEY=Zq7tL9mRk2XvZq7tL9mRk2XvZq7tL9mRk2Xvb3/+\n" + wide), ".npmrc": file("//registry/:_authToken=npm_Zq7tL9mRk2XvZq7tL9mRk2XvZq7tL9mRk2Xv"),
		"wide.txt":   file("\xff\xfe" + strings.Join(strings.Split("password = \"Zq7tL9mRk2Xv\"", ""), "\x00") + "\x00"),
		"link-to":    {data: "/x?password=Zq7tL9mRk2Xv", kind: retake.KindSymlink},
		"dir/.netrc": file("Zq7tL9mRk2Xv"), "ghp_Zq7tL9mRk2XvZq7tL9mRk2XvZq7tL9mRk2Xv": file("a name"), "dist/out": file("Zq7tL9mRk2Xv"), ".gitignore": file("dist/\n"),
	}
	clean := map[string]item{"app.py": file("TOKEN = os.environ['TOKEN']\n"), "README": file("hello"), "tokens.go": file("func token(s string) string { return s }\n"), ".env.example": file("A=\n")}
	b.history.save("with ghp_Zq7tL9mRk2XvZq7tL9mRk2XvZq7tL9mRk2Xv in its words", planted)
	got := b.runBackup()
	var secrets int64
	for _, l := range got.Left {
		if l.Reason == retake.LeaveSecret {
			secrets = l.Count
		}
	}
	if want := int64(len(planted) - 2); secrets != want { // all but the rules and what they hide
		t.Errorf("%d are left out for secrets, not %d: %+v", secrets, want, got.Left)
	}
	b.history.save("taken out", clean)
	got = b.runBackup()
	b.wantFiles(got.Pushed.Commit, clean)
	if len(got.Left) != 0 {
		t.Errorf("%+v", got.Left)
	}
	for _, dir := range []string{b.remote, filepath.Join(b.dir, string(b.history.ws.ID), "git")} {
		if n := bytes.Count(readAllObjects(t, dir), []byte("Zq7tL9mRk2Xv")); n != 0 {
			t.Errorf("%d markers in %s", n, dir)
		}
	}
	if all := readAllObjects(t, b.remote); !bytes.Contains(all, []byte("hello")) {
		t.Error("the look at all objects sees nothing")
	}
}
