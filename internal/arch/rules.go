package arch

const module = "github.com/retake-dev/retake"

// floors lists the rooms from the ground up. A room is a directory with all
// below it; it may import what stands lower, never what stands higher.
var floors = [][]string{
	{""}, // the vocabulary
	{"client", "internal/tree", "internal/ignore", "internal/fsx", "internal/secret", "internal/proc", "internal/clock", "internal/screen", "internal/picture", "internal/track", "internal/merge", "internal/mount", "internal/risk", "internal/talk", "internal/agents", "internal/mark", "internal/spool", "internal/theme", "internal/pattern", "internal/bisect", "internal/probe", "internal/token", "internal/seal", "internal/webhook", "internal/archive", "internal/cadence", "internal/migrate", "internal/demo"},
	{"internal/store", catalogRoom, "internal/ledger"},
	{"internal/capture", "internal/restore", "internal/story", "internal/verify", "internal/retain", "internal/session", "internal/fork", "internal/backup"},
	{"internal/service"},
	{"internal/cli", "internal/tui", "internal/httpapi", "internal/mcp", "internal/hook", "internal/web"},
	{"internal/config", "internal/assemble", "internal/daemon", "internal/server", "cmd"},
	{"bench", "test", "internal/arch"}, // measure, torture and check the house from outside
}

// Floors with rules of their own.
const (
	toolFloor     = 1
	portFloor     = 2 // sub-packages of a port are its drivers
	workerFloor   = 3
	faceFloor     = 5
	assemblyFloor = 6

	catalogRoom = "internal/catalog"
)

// deaf floors: neighbours do not import each other, they meet higher up.
var deaf = map[int]string{
	portFloor:   "bytes know nothing of rows, rows nothing of bytes",
	workerFloor: "workers meet in the service",
	faceFloor:   "faces do not know each other",
}

// hands are what the vocabulary may not touch.
var hands = []string{"os", "net", "net/http", "database/sql", "os/exec", "log", "log/slog", "io/ioutil", "syscall"}

// doors are the only rooms in which a foreign package may be seen, so that its
// types never become ours.
var doors = []struct {
	lib string
	in  []string
}{
	{"github.com/minio/minio-go", []string{"internal/store/kopiastore", "test"}}, // says whose a bucket is: the engine's use of it cannot put under a condition
	{"github.com/kopia/kopia", []string{"internal/store/kopiastore", "bench", "test"}},
	{"database/sql", []string{"internal/migrate", "internal/catalog/sqlcat", "internal/catalog/sqlite", "internal/catalog/postgres", "internal/ledger/sqlledger", "internal/server", "internal/story/xray", "internal/demo", "test"}},
	{"github.com/jackc/pgx/v5", []string{"internal/catalog/postgres", "test"}},
	{"github.com/robfig/cron/v3", []string{"internal/cadence"}},
	{"github.com/prometheus/client_golang", []string{"internal/server/meter"}},
	{"go.opentelemetry.io/otel", []string{"internal/server/trace"}},
	{"modernc.org/sqlite", []string{"internal/catalog/sqlite", "internal/story/xray", "internal/demo"}},
	{"os/exec", []string{"internal/proc", "bench", "test"}},
	{"github.com/danielgtaylor/huma/v2", []string{"internal/httpapi"}},
	{"github.com/spf13/cobra", []string{"internal/cli"}},
	{"github.com/clipperhouse/displaywidth", []string{"internal/screen"}},
	{"charm.land/bubbletea/v2", []string{"internal/tui"}},
	{"github.com/charmbracelet/colorprofile", []string{"internal/tui"}},
	{"github.com/BurntSushi/toml", []string{"internal/story/xray"}},
	{"gopkg.in/yaml.v3", []string{"internal/story/xray"}},
	{"golang.org/x/mod", []string{"internal/story/xray"}},
	{"github.com/hanwen/go-fuse/v2", []string{"internal/mount"}},
	{"znkr.io/diff", []string{"internal/merge"}},
	{"mvdan.cc/sh/v3", []string{"internal/risk"}},
	{"github.com/tailscale/hujson", []string{"internal/agents"}},
	{"github.com/modelcontextprotocol/go-sdk", []string{"internal/mcp", "test"}},
	{"golang.org/x/sys/unix", []string{"internal/fsx", "internal/track", "internal/proc", "internal/config", "bench", "test"}},
}

// callRule says where names of a package may be used: only in some rooms, or
// everywhere but in some.
type callRule struct {
	pkg     string
	names   []string
	only    []string
	not     []string
	because string
}

func (r callRule) bars(dir string) bool {
	if r.only != nil {
		return !underAny(dir, r.only)
	}
	return underAny(dir, r.not)
}

// careful rooms touch the user's files or the store's: every file operation
// there goes through the seam, where it can be made to fail.
var careful = []string{"internal/capture", "internal/restore", "internal/fork", "internal/store/kopiastore"}

const (
	envBecause  = "only internal/config reads the environment"
	timeBecause = "only internal/clock reads the clock"
	exitBecause = "only a main program ends the process"
	fileBecause = "file operations go through internal/fsx here"
)

var callRules = []callRule{
	{pkg: "os", names: []string{"Getenv", "LookupEnv", "Environ", "UserHomeDir", "UserConfigDir", "UserCacheDir"}, only: []string{"internal/config"}, because: envBecause},
	{pkg: "time", names: []string{"Now", "Since", "Until"}, only: []string{"internal/clock", "bench", "test"}, because: timeBecause},
	{pkg: "os", names: []string{"Exit"}, only: []string{"cmd", "bench", "test"}, because: exitBecause},
	{pkg: "log", names: []string{"Fatal", "Fatalf", "Fatalln"}, only: []string{"cmd", "bench", "test"}, because: exitBecause},
	{pkg: "os", names: []string{
		"Open", "OpenFile", "OpenRoot", "OpenInRoot", "DirFS", "Create", "CreateTemp", "ReadFile", "WriteFile", "Rename", "Remove", "RemoveAll",
		"Mkdir", "MkdirAll", "MkdirTemp", "Lstat", "Stat", "ReadDir", "Readlink", "Symlink", "Link", "Truncate", "Chmod", "Chown", "Lchown", "Chtimes",
	}, not: careful, because: fileBecause},
	{pkg: "path/filepath", names: []string{"Walk", "WalkDir", "Glob", "EvalSymlinks"}, not: careful, because: fileBecause},
}

// emptyNames are package names that say nothing.
var emptyNames = []string{"util", "utils", "common", "helper", "helpers", "manager", "managers", "types", "model", "models"}

// Walls of length. Most files and functions are far below.
const (
	maxFile = 600
	maxFunc = 80
)

// Rules are the exceptions, each with its reason.
type Rules struct {
	Calls     map[string]Allowance // by file
	LongFiles map[string]string    // file to reason
	LongFuncs map[string]string    // "file func" to reason
}

// Allowance lets one file use names that its room may not.
type Allowance struct {
	Names   []string
	Because string
}

// House is the set of exceptions of this repository.
var House = Rules{
	Calls: map[string]Allowance{
		"internal/store/kopiastore/config.go": {
			Names:   []string{"MkdirTemp", "WriteFile", "RemoveAll"},
			Because: "the engine wants its configuration as a file of its own",
		},
	},
}
