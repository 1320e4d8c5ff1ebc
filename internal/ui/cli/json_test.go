package cli_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake/internal/ui/cli"
)

// A new field needs a text, in the API's description or in ours, and a text needs a field.
func TestJSONPageExplainsEveryField(t *testing.T) {
	t.Parallel()
	texts, own := readTexts(t)
	p := newJSONPage(commands(t), texts)
	for _, w := range p.wants {
		t.Errorf("%s has no text: add it to %s", w, jsonTexts)
	}
	for of, fields := range own {
		for key := range fields {
			if !p.used[of+" "+key] {
				t.Errorf("%s: nothing prints %s %s", jsonTexts, of, key)
			}
		}
	}
	t.Logf("%d commands, %d fields", len(cli.JSONAnswers), p.fields)
}

func TestJSONPageHasEveryCommand(t *testing.T) {
	t.Parallel()
	root := commands(t)
	known := map[string]bool{"": true}
	walkCommands(root, func(cmd *cobra.Command) {
		name := commandName(cmd)
		_, prints := cli.JSONAnswers[name]
		_, none := cli.JSONNone[name]
		if !cmd.Hidden && prints == none {
			t.Errorf("%s belongs in JSONAnswers or in JSONNone", cmd.CommandPath())
		}
		known[name] = true
		for _, a := range cli.JSONAnswers[name] {
			understood(t, ours(wordOr(a.Example, jsonExample(cmd))))
		}
	})
	for name := range cli.JSONAnswers {
		if !known[name] {
			t.Errorf("there is no command %s", name)
		}
	}
	for name := range cli.JSONNone {
		if !known[name] {
			t.Errorf("there is no command %s", name)
		}
	}
}

// An answer that the table has not would be printed by a command whose page has others.
func TestJSONPageHasEveryAnswer(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, typ := range answerTypes() {
		known[typ.Name()] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok && versionedStruct(s) {
				if found++; !known[s.Name.Name] {
					t.Errorf("%s: %s is in no list of JSONAnswers", name, s.Name.Name)
				}
			}
			return true
		})
	}
	if found < 50 {
		t.Errorf("found only %d answers", found)
	}
}

// versionedStruct reports whether a type has the number of the format.
func versionedStruct(s *ast.TypeSpec) bool {
	st, ok := s.Type.(*ast.StructType)
	return ok && len(st.Fields.List) > 0 && st.Fields.List[0].Tag != nil && st.Fields.List[0].Tag.Value == "`json:\"v\"`"
}

func answerTypes() []reflect.Type {
	out := []reflect.Type{reflect.TypeOf(cli.JSONError)}
	for _, all := range cli.JSONAnswers {
		for _, a := range all {
			out = append(out, reflect.TypeOf(a.Value))
		}
	}
	return out
}

// Types that write themselves write all of their fields, and each answer has its number.
func TestJSONIsWhatTypesSay(t *testing.T) {
	t.Parallel()
	p := newJSONPage(commands(t), nil)
	for _, typ := range answerTypes() {
		p.places[typ] = 0
		if !keysOf(reflect.New(typ).Elem())["v"] {
			t.Errorf("%s has no v", typ)
		}
	}
	titles := map[string]reflect.Type{}
	for typ, places := range p.places {
		if _, odd := shapeOf(typ); len(odd) > 0 {
			t.Errorf("%s: %s", typ, strings.Join(odd, ", "))
		}
		if other := titles[jsonTitle(typ)]; places > 1 && other != nil {
			t.Errorf("%s and %s have the same title: see jsonTitles", typ, other)
		} else if places > 1 {
			titles[jsonTitle(typ)] = typ
		}
	}
}

// The person compares all that is printed with the page; here it is printed once.
func TestJSONOfCommandsIsAsThePageSays(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	fail := map[string]int{
		"find no-such-word": 3, "blame --package react": 3, "forget 1": 3, "restore 2": 6, "nonsense": 2, "log --no-such-flag": 2,
	}
	for _, line := range []string{
		"estimate", "init", "", "save two", "save --if-changed", "log", "show", "show 2 --machine", "status", "workspaces",
		"ls 1", "cat 1 a.txt", "find two", "find no-such-word", "blame a.txt", "why a.txt:1", "blame --package react",
		"pin 1 first", "unpin first", "diff", "diff 1 2", "diff 1 2 --env", "restore 2", "restore 1 --plan",
		"restore 1 --yes --accept changed", "undo --plan", "undo --yes --accept changed", "tasks", "effects", "pause", "unpause",
		"config", "config keep-within", "space", "space --plan", "space --free", "scrub", "doctor", "rebuild", "forks",
		"purge --plan -- a.txt", "purge --yes -- a.txt", "forget 1 --yes", "forget 1", "version", "help", "deinit --yes",
		"nonsense", "log --no-such-flag",
	} {
		p.clock.Advance(time.Minute)
		p.write("a.txt", line+"\n")
		args := typed(line)
		at := len(args)
		if dash := slices.Index(args, "--"); dash >= 0 {
			at = dash
		}
		if said := p.types("", slices.Insert(args, at, "--json")...); said.code != fail[line] || said.out == "" || said.err != "" {
			t.Errorf("%s: code %d, out %q, err %q", line, said.code, said.out, said.err)
		}
	}
}
