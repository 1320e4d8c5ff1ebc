package arch_test

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/retake-dev/retake/internal/arch"
)

const repository = "../.."

func TestWalls(t *testing.T) {
	t.Parallel()
	found, err := arch.Check(os.DirFS(repository), arch.House)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range found {
		t.Error(c)
	}
}

// Exceptions die with their reason.
func TestEveryExceptionIsNeeded(t *testing.T) {
	t.Parallel()
	bare, err := arch.Check(os.DirFS(repository), arch.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	said := func(parts ...string) bool {
		return slices.ContainsFunc(bare, func(c arch.Complaint) bool {
			return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(c.String(), p) })
		})
	}
	for file, a := range arch.House.Calls {
		for _, name := range a.Names {
			if !said(file+":", "."+name+": ") {
				t.Errorf("%s does not use %s: take it out of the exceptions", file, name)
			}
		}
	}
	for file := range arch.House.LongFiles {
		if !said(file+":", "lines, at most") {
			t.Errorf("%s is not long: take it out of the exceptions", file)
		}
	}
	for at := range arch.House.LongFuncs {
		file, name, _ := strings.Cut(at, " ")
		if !said(file+":", "func "+name+" has") {
			t.Errorf("%s is not long: take it out of the exceptions", at)
		}
	}
}

// file is a planted file that imports and then runs body.
func file(name, pkgBody string, imports ...string) fstest.MapFS {
	var b strings.Builder
	b.WriteString("package " + path.Base(path.Dir("x/"+name)) + "\n")
	for _, i := range imports {
		b.WriteString("import " + i + "\n")
	}
	b.WriteString(pkgBody)
	return fstest.MapFS{name: {Data: []byte(b.String())}}
}

func inside(dir string) string { return `"github.com/retake-dev/retake/` + dir + `"` }

func TestPlantedArrowsAreFound(t *testing.T) {
	t.Parallel()
	check(t, map[string]planted{
		"up from a tool": {file("internal/tree/a.go", "", inside("internal/store")),
			"internal/tree/a.go:2: internal/tree (floor 1) imports internal/store (floor 2): arrows point down"},
		"up from the vocabulary": {file("a.go", "", inside("internal/clock")),
			"a.go:2: the vocabulary (floor 0) imports internal/clock (floor 1): arrows point down"},
		"up from the service": {file("internal/service/a.go", "", inside("internal/cli")),
			"internal/service/a.go:2: internal/service (floor 4) imports internal/cli (floor 5): arrows point down"},
		"into the bench": {file("cmd/retake/a.go", "", inside("bench")),
			"cmd/retake/a.go:2: cmd/retake (floor 6) imports bench (floor 7): arrows point down"},
		"from bytes to rows": {file("internal/store/a.go", "", inside("internal/catalog")),
			"internal/store/a.go:2: internal/store imports its neighbour internal/catalog: bytes know nothing of rows, rows nothing of bytes"},
		"from rows to bytes": {file("internal/catalog/sqlcat/a.go", "", inside("internal/store")),
			"internal/catalog/sqlcat/a.go:2: internal/catalog/sqlcat imports its neighbour internal/store: bytes know nothing of rows, rows nothing of bytes"},
		"from worker to worker": {file("internal/restore/a.go", "", inside("internal/story")),
			"internal/restore/a.go:2: internal/restore imports its neighbour internal/story: workers meet in the service"},
		"from face to face": {file("internal/mcp/a.go", "", inside("internal/cli")),
			"internal/mcp/a.go:2: internal/mcp imports its neighbour internal/cli: faces do not know each other"},
		"from a face to the service": {file("internal/cli/a.go", "", inside("internal/service")),
			"internal/cli/a.go:2: face internal/cli imports internal/service: faces see the vocabulary and the tools only"},
		"from a face to a port": {file("internal/hook/codex/a.go", "", inside("internal/store")),
			"internal/hook/codex/a.go:2: face internal/hook/codex imports internal/store: faces see the vocabulary and the tools only"},
		"from a worker to rows": {file("internal/capture/a.go", "", inside("internal/catalog")),
			"internal/capture/a.go:2: worker internal/capture imports internal/catalog: who and when belong to the service"},
		"from the service to a driver": {file("internal/service/a.go", "", inside("internal/store/memstore")),
			"internal/service/a.go:2: internal/service imports the driver internal/store/memstore: speak to the port, assembly picks the driver"},
		"from a worker to a driver": {file("internal/capture/a.go", "", inside("internal/store/kopiastore")),
			"internal/capture/a.go:2: internal/capture imports the driver internal/store/kopiastore: speak to the port, assembly picks the driver"},
		"from nowhere": {file("internal/attic/a.go", ""),
			"internal/attic/a.go: internal/attic stands on no floor: give it one in internal/arch/rules.go, or move it"},
		"under a build tag": {fstest.MapFS{"internal/tree/a_windows.go": {Data: []byte("//go:build never\n\npackage tree\n\nimport " + inside("internal/cli") + "\n")}},
			"internal/tree/a_windows.go:5: internal/tree (floor 1) imports internal/cli (floor 5): arrows point down"},
		"by a dot": {file("internal/tree/a.go", "", `. "time"`),
			"internal/tree/a.go:2: dot import of time: calls must show where they go"},
	})
}

