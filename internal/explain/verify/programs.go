package verify

// preparing are commands that only prepare or print.
var preparing = []string{
	"cd", "pushd", "popd", "export", "set", "unset", "source", ".", "eval", "trap", "ulimit", "umask", "alias", "echo", "printf", "true", ":", "exit",
	"mkdir", "rm", "cp", "sleep", "wait", "nvm", "if", "then", "fi", "do", "done",
}

var shells = []string{"sh", "bash", "dash", "zsh", "ash", "ksh", "fish"}

// wrapper is a program that only runs another one, maybe after a verb. Values are those
// of its options that take the next word; operands are its own words before the program.
type wrapper struct {
	program  string
	verb     string
	values   []string
	operands int
}

var wrappers = []wrapper{
	{program: "env", values: []string{"-u", "--unset", "-C", "--chdir"}},
	{program: "sudo", values: []string{"-u", "--user", "-g", "--group"}},
	{program: "time"}, {program: "command"}, {program: "exec"}, {program: "nohup"}, {program: "setsid"}, {program: "caffeinate"},
	{program: "xvfb-run", values: []string{"-s", "--server-args", "-n"}},
	{program: "nice", values: []string{"-n", "--adjustment"}},
	{program: "ionice", values: []string{"-c", "-n"}},
	{program: "timeout", values: []string{"-s", "--signal", "-k", "--kill-after"}, operands: 1},
	{program: "stdbuf", values: []string{"-i", "-o", "-e"}},
	{program: "cross-env"}, {program: "dotenv", values: []string{"-e", "-f"}},
	{program: "npx", values: []string{"-p", "--package"}}, {program: "pnpx"}, {program: "bunx"}, {program: "uvx", values: []string{"--with", "--from", "-p", "--python"}},
	{program: "npm", verb: "exec", values: []string{"-p", "--package", "--prefix", "-w", "--workspace"}},
	{program: "pnpm", verb: "exec", values: []string{"--filter", "-F", "-C", "--dir"}},
	{program: "pnpm", verb: "dlx"}, {program: "yarn", verb: "dlx"}, {program: "yarn", verb: "exec"}, {program: "bun", verb: "x"},
	{program: "uv", verb: "run", values: []string{"--with", "--extra", "--group", "-p", "--python", "--project", "--directory", "--package"}},
	{program: "poetry", verb: "run", values: []string{"-C", "-P"}}, {program: "pipenv", verb: "run"}, {program: "pdm", verb: "run"},
	{program: "rye", verb: "run"}, {program: "hatch", verb: "run"}, {program: "bundle", verb: "exec"},
	{program: "nix", verb: "develop"}, {program: "mise", verb: "exec"}, {program: "direnv", verb: "exec", operands: 1},
}

// runner is a program that does many things, and is named by which. Values are those of
// its options that take the next word, verbs are words that say nothing of what runs.
type runner struct {
	values    []string
	verbs     []string
	short     map[string]string
	goals     bool // a list of them; the last one is what it is for
	workspace bool // "workspace NAME" stands before the rest
}

var node = map[string]string{"t": "test", "tst": "test"}

var runners = map[string]runner{
	"npm":       {values: []string{"--prefix", "-w", "--workspace", "-C"}, verbs: []string{"run", "run-script", "rum", "urn"}, short: node},
	"pnpm":      {values: []string{"--filter", "-F", "-C", "--dir"}, verbs: []string{"run", "run-script"}, short: node},
	"yarn":      {values: []string{"--cwd"}, verbs: []string{"run"}, short: node, workspace: true},
	"bun":       {values: []string{"--cwd", "--filter"}, verbs: []string{"run"}},
	"deno":      {values: []string{"-c", "--config"}, verbs: []string{"task", "run"}},
	"turbo":     {values: []string{"--filter"}, verbs: []string{"run"}},
	"nx":        {values: []string{"-t", "--target", "-p", "--projects"}, verbs: []string{"run"}},
	"lerna":     {values: []string{"--scope"}, verbs: []string{"run"}},
	"go":        {values: []string{"-C"}, verbs: []string{"tool"}},
	"cargo":     {values: []string{"--manifest-path", "-p", "--package", "--config"}},
	"make":      {values: []string{"-C", "-f", "-I", "--directory", "--file"}, goals: true},
	"gmake":     {values: []string{"-C", "-f", "-I"}, goals: true},
	"ninja":     {values: []string{"-C", "-f", "-j"}, goals: true},
	"just":      {values: []string{"-f", "--justfile", "-d"}},
	"task":      {values: []string{"-d", "-t"}},
	"mage":      {values: []string{"-d", "-w"}},
	"rake":      {values: []string{"-f"}},
	"mvn":       {values: []string{"-f", "-pl", "-P"}, goals: true},
	"mvnw":      {values: []string{"-f", "-pl", "-P"}, goals: true},
	"gradle":    {values: []string{"-p", "-b", "-x", "--tests"}, goals: true},
	"gradlew":   {values: []string{"-p", "-b", "-x", "--tests"}, goals: true},
	"sbt":       {},
	"dotnet":    {},
	"swift":     {values: []string{"--package-path"}},
	"zig":       {verbs: []string{"build"}},
	"mix":       {},
	"dart":      {},
	"flutter":   {},
	"bazel":     {},
	"rails":     {},
	"artisan":   {},
	"manage.py": {values: []string{"--settings"}},
	"composer":  {values: []string{"-d"}, verbs: []string{"run", "run-script"}},
	"cmake":     {},
	"meson":     {values: []string{"-C"}},
	"terraform": {},
}

// runtime is a program that runs a script. Module is the option that names one instead,
// text are options that give the program itself, values those that take the next word.
type runtime struct {
	module string
	text   []string
	values []string
}

var python = runtime{module: "-m", text: []string{"-c"}, values: []string{"-W", "-X"}}

var javascript = runtime{text: []string{"-e", "--eval", "-p"}, values: []string{"-r", "--require", "--import", "--loader", "--experimental-loader"}}

// runtimes by their names without versions.
var runtimes = map[string]runtime{
	"python": python, "pypy": python, "py": python,
	"node": javascript, "tsx": javascript, "ts-node": javascript,
	"ruby": {text: []string{"-e"}, values: []string{"-I", "-r"}},
	"perl": {text: []string{"-e", "-E"}, values: []string{"-I"}},
	"php":  {text: []string{"-r"}, values: []string{"-d", "-c"}},
	"java": {module: "-jar", values: []string{"-cp", "-classpath"}},
}
