package verify

// preparingCommands only prepare something or print.
var preparingCommands = []string{
	"cd", "pushd", "popd", "export", "set", "unset", "source", ".", "eval", "trap", "ulimit", "umask", "alias", "echo", "printf", "true", ":", "exit",
	"mkdir", "rm", "cp", "sleep", "wait", "nvm", "if", "then", "fi", "do", "done",
}

var shellNames = []string{"sh", "bash", "dash", "zsh", "ash", "ksh", "fish"}

// wrapper is a program that only runs another one, possibly after a verb. valueOptions are
// its options that take the next word; operands are its own words before the program.
type wrapper struct {
	program      string
	verb         string
	valueOptions []string
	operands     int
}

var wrappers = []wrapper{
	{program: "env", valueOptions: []string{"-u", "--unset", "-C", "--chdir"}},
	{program: "sudo", valueOptions: []string{"-u", "--user", "-g", "--group"}},
	{program: "time"}, {program: "command"}, {program: "exec"}, {program: "nohup"}, {program: "setsid"}, {program: "caffeinate"},
	{program: "xvfb-run", valueOptions: []string{"-s", "--server-args", "-n"}},
	{program: "nice", valueOptions: []string{"-n", "--adjustment"}},
	{program: "ionice", valueOptions: []string{"-c", "-n"}},
	{program: "timeout", valueOptions: []string{"-s", "--signal", "-k", "--kill-after"}, operands: 1},
	{program: "stdbuf", valueOptions: []string{"-i", "-o", "-e"}},
	{program: "cross-env"}, {program: "dotenv", valueOptions: []string{"-e", "-f"}},
	{program: "npx", valueOptions: []string{"-p", "--package"}}, {program: "pnpx"}, {program: "bunx"}, {program: "uvx", valueOptions: []string{"--with", "--from", "-p", "--python"}},
	{program: "npm", verb: "exec", valueOptions: []string{"-p", "--package", "--prefix", "-w", "--workspace"}},
	{program: "pnpm", verb: "exec", valueOptions: []string{"--filter", "-F", "-C", "--dir"}},
	{program: "pnpm", verb: "dlx"}, {program: "yarn", verb: "dlx"}, {program: "yarn", verb: "exec"}, {program: "bun", verb: "x"},
	{program: "uv", verb: "run", valueOptions: []string{"--with", "--extra", "--group", "-p", "--python", "--project", "--directory", "--package"}},
	{program: "poetry", verb: "run", valueOptions: []string{"-C", "-P"}}, {program: "pipenv", verb: "run"}, {program: "pdm", verb: "run"},
	{program: "rye", verb: "run"}, {program: "hatch", verb: "run"}, {program: "bundle", verb: "exec"},
	{program: "nix", verb: "develop"}, {program: "mise", verb: "exec"}, {program: "direnv", verb: "exec", operands: 1},
}

// runner is a program with subcommands and is named by them. valueOptions are its options
// that take the next word; skippedVerbs say nothing about what runs.
type runner struct {
	valueOptions    []string
	skippedVerbs    []string
	aliases         map[string]string
	takesGoals      bool // a list of them; the last one is what it is for
	hasWorkspaceArg bool // "workspace NAME" precedes the rest
}

var nodeAliases = map[string]string{"t": "test", "tst": "test"}

var runners = map[string]runner{
	"npm":       {valueOptions: []string{"--prefix", "-w", "--workspace", "-C"}, skippedVerbs: []string{"run", "run-script", "rum", "urn"}, aliases: nodeAliases},
	"pnpm":      {valueOptions: []string{"--filter", "-F", "-C", "--dir"}, skippedVerbs: []string{"run", "run-script"}, aliases: nodeAliases},
	"yarn":      {valueOptions: []string{"--cwd"}, skippedVerbs: []string{"run"}, aliases: nodeAliases, hasWorkspaceArg: true},
	"bun":       {valueOptions: []string{"--cwd", "--filter"}, skippedVerbs: []string{"run"}},
	"deno":      {valueOptions: []string{"-c", "--config"}, skippedVerbs: []string{"task", "run"}},
	"turbo":     {valueOptions: []string{"--filter"}, skippedVerbs: []string{"run"}},
	"nx":        {valueOptions: []string{"-t", "--target", "-p", "--projects"}, skippedVerbs: []string{"run"}},
	"lerna":     {valueOptions: []string{"--scope"}, skippedVerbs: []string{"run"}},
	"go":        {valueOptions: []string{"-C"}, skippedVerbs: []string{"tool"}},
	"cargo":     {valueOptions: []string{"--manifest-path", "-p", "--package", "--config"}},
	"make":      {valueOptions: []string{"-C", "-f", "-I", "--directory", "--file"}, takesGoals: true},
	"gmake":     {valueOptions: []string{"-C", "-f", "-I"}, takesGoals: true},
	"ninja":     {valueOptions: []string{"-C", "-f", "-j"}, takesGoals: true},
	"just":      {valueOptions: []string{"-f", "--justfile", "-d"}},
	"task":      {valueOptions: []string{"-d", "-t"}},
	"mage":      {valueOptions: []string{"-d", "-w"}},
	"rake":      {valueOptions: []string{"-f"}},
	"mvn":       {valueOptions: []string{"-f", "-pl", "-P"}, takesGoals: true},
	"mvnw":      {valueOptions: []string{"-f", "-pl", "-P"}, takesGoals: true},
	"gradle":    {valueOptions: []string{"-p", "-b", "-x", "--tests"}, takesGoals: true},
	"gradlew":   {valueOptions: []string{"-p", "-b", "-x", "--tests"}, takesGoals: true},
	"sbt":       {},
	"dotnet":    {},
	"swift":     {valueOptions: []string{"--package-path"}},
	"zig":       {skippedVerbs: []string{"build"}},
	"mix":       {},
	"dart":      {},
	"flutter":   {},
	"bazel":     {},
	"rails":     {},
	"artisan":   {},
	"manage.py": {valueOptions: []string{"--settings"}},
	"composer":  {valueOptions: []string{"-d"}, skippedVerbs: []string{"run", "run-script"}},
	"cmake":     {},
	"meson":     {valueOptions: []string{"-C"}},
	"terraform": {},
}

// scriptRuntime is a program that runs a script. moduleOption names a module instead,
// codeOptions give the program text, valueOptions take the next word.
type scriptRuntime struct {
	moduleOption string
	codeOptions  []string
	valueOptions []string
}

var pythonRuntime = scriptRuntime{moduleOption: "-m", codeOptions: []string{"-c"}, valueOptions: []string{"-W", "-X"}}

var javascriptRuntime = scriptRuntime{codeOptions: []string{"-e", "--eval", "-p"}, valueOptions: []string{"-r", "--require", "--import", "--loader", "--experimental-loader"}}

// runtimes are found by their names without versions.
var runtimes = map[string]scriptRuntime{
	"python": pythonRuntime, "pypy": pythonRuntime, "py": pythonRuntime,
	"node": javascriptRuntime, "tsx": javascriptRuntime, "ts-node": javascriptRuntime,
	"ruby": {codeOptions: []string{"-e"}, valueOptions: []string{"-I", "-r"}},
	"perl": {codeOptions: []string{"-e", "-E"}, valueOptions: []string{"-I"}},
	"php":  {codeOptions: []string{"-r"}, valueOptions: []string{"-d", "-c"}},
	"java": {moduleOption: "-jar", valueOptions: []string{"-cp", "-classpath"}},
}
