package arch

const module = "github.com/retake-dev/retake"

// folder is a directory with all packages below it, and the one rule for them.
type folder struct {
	dir    string
	holds  string   // what is in it; complaints say it
	sees   []string // what it may import besides itself
	apart  string   // why its packages do not import each other; "": they may
	shared []string // the packages that the others may import all the same
	layers []string // its packages from the ground up: each may import those before it; nil: any
}

// folders go from the ground up: arrows point up this list, never down.
var folders = []folder{
	{dir: "", holds: "the vocabulary"},
	{dir: "internal/pure", holds: "computing without I/O", sees: []string{""}},
	{dir: "client", holds: "the Go SDK", sees: []string{"", "internal/pure/wire"}}, // the names on the wire, which the server has, too
	{dir: "internal/platform", holds: "files, processes, the clock and the environment", sees: []string{"", "internal/pure"}},
	{dir: "internal/view", holds: "what is shown of values, in words", sees: []string{"", "internal/pure"}},
	{dir: "internal/storage", holds: "the ports of bytes and rows, and their drivers", sees: []string{"", "internal/pure", "internal/platform"},
		apart: "bytes know nothing of rows, rows nothing of bytes", shared: []string{"internal/storage/migrate"}},
	{dir: "internal/engine", holds: "what reads, writes and keeps files", sees: []string{"", "internal/pure", "internal/platform", "internal/storage/store"},
		apart: "workers meet in the service"},
	{dir: "internal/explain", holds: "what changed, in words", sees: []string{"", "internal/pure", "internal/platform"},
		apart: "workers meet in the service"},
	{dir: "internal/agents", holds: "what agents say to us and we to them", sees: []string{"", "internal/pure", "internal/platform", "internal/explain/risk"}},
	{dir: "internal/service", holds: "the use cases", sees: []string{"", "internal/pure", "internal/platform", "internal/storage", "internal/engine", "internal/explain", "internal/agents", "internal/view"},
		layers: []string{"workspace", "history", "checkpoint", "rescue", "insight", "agentstate", "rewind", "carry", "maintenance", "purge"}},
	{dir: "internal/ui", holds: "decode, one call of the Service, draw", sees: []string{"", "internal/pure", "internal/platform", "internal/agents", "internal/engine/archive", "internal/view"},
		apart: "faces do not know each other", shared: []string{"internal/ui/term", "internal/ui/demo"}},
	{dir: "internal/assembly", holds: "choose drivers, start, stay, exit", sees: []string{"", "client", "internal"}},
	{dir: "internal/server", holds: "many tenants, one API", sees: []string{"", "client", "internal"}},
	{dir: "cmd", holds: "the programs", sees: []string{"", "client", "internal"}},
	{dir: "bench", holds: "measures from outside", sees: []string{"", "client", "internal", "cmd", "test"}},
	{dir: "test", holds: "checks from outside", sees: []string{"", "client", "internal", "cmd", "bench"}},
	{dir: "internal/arch", holds: "the rules", sees: nil},
}

// ports have their drivers below them, and only who assembles picks one.
var (
	ports     = []string{"internal/storage/store", "internal/storage/store/replica", "internal/storage/catalog", "internal/storage/serverdb"}
	assembler = []string{"internal/assembly", "internal/server", "cmd", "bench", "test"}
)

// hands are what the vocabulary may not touch.
var hands = []string{"os", "net", "net/http", "database/sql", "os/exec", "log", "log/slog", "io/ioutil", "syscall"}

// doors are the only rooms in which a foreign package may be seen, so that its
// types never become ours.
var doors = []struct {
	lib string
	in  []string
}{
	{"github.com/studio-b12/gowebdav", []string{"internal/storage/store/replica/places"}},                                    // makes the directory of a copy: the engine's use of it makes none
	{"github.com/minio/minio-go", []string{"internal/storage/store/kopia", "internal/storage/store/replica/places", "test"}}, // says whose a bucket is: the engine's use of it cannot put under a condition
	{"github.com/kopia/kopia", []string{"internal/storage/store/kopia", "internal/storage/store/replica/places", "bench", "test"}},
	{"database/sql", []string{"internal/storage/migrate", "internal/storage/catalog/sqlcatalog", "internal/storage/catalog/sqlite", "internal/storage/catalog/postgres", "internal/storage/serverdb/sqldb", "internal/server", "internal/explain/xray", "internal/ui/demo", "test"}},
	{"github.com/jackc/pgx/v5", []string{"internal/storage/catalog/postgres", "test"}},
	{"github.com/robfig/cron/v3", []string{"internal/pure/cron"}},
	{"github.com/prometheus/client_golang", []string{"internal/server/metrics"}},
	{"go.opentelemetry.io/otel", []string{"internal/server/tracing"}},
	{"modernc.org/sqlite", []string{"internal/storage/catalog/sqlite", "internal/explain/xray"}},
	{"os/exec", []string{"internal/platform/proc", "bench", "test"}},
	{"github.com/danielgtaylor/huma/v2", []string{"internal/ui/httpapi"}},
	{"github.com/spf13/cobra", []string{"internal/ui/cli"}},
	{"github.com/clipperhouse/displaywidth", []string{"internal/pure/termtext"}},
	{"charm.land/bubbletea/v2", []string{"internal/ui/tui"}},
	{"github.com/charmbracelet/colorprofile", []string{"internal/ui/tui"}},
	{"github.com/BurntSushi/toml", []string{"internal/explain/xray"}},
	{"go.yaml.in/yaml/v3", []string{"internal/explain/xray"}},
	{"golang.org/x/mod", []string{"internal/explain/xray", "internal/assembly/daemonctl"}},
	{"github.com/hanwen/go-fuse/v2", []string{"internal/engine/mount"}},
	{"znkr.io/diff", []string{"internal/pure/merge"}},
	{"mvdan.cc/sh/v3", []string{"internal/explain/risk"}},
	{"github.com/tailscale/hujson", []string{"internal/agents/install"}},
	{"github.com/modelcontextprotocol/go-sdk", []string{"internal/agents/mcp", "test"}},
	{"github.com/google/jsonschema-go", []string{"test"}},
	{"golang.org/x/sys/unix", []string{"internal/platform/fsx", "internal/platform/track", "internal/platform/proc", "internal/platform/config", "bench", "test"}},
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
var careful = []string{"internal/engine/capture", "internal/engine/restore", "internal/engine/fork", "internal/storage/store/kopia"}

const (
	envBecause  = "only internal/platform/config reads the environment"
	timeBecause = "only internal/platform/clock reads the clock"
	exitBecause = "only a main program ends the process"
	fileBecause = "file operations go through internal/platform/fsx here"
)

var callRules = []callRule{
	{pkg: "os", names: []string{"Getenv", "LookupEnv", "Environ", "UserHomeDir", "UserConfigDir", "UserCacheDir"}, only: []string{"internal/platform/config"}, because: envBecause},
	{pkg: "time", names: []string{"Now", "Since", "Until"}, only: []string{"internal/platform/clock", "bench", "test"}, because: timeBecause},
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
	maxFile    = 600
	maxFunc    = 80
	maxMethods = 60 // of one type
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
		"internal/storage/store/kopia/config.go": {
			Names:   []string{"MkdirTemp", "WriteFile", "RemoveAll"},
			Because: "the engine wants its configuration as a file of its own",
		},
	},
}
