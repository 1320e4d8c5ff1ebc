package install_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/install"
)

// What is not understood is refused, and stays as it is.
func TestRefusesWhatItDoesNotUnderstand(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"cut off":                   `{"hooks": {`,
		"no JSON":                   "hooks:\n  - a\n",
		"a list":                    "[]",
		"a text":                    `"hooks"`,
		"two roots":                 "{} {}",
		"a comment only":            "// nothing\n",
		"hooks is a list":           `{"hooks": []}`,
		"hooks is null":             `{"hooks": null}`,
		"hooks is a text":           `{"hooks": "retake"}`,
		"hooks twice":               `{"hooks": {}, "hooks": {}}`,
		"hooks twice, once escaped": `{"hooks": {}, "\u0068ooks": {}}`,
		"a key twice below":         `{"env": {"A": "1", "A": "2"}}`,
		"an event twice":            `{"hooks": {"EVENT": [], "EVENT": []}}`,
		"too large":                 `{"a": "` + strings.Repeat("x", 4<<20) + `"}`,
		"too deep":                  strings.Repeat("[", 100000) + strings.Repeat("]", 100000),
		"too deep behind a comment": "{\"a\": // say \"\n" + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + "}",
		"broken UTF-8":              "{\"a\": 1 /* \xff */}",
	}
	for _, name := range inJSON {
		first := events(t, name)[0]
		for what, text := range texts {
			t.Run(name+"/"+what, func(t *testing.T) {
				t.Parallel()
				a, p := named(t, name), house(t)
				file := a.Status(install.User, p).File
				text := strings.ReplaceAll(text, "EVENT", first)
				settle(t, file, text)
				if st := a.Status(install.User, p); st.Condition != install.Unknown || st.Detail == "" {
					t.Errorf("%+v", st)
				}
				for _, plan := range []func() (install.Change, error){
					func() (install.Change, error) { return a.PlanInstall(install.User, p, install.Options{}) },
					func() (install.Change, error) { return a.PlanRemove(install.User, p) },
				} {
					c, err := plan()
					refused(t, err, retake.Denied)
					if !c.Empty() {
						t.Error("there is a change")
					}
				}
				if string(read(t, file)) != text {
					t.Error("the file was changed")
				}
			})
		}
	}
}

// An event that is no list stops an install; it holds none of ours to remove.
func TestRefusesAnEventThatIsNoList(t *testing.T) {
	t.Parallel()
	for _, name := range inJSON {
		a, p := named(t, name), house(t)
		settle(t, a.Status(install.User, p).File, `{"hooks": {"`+events(t, name)[2]+`": {"a": 1}}}`)
		_, err := a.PlanInstall(install.User, p, install.Options{})
		refused(t, err, retake.Denied)
		if c, err := a.PlanRemove(install.User, p); err != nil || !c.Empty() {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// refused checks that an error says what happened and that nothing was changed.
func refused(t *testing.T, err error, kind retake.ErrorKind) {
	t.Helper()
	if !retake.IsKind(err, kind) {
		t.Errorf("want %s, got %v", kind, err)
		return
	}
	if e := retake.AsError(err); e.Safe != "Nothing was changed." || e.What == "" {
		t.Errorf("%+v", e)
	}
}

func TestRefusesRequestsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	a, p := named(t, "claude-code"), house(t)
	cases := map[string]func() error{
		"no such scope": func() error { _, err := a.PlanInstall("team", p, install.Options{}); return err },
		"no project": func() error {
			_, err := a.PlanInstall(install.Project, install.Places{Home: p.Home}, install.Options{})
			return err
		},
		"no home": func() error { _, err := a.PlanRemove(install.User, install.Places{Project: p.Project}); return err },
		"worktrees for the user": func() error {
			_, err := a.PlanInstall(install.User, p, install.Options{Worktree: true})
			return err
		},
		"worktrees of another": func() error {
			_, err := named(t, "codex").PlanInstall(install.Project, p, install.Options{Worktree: true})
			return err
		},
		"a command of another name":      func() error { return with(p, "/opt/mistake") },
		"a command that is not absolute": func() error { return with(p, "./retake") },
		"a command with a line in it":    func() error { return with(p, "/opt\n/retake") },
	}
	for what, try := range cases {
		t.Run(what, func(t *testing.T) { refused(t, try(), retake.Invalid) })
	}
	if st := a.Status("team", p); st.Condition != install.Unknown || st.Detail == "" {
		t.Errorf("%+v", st)
	}
}

func with(p install.Places, program string) error {
	p.Retake = program
	a, _ := install.ByName("claude-code")
	_, err := a.PlanInstall(install.User, p, install.Options{})
	return err
}

// A link of a project does not choose a file outside of it.
func TestLinksOutOfAProjectAreRefused(t *testing.T) {
	t.Parallel()
	a := named(t, "claude-code")
	for what, make := range map[string]func(p install.Places, outside string) error{
		"file": func(p install.Places, outside string) error {
			if err := os.Mkdir(filepath.Join(p.Project, ".claude"), 0o755); err != nil {
				return err
			}
			return os.Symlink(filepath.Join(outside, "settings.json"), filepath.Join(p.Project, ".claude/settings.json"))
		},
		"directory": func(p install.Places, outside string) error {
			return os.Symlink(outside, filepath.Join(p.Project, ".claude"))
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p, outside := house(t), t.TempDir()
			settle(t, filepath.Join(outside, "settings.json"), "{}\n")
			if err := make(p, outside); err != nil {
				t.Fatal(err)
			}
			_, err := a.PlanInstall(install.Project, p, install.Options{})
			refused(t, err, retake.Denied)
			if st := a.Status(install.Project, p); st.Condition != install.Unknown {
				t.Errorf("%+v", st)
			}
		})
	}
}

func TestThingsThatAreNoFilesAreRefused(t *testing.T) {
	t.Parallel()
	for what, make := range map[string]func(file string) error{
		"directory":            func(file string) error { return os.MkdirAll(file, 0o755) },
		"link to nothing":      func(file string) error { return os.Symlink("/nothing/here", file) },
		"link to itself":       func(file string) error { return os.Symlink(file, file) },
		"directory is no such": func(file string) error { return os.Remove(filepath.Dir(file)) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			a, p := named(t, "codex"), house(t)
			file := a.Status(install.User, p).File
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := make(file); err != nil {
				t.Fatal(err)
			}
			if what == "directory is no such" {
				settle(t, filepath.Dir(file), "a file")
			}
			if st := a.Status(install.User, p); st.Condition != install.Unknown || st.Detail == "" {
				t.Errorf("%+v", st)
			}
			_, err := a.PlanInstall(install.User, p, install.Options{})
			refused(t, err, retake.Denied)
		})
	}
}
