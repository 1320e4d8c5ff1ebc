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
		"up from what is pure": {file("internal/pure/tree/a.go", "", inside("internal/storage/store")),
			"internal/pure/tree/a.go:2: internal/pure/tree imports internal/storage/store: internal/pure (computing without I/O) sees the vocabulary"},
		"up from the vocabulary": {file("a.go", "", inside("internal/platform/clock")),
			"a.go:2: the vocabulary imports internal/platform/clock: the vocabulary (the vocabulary) sees nothing of ours"},
		"up from the service": {file("internal/service/a.go", "", inside("internal/ui/cli")),
			"internal/service/a.go:2: internal/service imports internal/ui/cli: internal/service (the use cases) sees the vocabulary, internal/pure, internal/platform, internal/storage, internal/engine, internal/explain, internal/agents, internal/view"},
		"up from assembly": {file("internal/assembly/daemon/a.go", "", inside("internal/server/tenant")),
			"internal/assembly/daemon/a.go:2: internal/assembly/daemon imports internal/server/tenant: internal/assembly (choose drivers, start, stay, exit) sees the vocabulary, client, internal"},
		"into the bench": {file("cmd/retake/a.go", "", inside("bench")),
			"cmd/retake/a.go:2: cmd/retake imports bench: cmd (the programs) sees the vocabulary, client, internal"},
		"from the SDK to the inside": {file("client/a.go", "", inside("internal/pure/tree")),
			"client/a.go:2: client imports internal/pure/tree: client (the Go SDK) sees the vocabulary, internal/pure/wire"},
		"from bytes to rows": {file("internal/storage/store/a.go", "", inside("internal/storage/catalog")),
			"internal/storage/store/a.go:2: internal/storage/store imports its neighbour internal/storage/catalog: bytes know nothing of rows, rows nothing of bytes"},
		"from rows to bytes": {file("internal/storage/catalog/sqlcatalog/a.go", "", inside("internal/storage/store")),
			"internal/storage/catalog/sqlcatalog/a.go:2: internal/storage/catalog/sqlcatalog imports its neighbour internal/storage/store: bytes know nothing of rows, rows nothing of bytes"},
		"from worker to worker": {file("internal/engine/restore/a.go", "", inside("internal/engine/fork")),
			"internal/engine/restore/a.go:2: internal/engine/restore imports its neighbour internal/engine/fork: workers meet in the service"},
		"up within the service": {file("internal/service/history/a.go", "", inside("internal/service/rewind")),
			"internal/service/history/a.go:2: internal/service/history imports internal/service/rewind, which is above it"},
		"from face to face": {file("internal/ui/httpapi/a.go", "", inside("internal/ui/cli")),
			"internal/ui/httpapi/a.go:2: internal/ui/httpapi imports its neighbour internal/ui/cli: faces do not know each other"},
		"from a face to the service": {file("internal/ui/cli/a.go", "", inside("internal/service")),
			"internal/ui/cli/a.go:2: internal/ui/cli imports internal/service: internal/ui (decode, one call of the Service, draw) sees the vocabulary, internal/pure, internal/platform, internal/agents, internal/engine/archive, internal/view"},
		"from an agent to a port": {file("internal/agents/hook/codex/a.go", "", inside("internal/storage/store")),
			"internal/agents/hook/codex/a.go:2: internal/agents/hook/codex imports internal/storage/store: internal/agents (what agents say to us and we to them) sees the vocabulary, internal/pure, internal/platform, internal/explain/risk"},
		"from a worker to rows": {file("internal/engine/capture/a.go", "", inside("internal/storage/catalog")),
			"internal/engine/capture/a.go:2: internal/engine/capture imports internal/storage/catalog: internal/engine (what reads, writes and keeps files) sees the vocabulary, internal/pure, internal/platform, internal/storage/store"},
		"from the service to a driver": {file("internal/service/a.go", "", inside("internal/storage/store/kopia")),
			"internal/service/a.go:2: internal/service imports the driver internal/storage/store/kopia: speak to the port, assembly picks the driver"},
		"from a worker to a driver": {file("internal/engine/capture/a.go", "", inside("internal/storage/store/kopia")),
			"internal/engine/capture/a.go:2: internal/engine/capture imports the driver internal/storage/store/kopia: speak to the port, assembly picks the driver"},
		"to a driver for tests": {file("internal/service/rewind/a.go", "", inside("internal/platform/fsx/fsxtest")),
			"internal/service/rewind/a.go:2: internal/service/rewind imports internal/platform/fsx/fsxtest, which is for tests: what a user gets holds no test code"},
		"to a suite, from a program": {file("cmd/retake/a.go", "", inside("internal/storage/store/storetest")),
			"cmd/retake/a.go:2: cmd/retake imports internal/storage/store/storetest, which is for tests: what a user gets holds no test code"},
		"from nowhere": {file("internal/attic/a.go", ""),
			"internal/attic/a.go: internal/attic is in no folder of internal/arch/rules.go: move it, or give the folder a rule"},
		"under a build tag": {fstest.MapFS{"internal/pure/tree/a_windows.go": {Data: []byte("//go:build never\n\npackage tree\n\nimport " + inside("internal/ui/cli") + "\n")}},
			"internal/pure/tree/a_windows.go:5: internal/pure/tree imports internal/ui/cli: internal/pure (computing without I/O) sees the vocabulary"},
		"by a dot": {file("internal/pure/tree/a.go", "", `. "time"`),
			"internal/pure/tree/a.go:2: dot import of time: calls must show where they go"},
	})
}