func TestPlantedForeignersAreFound(t *testing.T) {
	t.Parallel()
	cases := map[string]planted{
		"engine": {file("internal/store/a.go", "", `"github.com/kopia/kopia/repo"`),
			"internal/store/a.go:2: internal/store imports github.com/kopia/kopia/repo: its only doors are internal/store/kopiastore, bench, test"},
		"sql": {file("internal/service/a.go", "", `"database/sql"`),
			"internal/service/a.go:2: internal/service imports database/sql: its only doors are internal/migrate, internal/catalog/sqlcat, internal/catalog/sqlite, internal/catalog/postgres, internal/ledger/sqlledger, internal/server, internal/story/xray, internal/demo, test"},
		"sqlite": {file("internal/catalog/sqlcat/a.go", "", `_ "modernc.org/sqlite"`),
			"internal/catalog/sqlcat/a.go:2: internal/catalog/sqlcat imports modernc.org/sqlite: its only doors are internal/catalog/sqlite, internal/story/xray, internal/demo"},
		"children": {file("internal/verify/a.go", "", `"os/exec"`),
			"internal/verify/a.go:2: internal/verify imports os/exec: its only doors are internal/proc, bench, test"},
		"command line": {file("internal/tui/a.go", "", `"github.com/spf13/cobra"`),
			"internal/tui/a.go:2: internal/tui imports github.com/spf13/cobra: its only doors are internal/cli"},
		"kernel": {file("internal/capture/a.go", "", `"golang.org/x/sys/unix"`),
			"internal/capture/a.go:2: internal/capture imports golang.org/x/sys/unix: its only doors are internal/fsx, internal/track, internal/proc, internal/config, bench, test"},
	}
	for _, lib := range []string{"os", "net", "net/http", "database/sql", "os/exec", "log", "log/slog", "io/ioutil", "syscall"} {
		cases["vocabulary "+lib] = planted{file("a.go", "", `"`+lib+`"`),
			"a.go:2: the vocabulary imports " + lib + ": it holds words, not hands"}
	}
	check(t, cases)
}

func TestPlantedCallsAreFound(t *testing.T) {
	t.Parallel()
	cases := map[string]planted{}
	plant := func(dir, imp, because string, names ...string) {
		for _, n := range names {
			call := path.Base(imp) + "." + n
			cases[dir+" "+call] = planted{file(dir+"/a.go", "var _ = "+call+"\n", `"`+imp+`"`),
				dir + "/a.go:3: " + dir + " uses " + call + ": " + because}
		}
	}
	plant("internal/cli", "os", "only internal/config reads the environment", "Getenv", "LookupEnv", "Environ", "UserHomeDir", "UserConfigDir", "UserCacheDir")
	plant("internal/service", "time", "only internal/clock reads the clock", "Now", "Since", "Until")
	plant("internal/cli", "os", "only a main program ends the process", "Exit")
	plant("internal/daemon", "log", "only a main program ends the process", "Fatal", "Fatalf", "Fatalln")
	for _, dir := range []string{"internal/capture", "internal/restore", "internal/store/kopiastore"} {
		plant(dir, "os", "file operations go through internal/fsx here", "Open", "OpenFile", "OpenRoot", "OpenInRoot", "DirFS",
			"Create", "CreateTemp", "ReadFile", "WriteFile", "Rename", "Remove", "RemoveAll", "Mkdir", "MkdirAll", "MkdirTemp", "Lstat", "Stat",
			"ReadDir", "Readlink", "Symlink", "Link", "Truncate", "Chmod", "Chown", "Lchown", "Chtimes")
		plant(dir, "path/filepath", "file operations go through internal/fsx here", "Walk", "WalkDir", "Glob", "EvalSymlinks")
	}
	cases["under another name"] = planted{file("internal/tree/a.go", "var _ = clk.Now()\n", `clk "time"`),
		"internal/tree/a.go:3: internal/tree uses time.Now: only internal/clock reads the clock"}
	check(t, cases)
}

func TestPlantedShapesAreFound(t *testing.T) {
	t.Parallel()
	cases := map[string]planted{
		"long file": {file("internal/tree/a.go", strings.Repeat("\n", 600)),
			"internal/tree/a.go: 601 lines, at most 600: split it by noun"},
		"long test file": {file("internal/tree/a_test.go", strings.Repeat("\n", 600)),
			"internal/tree/a_test.go: 601 lines, at most 600: split it by noun"},
		"long function": {file("internal/tree/a.go", "func long() {\n"+strings.Repeat("\n", 81)+"}\n"),
			"internal/tree/a.go:2: func long has 81 lines, at most 80: let it tell one story"},
	}
	for _, n := range []string{"util", "utils", "common", "helper", "helpers", "manager", "managers", "types", "model", "models"} {
		cases["package "+n] = planted{file("internal/tree/"+n+"/a.go", ""),
			"internal/tree/" + n + `/a.go:1: "` + n + `" says nothing: name the package after what it does`}
	}
	check(t, cases)
}

