package assemble_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/marker"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
)

// attached is a second machine that has what a remote of the first one has.
func (u *uploads) attachTo(t *testing.T, req retake.AttachRequest) (*uploads, retake.Receipt, error) {
	t.Helper()
	two := &uploads{desk: &desk{T: t, area: t.TempDir()}, home: t.TempDir(), disk: u.disk}
	two.open()
	t.Cleanup(func() { _ = two.s.Close() })
	if req.URL == "" {
		req.URL = u.disk
	}
	if req.Key == "" {
		req.Key = u.key()
	}
	r, err := two.s.Attach(t.Context(), req)
	two.ws = r.Workspace.ID
	return two, r, err
}

func (u *uploads) key() string {
	u.Helper()
	password, err := os.ReadFile(filepath.Join(u.home, "data", "store", "password"))
	must(u.T, err)
	key, err := kopia.EncodeCopyKey(strings.TrimSpace(string(password)))
	must(u.T, err)
	return key
}

// filesIn reads all files of a directory.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == marker.Dir {
				return filepath.SkipDir
			}
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out[rel] = string(b)
		return err
	}))
	return out
}

// Files, timeline and names arrive, and both machines go on without harm to the other.
func TestAttach(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	u.write("shop/dir/b", strings.Repeat("b", 1<<20))
	u.save(retake.SaveRequest{Intent: "before it moves"})
	u.sync()
	dir := filepath.Join(t.TempDir(), "new", "shop")
	two, r, err := u.attachTo(t, retake.AttachRequest{Workspace: "shop", Dir: dir})
	must(t, err)
	if r.Checkpoints != 3 || r.Newest.Intent != "before it moves" || r.Files != 2 || r.Workspace.Root != dir || r.Workspace.ID != u.ws || len(r.Missing) > 0 {
		t.Errorf("receipt: %+v", r)
	}
	if !maps.Equal(filesIn(t, dir), filesIn(t, u.at("shop"))) {
		t.Error("other files arrived")
	}
	for n, want := range map[string]string{"1": "1", "latest": "1"} {
		cp, err := two.s.Find(t.Context(), u.ws, n)
		must(t, err)
		f, _, err := two.s.Open(t.Context(), u.ws, string(cp.ID), "a")
		must(t, err)
		b := make([]byte, len(want))
		_, err = f.Read(b)
		must(t, f.Close())
		if string(b) != want {
			t.Errorf("%s: %q %v", n, b, err)
		}
	}
	must(t, os.WriteFile(filepath.Join(dir, "a"), []byte("two"), 0o644))
	two.save(retake.SaveRequest{Intent: "on two"})
	u.write("shop/a", "one")
	u.save(retake.SaveRequest{Intent: "on one"})
	_, err = two.s.AddRemote(t.Context(), retake.RemoteRequest{URL: u.disk, Name: "same"})
	must(t, err)
	two.sync()
	u.sync()
	if copies, _ := filepath.Glob(filepath.Join(u.disk, "retake-*-*")); len(copies) != 2 {
		t.Errorf("copies: %v", copies)
	}
	_, r, err = two.attachTo(t, retake.AttachRequest{Workspace: string(u.ws), Dir: filepath.Join(t.TempDir(), "third")})
	must(t, err)
	if b := filesIn(t, r.Workspace.Root)["a"]; b != "one" && b != "two" {
		t.Errorf("the third has %q", b)
	}
	if pins, _ := filepath.Glob(filepath.Join(u.disk, "*", "retake.pin.*")); len(pins) > 2 {
		t.Errorf("pins: %v", pins)
	}
}