func TestPlantedForeignersAreFound(t *testing.T) {
	t.Parallel()
	cases := map[string]planted{
		"engine": {file("internal/storage/store/a.go", "", `"github.com/kopia/kopia/repo"`),
			"internal/storage/store/a.go:2: internal/storage/store imports github.com/kopia/kopia/repo: its only doors are internal/storage/store/kopia, internal/storage/store/replica/places, bench, test"},
		"sql": {file("internal/service/a.go", "", `"database/sql"`),
			"internal/service/a.go:2: internal/service imports database/sql: its only doors are internal/storage/migrate, internal/storage/catalog/sqlcatalog, internal/storage/catalog/sqlite, internal/storage/catalog/postgres, internal/storage/serverdb/sqldb, internal/server, internal/explain/xray, internal/ui/demo, test"},
		"sqlite": {file("internal/storage/catalog/sqlcatalog/a.go", "", `_ "modernc.org/sqlite"`),
			"internal/storage/catalog/sqlcatalog/a.go:2: internal/storage/catalog/sqlcatalog imports modernc.org/sqlite: its only doors are internal/storage/catalog/sqlite, internal/explain/xray"},
		"children": {file("internal/explain/verify/a.go", "", `"os/exec"`),
			"internal/explain/verify/a.go:2: internal/explain/verify imports os/exec: its only doors are internal/platform/proc, bench, test"},
		"command line": {file("internal/ui/tui/a.go", "", `"github.com/spf13/cobra"`),
			"internal/ui/tui/a.go:2: internal/ui/tui imports github.com/spf13/cobra: its only doors are internal/ui/cli"},
		"kernel": {file("internal/engine/capture/a.go", "", `"golang.org/x/sys/unix"`),
			"internal/engine/capture/a.go:2: internal/engine/capture imports golang.org/x/sys/unix: its only doors are internal/platform/fsx, internal/platform/track, internal/platform/proc, internal/platform/config, bench, test"},
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
	plant("internal/ui/cli", "os", "only internal/platform/config reads the environment", "Getenv", "LookupEnv", "Environ", "UserHomeDir", "UserConfigDir", "UserCacheDir")
	plant("internal/service", "time", "only internal/platform/clock reads the clock", "Now", "Since", "Until")
	plant("internal/ui/cli", "os", "only a main program ends the process", "Exit")
	plant("internal/assembly/daemon", "log", "only a main program ends the process", "Fatal", "Fatalf", "Fatalln")
	for _, dir := range []string{"internal/engine/capture", "internal/engine/restore", "internal/storage/store/kopia"} {
		plant(dir, "os", "file operations go through internal/platform/fsx here", "Open", "OpenFile", "OpenRoot", "OpenInRoot", "DirFS",
			"Create", "CreateTemp", "ReadFile", "WriteFile", "Rename", "Remove", "RemoveAll", "Mkdir", "MkdirAll", "MkdirTemp", "Lstat", "Stat",
			"ReadDir", "Readlink", "Symlink", "Link", "Truncate", "Chmod", "Chown", "Lchown", "Chtimes")
		plant(dir, "path/filepath", "file operations go through internal/platform/fsx here", "Walk", "WalkDir", "Glob", "EvalSymlinks")
	}
	cases["under another name"] = planted{file("internal/pure/tree/a.go", "var _ = clk.Now()\n", `clk "time"`),
		"internal/pure/tree/a.go:3: internal/pure/tree uses time.Now: only internal/platform/clock reads the clock"}
	check(t, cases)
}

func TestPlantedShapesAreFound(t *testing.T) {
	t.Parallel()
	cases := map[string]planted{
		"long file": {file("internal/pure/tree/a.go", strings.Repeat("\n", 600)),
			"internal/pure/tree/a.go: 601 lines, at most 600: split it by noun"},
		"long test file": {file("internal/pure/tree/a_test.go", strings.Repeat("\n", 600)),
			"internal/pure/tree/a_test.go: 601 lines, at most 600: split it by noun"},
		"long function": {file("internal/pure/tree/a.go", "func long() {\n"+strings.Repeat("\n", 81)+"}\n"),
			"internal/pure/tree/a.go:2: func long has 81 lines, at most 80: let it tell one story"},
		"large type": {file("internal/pure/tree/a.go", "type large int\n"+strings.Repeat("func (large) _() {}\n", 61)),
			"internal/pure/tree/a.go:63: large has more than 60 methods: give a part of them to a type of their own, or make them functions"},
	}
	for _, n := range []string{"util", "utils", "common", "helper", "helpers", "manager", "managers", "types", "model", "models"} {
		cases["package "+n] = planted{file("internal/pure/tree/"+n+"/a.go", ""),
			"internal/pure/tree/" + n + `/a.go:1: "` + n + `" says nothing: name the package after what it does`}
	}
	check(t, cases)
}

func TestCleanTreeHasNoComplaint(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{}
	for _, part := range []fstest.MapFS{
		file("a.go", "", `"context"`, `"time"`),
		file("cmd/retake/a.go", "var _ = os.Exit\n", `"os"`, inside("internal/assembly/assemble")),
		file("internal/assembly/assemble/a.go", "", inside("internal/storage/store/kopia"), inside("internal/storage/catalog/sqlite"), inside("internal/service"), inside("internal/platform/config")),
		file("internal/platform/config/a.go", "var _ = os.Getenv\n", `"os"`, `"golang.org/x/sys/unix"`),
		file("internal/ui/cli/a.go", "", `"github.com/spf13/cobra"`, inside("internal/platform/clock"), inside("internal/pure/termtext")),
		file("internal/service/a.go", "", inside("internal/engine/capture"), inside("internal/storage/store"), inside("internal/storage/catalog")),
		file("internal/engine/capture/a.go", "var _ = os.ErrNotExist\n", `"os"`, inside("internal/storage/store"), inside("internal/platform/fsx"), inside("internal/pure/tree")),
		file("internal/engine/capture/a_test.go", "var _ = time.Now\n", `"time"`, inside("internal/storage/store/memorytest"), inside("internal/storage/catalog")),
		file("internal/storage/store/kopia/a.go", "", `"github.com/kopia/kopia/repo"`, inside("internal/storage/store"), inside("internal/platform/clock")),
		file("internal/storage/store/kopia/config.go", "var _, _, _ = os.MkdirTemp, os.WriteFile, os.RemoveAll\n", `"os"`),
		file("internal/storage/catalog/sqlite/a.go", "", `"database/sql"`, `_ "modernc.org/sqlite"`, inside("internal/storage/catalog/sqlcatalog")),
		file("internal/platform/clock/a.go", "var _ = time.Now\n", `"time"`),
		file("internal/platform/proc/a.go", "", `"os/exec"`),
		file("internal/pure/tree/a.go", "func long() {\n"+strings.Repeat("\n", 80)+"}\n"),
		file("internal/pure/tree/b.go", strings.Repeat("\n", 599)),
		file("internal/pure/ignore/b.go", "type large int\n"+strings.Repeat("func (large) _() {}\n", 60)),
		file("internal/pure/tree/testdata/a.go", "", `"os/exec"`),
		file("bench/a.go", "var _, _ = time.Now, os.Exit\n", `"time"`, `"os"`, `"github.com/kopia/kopia/repo"`, inside("internal/storage/store/kopia")),
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
		Calls:     map[string]arch.Allowance{"internal/engine/capture/a.go": {Names: []string{"Open"}, Because: "planted"}},
		LongFiles: map[string]string{"internal/pure/tree/a.go": "planted"},
		LongFuncs: map[string]string{"internal/pure/ignore/a.go long": "planted"},
	}
	long := "func long() {\n" + strings.Repeat("\n", 81) + "}\n"
	for name, c := range map[string]struct {
		planted fstest.MapFS
		want    int
	}{
		"call named":           {file("internal/engine/capture/a.go", "var _ = os.Open\n", `"os"`), 0},
		"another call":         {file("internal/engine/capture/a.go", "var _ = os.Create\n", `"os"`), 1},
		"another file":         {file("internal/engine/capture/b.go", "var _ = os.Open\n", `"os"`), 1},
		"file named":           {file("internal/pure/tree/a.go", strings.Repeat("\n", 700)), 0},
		"another long file":    {file("internal/pure/tree/b.go", strings.Repeat("\n", 700)), 1},
		"func named":           {file("internal/pure/ignore/a.go", long), 0},
		"the func's namesake":  {file("internal/pure/ignore/b.go", long), 1},
		"long inside its file": {file("internal/pure/tree/a.go", long), 1},
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