func TestCleanTreeHasNoComplaint(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{}
	for _, part := range []fstest.MapFS{
		file("a.go", "", `"context"`, `"time"`),
		file("cmd/retake/a.go", "var _ = os.Exit\n", `"os"`, inside("internal/assemble")),
		file("internal/assemble/a.go", "", inside("internal/store/kopiastore"), inside("internal/catalog/sqlite"), inside("internal/service"), inside("internal/config")),
		file("internal/config/a.go", "var _ = os.Getenv\n", `"os"`, `"golang.org/x/sys/unix"`),
		file("internal/cli/a.go", "", `"github.com/spf13/cobra"`, inside("internal/clock"), inside("internal/screen")),
		file("internal/service/a.go", "", inside("internal/capture"), inside("internal/store"), inside("internal/catalog")),
		file("internal/capture/a.go", "var _ = os.ErrNotExist\n", `"os"`, inside("internal/store"), inside("internal/fsx"), inside("internal/tree")),
		file("internal/capture/a_test.go", "var _ = time.Now\n", `"time"`, inside("internal/store/memstore"), inside("internal/catalog")),
		file("internal/store/kopiastore/a.go", "", `"github.com/kopia/kopia/repo"`, inside("internal/store"), inside("internal/clock")),
		file("internal/store/kopiastore/config.go", "var _, _, _ = os.MkdirTemp, os.WriteFile, os.RemoveAll\n", `"os"`),
		file("internal/catalog/sqlite/a.go", "", `"database/sql"`, `_ "modernc.org/sqlite"`, inside("internal/catalog/sqlcat")),
		file("internal/clock/a.go", "var _ = time.Now\n", `"time"`),
		file("internal/proc/a.go", "", `"os/exec"`),
		file("internal/tree/a.go", "func long() {\n"+strings.Repeat("\n", 80)+"}\n"),
		file("internal/tree/b.go", strings.Repeat("\n", 599)),
		file("internal/tree/testdata/a.go", "", `"os/exec"`),
		file("bench/a.go", "var _, _ = time.Now, os.Exit\n", `"time"`, `"os"`, `"github.com/kopia/kopia/repo"`, inside("internal/store/kopiastore")),
	} {
		for name, f := range part {
			tree[name] = f
		}
	}
	found, err := arch.Check(tree, arch.House)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range found {
		t.Error(c)
	}
}

func TestExceptionsSilenceOnlyWhatTheyName(t *testing.T) {
	t.Parallel()
	rules := arch.Rules{
		Calls:     map[string]arch.Allowance{"internal/capture/a.go": {Names: []string{"Open"}, Because: "planted"}},
		LongFiles: map[string]string{"internal/tree/a.go": "planted"},
		LongFuncs: map[string]string{"internal/ignore/a.go long": "planted"},
	}
	long := "func long() {\n" + strings.Repeat("\n", 81) + "}\n"
	for name, c := range map[string]struct {
		planted fstest.MapFS
		want    int
	}{
		"call named":           {file("internal/capture/a.go", "var _ = os.Open\n", `"os"`), 0},
		"another call":         {file("internal/capture/a.go", "var _ = os.Create\n", `"os"`), 1},
		"another file":         {file("internal/capture/b.go", "var _ = os.Open\n", `"os"`), 1},
		"file named":           {file("internal/tree/a.go", strings.Repeat("\n", 700)), 0},
		"another long file":    {file("internal/tree/b.go", strings.Repeat("\n", 700)), 1},
		"func named":           {file("internal/ignore/a.go", long), 0},
		"the func's namesake":  {file("internal/ignore/b.go", long), 1},
		"long inside its file": {file("internal/tree/a.go", long), 1},
	} {
		found, err := arch.Check(c.planted, rules)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) != c.want {
			t.Errorf("%s: %d complaints, want %d: %v", name, len(found), c.want, found)
		}
	}
}

func TestBrokenSourceIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := arch.Check(fstest.MapFS{"a.go": {Data: []byte("pakcage a")}}, arch.House); err == nil {
		t.Error("a file that does not parse passes")
	}
}

type planted struct {
	tree fstest.MapFS
	want string
}

// check wants exactly the one complaint of each planted tree.
func check(t *testing.T, cases map[string]planted) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := arch.Check(c.tree, arch.House)
			if err != nil {
				t.Fatal(err)
			}
			if len(found) != 1 || found[0].String() != c.want {
				t.Errorf("complaints: %v\nwant exactly: %s", found, c.want)
			}
		})
	}
}