// Nothing is changed when it cannot be attached.
func TestAttachIsRefused(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	must(t, os.Mkdir(u.at("other"), 0o755))
	_, err := u.s.Init(t.Context(), retake.InitRequest{Dir: u.at("other")})
	must(t, err)
	u.sync()
	wrong := u.key()
	wrong = wrong[:len(wrong)-1] + map[bool]string{true: "0", false: "1"}[wrong[len(wrong)-1] == '1']
	foreign, err := kopia.EncodeCopyKey(strings.Repeat("ab", 32))
	must(t, err)
	full := t.TempDir()
	must(t, os.WriteFile(filepath.Join(full, "x"), nil, 0o644))
	for what, c := range map[string]struct {
		req  retake.AttachRequest
		kind retake.ErrorKind
	}{
		"a mistyped key":     {retake.AttachRequest{Workspace: "shop", Key: wrong}, retake.Invalid},
		"another key":        {retake.AttachRequest{Workspace: "shop", Key: foreign}, retake.NotFound},
		"no such workspace":  {retake.AttachRequest{Workspace: "nope", Dir: filepath.Join(full, "y")}, retake.NotFound},
		"which of two":       {retake.AttachRequest{Dir: filepath.Join(full, "y")}, retake.Invalid},
		"a directory in use": {retake.AttachRequest{Workspace: "shop", Dir: full}, retake.Exists},
		"no such place":      {retake.AttachRequest{URL: "/nothing/here", Workspace: "shop", Dir: filepath.Join(full, "y")}, retake.Away},
		"no address":         {retake.AttachRequest{URL: "ftp://x", Workspace: "shop"}, retake.Invalid},
	} {
		two, _, err := u.attachTo(t, c.req)
		if !retake.IsKind(err, c.kind) {
			t.Errorf("%s: %v", what, err)
		}
		if all, err := two.s.Workspaces(t.Context()); err != nil || len(all) > 0 {
			t.Errorf("%s: %d workspaces, %v", what, len(all), err)
		}
		if _, err := os.Stat(filepath.Join(two.home, "data", "store", "password")); err == nil {
			t.Errorf("%s: there is a store", what)
		}
	}
	if _, err := u.s.Attach(t.Context(), retake.AttachRequest{URL: u.disk, Key: u.key(), Workspace: "shop"}); !retake.IsKind(err, retake.Exists) {
		t.Errorf("a machine with a history: %v", err)
	}
	if names := entryNames(t, full); !slices.Equal(names, []string{"x"}) {
		t.Errorf("left behind: %v", names)
	}
}

func entryNames(t *testing.T, dir string) (out []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range all {
		out = append(out, e.Name())
	}
	return out
}

// What was made for another machine is named.
func TestReceiptNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	must(t, u.set.Set("exclude", ".env"))
	u.write("shop/.env", "secret")
	u.write("shop/venv/pyvenv.cfg", "home = /nowhere/python3\n")
	arm := append([]byte("\x7fELF\x02\x01\x01\x00"), make([]byte, 56)...)
	arm[18] = 0xf3 // RISC-V
	u.write("shop/node_modules/sharp/sharp.node", string(arm))
	u.save(retake.SaveRequest{})
	u.sync()
	_, r, err := u.attachTo(t, retake.AttachRequest{Workspace: "shop", Dir: filepath.Join(t.TempDir(), "shop")})
	must(t, err)
	got := map[string]bool{}
	for _, m := range r.Missing {
		got[m.What] = m.Want
	}
	want := map[string]bool{"venv/pyvenv.cfg": false, "node_modules/sharp/sharp.node": false, ".env": true}
	if !maps.Equal(got, want) {
		t.Errorf("%+v", r.Missing)
	}
}

// With Browse the timeline arrives and no file is written.
func TestAttachToBrowse(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	u.sync()
	two, r, err := u.attachTo(t, retake.AttachRequest{Workspace: "shop", Browse: true})
	must(t, err)
	tl, err := two.s.Log(t.Context(), retake.LogQuery{Workspace: r.Workspace.ID})
	must(t, err)
	if r.Files != 0 || len(tl.Checkpoints) != 2 {
		t.Errorf("%+v", r)
	}
	if got := two.latest("a"); got != "1" {
		t.Errorf("it can be read: %q", got)
	}
}
