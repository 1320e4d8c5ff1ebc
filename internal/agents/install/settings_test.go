package install_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/tailscale/hujson"

	"github.com/retake-dev/retake/internal/agents/install"
)

// inJSON are the agents whose settings are JSON.
var inJSON = []string{"claude-code", "codex", "gemini", "cursor", "copilot", "droid"}

// reporter is a test, or one try of a law.
type reporter interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func flat(name string) bool { return name == "cursor" || name == "copilot" }

func named(t testing.TB, name string) install.Agent {
	t.Helper()
	a, ok := install.ByName(name)
	if !ok {
		t.Fatalf("there is no agent %s", name)
	}
	return a
}

// house is a home and a project in a directory of its own.
func house(t testing.TB) install.Places {
	t.Helper()
	dir := t.TempDir()
	p := install.Places{Home: filepath.Join(dir, "home"), Project: filepath.Join(dir, "project"), Retake: "retake"}
	for _, d := range []string{p.Home, p.Project} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// events are those of an agent, from what it writes into a new file.
func events(t testing.TB, name string) []string {
	t.Helper()
	c, err := named(t, name).PlanInstall(install.User, house(t), install.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range jsonMember(t, parsed(t, c.After), "hooks").Value.(*hujson.Object).Members {
		names = append(names, m.Name.Value.(hujson.Literal).String())
	}
	if len(names) != c.Added || len(names) < 5 {
		t.Fatalf("%s: %d events, %d added", name, len(names), c.Added)
	}
	return names
}

func parsed(t testing.TB, text []byte) *hujson.Value {
	t.Helper()
	v, err := hujson.Parse(bytes.TrimPrefix(text, []byte(byteOrderMark)))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return &v
}

func jsonMember(t testing.TB, v *hujson.Value, key string) *hujson.Value {
	t.Helper()
	m := v.Find("/" + key)
	if m == nil {
		t.Fatalf("there is no %s", key)
	}
	return m
}

func decode(t reporter, text []byte) (out any) {
	t.Helper()
	text = bytes.TrimPrefix(bytes.Clone(text), []byte(byteOrderMark))
	if len(bytes.TrimSpace(text)) == 0 {
		return map[string]any{}
	}
	plain, err := hujson.Standardize(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	dec := json.NewDecoder(bytes.NewReader(plain))
	dec.UseNumber()
	if err := dec.Decode(&out); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return out
}

func settle(t reporter, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Install and remove gives the bytes back; twice is once; nothing of others is
// lost; and what is there after the install is complete.
func TestEveryShapeComesBack(t *testing.T) {
	t.Parallel()
	if len(shapes) < 60 {
		t.Fatalf("only %d shapes", len(shapes))
	}
	for _, name := range inJSON {
		names := events(t, name)
		for i, s := range shapes {
			sync := name == "claude-code" && i%10 == 0
			t.Run(name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				roundTrip(t, named(t, name), s.of(names, flat(name)), sync)
			})
		}
	}
}

// do applies a change; syncing is slow, so most put only the bytes there.
func do(t reporter, c install.Change, sync bool) {
	t.Helper()
	err := error(nil)
	switch {
	case sync:
		err = c.Apply()
	case c.After == nil:
		err = os.Remove(c.File)
	default:
		err = os.WriteFile(c.File, c.After, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func roundTrip(t testing.TB, a install.Agent, text string, sync bool) {
	t.Helper()
	p := house(t)
	roundTripIn(t, a, p, text, sync)
}

func roundTripAt(t reporter, a install.Agent, p install.Places, text string) {
	t.Helper()
	roundTripIn(t, a, p, text, false)
}

func roundTripIn(t reporter, a install.Agent, p install.Places, text string, sync bool) {
	t.Helper()
	const scope = install.User
	file := a.Status(scope, p).File
	settle(t, file, text)
	if st := a.Status(scope, p); st.Condition != install.Absent || st.Hooks != 0 {
		t.Fatalf("before: %+v", st)
	}

	c, err := a.PlanInstall(scope, p, install.Options{})
	if err != nil {
		t.Fatal(err)
	}
	do(t, c, sync)
	installed := read(t, file)
	if !bytes.Equal(installed, c.After) {
		t.Fatalf("applied is not planned:\n%s\n%s", installed, c.After)
	}
	contains(t, decode(t, installed), decode(t, []byte(text)), "")
	if st := a.Status(scope, p); st.Condition != install.Current || st.Hooks != c.Added || c.Added < 5 {
		t.Fatalf("after: %+v, added %d", st, c.Added)
	}

	again, err := a.PlanInstall(scope, p, install.Options{})
	if err != nil || !again.Empty() || again.Added+again.Removed > 0 {
		t.Fatalf("twice is not once: %v, +%d -%d\n%s", err, again.Added, again.Removed, again.After)
	}

	back, err := a.PlanRemove(scope, p)
	if err != nil {
		t.Fatal(err)
	}
	do(t, back, sync)
	if got := read(t, file); string(got) != text || back.Removed != c.Added {
		t.Fatalf("came back as\n%q, was\n%q; removed %d of %d\ninstalled:\n%s", got, text, back.Removed, c.Added, installed)
	}
	if c, err := a.PlanRemove(scope, p); err != nil || !c.Empty() {
		t.Fatalf("remove twice: %v %q", err, c.After)
	}
}

// contains checks that everything of was is in is; lists may have grown at the end.
func contains(t reporter, is, was any, at string) {
	t.Helper()
	switch was := was.(type) {
	case map[string]any:
		m, _ := is.(map[string]any)
		for k, v := range was {
			contains(t, m[k], v, at+"/"+k)
		}
	case []any:
		l, _ := is.([]any)
		if len(l) < len(was) {
			t.Fatalf("%s became shorter: %v", at, is)
		}
		for i, v := range was {
			contains(t, l[i], v, at)
		}
	default:
		if !reflect.DeepEqual(is, was) {
			t.Fatalf("%s was %v, is %v", at, was, is)
		}
	}
}

func read(t reporter, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What was not there is not there again, with its directories.
func TestNewFileGoesAgain(t *testing.T) {
	t.Parallel()
	for _, a := range install.All() {
		scopes := []install.Scope{install.User, install.Project}
		if a.Name == "docker-agent" {
			scopes = scopes[:1] // in a project there is no file of ours
		}
		for _, scope := range scopes {
			t.Run(a.Name+"/"+string(scope), func(t *testing.T) {
				t.Parallel()
				p := house(t)
				if err := os.Mkdir(filepath.Join(p.Home, "Documents"), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Mkdir(filepath.Join(p.Home, ".config"), 0o755); err != nil {
					t.Fatal(err)
				}
				before := listing(t, p)
				c, err := a.PlanInstall(scope, p, install.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if got := listing(t, p); !slices.Equal(got, before) {
					t.Fatalf("the plan touched %v", got)
				}
				if err := c.Apply(); err != nil {
					t.Fatal(err)
				}
				if st := a.Status(scope, p); st.Condition != install.Current || st.Hooks != c.Added || c.Added < 5 {
					t.Fatalf("%+v, added %d", st, c.Added)
				}
				back, err := a.PlanRemove(scope, p)
				if err != nil {
					t.Fatal(err)
				}
				if err := back.Apply(); err != nil {
					t.Fatal(err)
				}
				if got := listing(t, p); !slices.Equal(got, before) {
					t.Fatalf("left: %v", got)
				}
				if st := a.Status(scope, p); st.Condition != install.Absent {
					t.Fatalf("%+v", st)
				}
			})
		}
	}
}

func listing(t testing.TB, p install.Places) (out []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Dir(p.Home), func(path string, _ os.DirEntry, err error) error {
		out = append(out, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
