package replay_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake/test/story/replay"
)

func walked(t *testing.T, root string) replay.Walk {
	t.Helper()
	w, err := replay.TakeWalk(root)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWalkSeesEveryKindOfChange(t *testing.T) {
	t.Parallel()
	at := func(root, name string) string { return filepath.Join(root, name) }
	for name, c := range map[string]struct {
		do   func(root string) error
		want replay.Paths
	}{
		"nothing":        {func(string) error { return nil }, replay.Paths{}},
		"only the time":  {func(r string) error { return os.Chtimes(at(r, "file"), time.Unix(1, 0), time.Unix(1, 0)) }, replay.Paths{}},
		"bytes":          {func(r string) error { return os.WriteFile(at(r, "file"), []byte("tixt"), 0o644) }, replay.Paths{Edited: []string{"file"}}},
		"mode":           {func(r string) error { return os.Chmod(at(r, "file"), 0o400) }, replay.Paths{Moded: []string{"file"}}},
		"a deletion":     {func(r string) error { return os.RemoveAll(at(r, "dir")) }, replay.Paths{Deleted: []string{"dir/inner"}, Dirs: []string{"dir"}}},
		"another target": {func(r string) error { return relink(at(r, "link"), "dir") }, replay.Paths{Edited: []string{"link"}}},
		"file to link":   {func(r string) error { return relink(at(r, "file"), "dir") }, replay.Paths{Retyped: []string{"file"}}},
		"a rename": {func(r string) error { return os.Rename(at(r, "file"), at(r, "other")) }, replay.Paths{
			Created: []string{"other"}, Deleted: []string{"file"}, Renames: []replay.Rename{{From: "file", To: "other"}},
		}},
		"an empty file is no rename": {func(r string) error { return os.Rename(at(r, "empty"), at(r, "void")) }, replay.Paths{
			Created: []string{"void"}, Deleted: []string{"empty"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			write(t, at(root, "file"), "text")
			write(t, at(root, "empty"), "")
			write(t, at(root, "dir/inner"), "inner")
			if err := os.Symlink("file", at(root, "link")); err != nil {
				t.Skip(err)
			}
			before := walked(t, root)
			if err := c.do(root); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, replay.Compare(before, walked(t, root))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func relink(at, target string) error {
	if err := os.Remove(at); err != nil {
		return err
	}
	return os.Symlink(target, at)
}

func TestFileThatBecomesADirectory(t *testing.T) {
	t.Parallel()
	before := replay.Walk{"a": {Kind: replay.File, Sum: "1"}, "b": {Kind: replay.Dir}, "b/c": {Kind: replay.File, Sum: "2"}}
	after := replay.Walk{"a": {Kind: replay.Dir}, "a/c": {Kind: replay.File, Sum: "2"}, "b": {Kind: replay.File, Sum: "1"}}
	want := replay.Paths{
		Created: []string{"a/c"}, Deleted: []string{"b/c"}, Retyped: []string{"a", "b"},
		Renames: []replay.Rename{{From: "b/c", To: "a/c"}},
	}
	if d := cmp.Diff(want, replay.Compare(before, after)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestWhatIsAroundTheBytesCounts(t *testing.T) {
	t.Parallel()
	plain := replay.Entry{Kind: replay.File, Mode: 0o644, UID: 1, GID: 1}
	for name, change := range map[string]func(*replay.Entry){
		"attributes": func(e *replay.Entry) { e.Xattrs = map[string]string{"user.x": "1"} },
		"owner":      func(e *replay.Entry) { e.UID = 2 },
		"group":      func(e *replay.Entry) { e.GID = 2 },
		"setuid":     func(e *replay.Entry) { e.Mode = 0o4644 },
	} {
		other := plain
		change(&other)
		if d := cmp.Diff(replay.Paths{Moded: []string{"a"}}, replay.Compare(replay.Walk{"a": plain}, replay.Walk{"a": other})); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	dir, open := replay.Entry{Kind: replay.Dir, Mode: 0o755}, replay.Entry{Kind: replay.Dir, Mode: 0o777}
	if d := cmp.Diff(replay.Paths{Dirs: []string{"d"}}, replay.Compare(replay.Walk{"d": dir}, replay.Walk{"d": open})); d != "" {
		t.Errorf("directory (-want +got):\n%s", d)
	}
}
