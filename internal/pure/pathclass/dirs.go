package pathclass

import (
	"strings"
	"sync"
)

// pathWalk goes down a path and records what the directories say about what is in them.
type pathWalk struct {
	path        string
	handwritten bool // the suffix is that of files that people write
	parent      string

	code, config, docs, tests, data bool
}

// classifyDir returns the class that a directory gives to everything below it, or "".
func (w *pathWalk) classifyDir(name string, at int) Class {
	parent := w.parent
	w.parent = name
	if c := w.strongClass(parent, name, at); c != "" {
		return c
	}
	if c, ok := weakDirs()[name]; ok && !w.ignoresWeakName(c) {
		return c
	}
	w.noteDir(name, at)
	return ""
}

// strongClass returns the class of a directory whose name decides wherever it is, or "".
func (w *pathWalk) strongClass(parent, name string, at int) Class {
	if name == ".git" && strings.HasPrefix(w.path[at:], ".git/hooks/") && !strings.HasSuffix(w.path, ".sample") {
		w.config = true // hooks are configuration, not internal data of git
		return ""
	}
	if parent == ".git" {
		return ""
	}
	if c, ok := strongDirs()[name]; ok {
		return c
	}
	if c, ok := dirPairs[dirPair{parent, name}]; ok {
		return c
	}
	switch {
	case strings.HasSuffix(name, ".dist-info"):
		return Dependency
	case strings.HasSuffix(name, ".egg-info"), strings.HasPrefix(name, "cmake-build-"), strings.HasPrefix(name, "bazel-"), strings.HasSuffix(name, ".xcarchive"):
		return Build
	case strings.HasSuffix(name, ".git") && isGitInternal(w.path[at+len(name)+1:]):
		return Git
	case parent == "base" && isDigits(name):
		return Database
	}
	return ""
}

// ignoresWeakName reports whether a weak directory name does not decide: people also name
// packages "cache", "log" and "build", and write source files in them.
func (w *pathWalk) ignoresWeakName(c Class) bool {
	return w.handwritten && (w.code || c != Build)
}

// noteDir records what the name of a directory says about the files in it.
func (w *pathWalk) noteDir(name string, at int) {
	switch dirKinds()[name] {
	case inCode:
		w.code = true
	case inConfig:
		w.config = true
	case inDocs:
		w.docs = true
	case inTests:
		w.tests = true
	case inData:
		w.data = true
	case inNothing:
		if name == "etc" && at == 0 || len(name) > 1 && name[0] == '.' && name != ".." {
			w.config = true
		}
	}
}

// dirClass returns the class of a directory whose name does not decide.
func (w *pathWalk) dirClass() Class {
	switch {
	case w.tests:
		return Test
	case w.docs:
		return Docs
	case w.config:
		return Settings
	}
	return Source
}

// isGitInternal reports whether a path is one that git creates in a bare repository.
func isGitInternal(rest string) bool {
	for _, d := range []string{"objects/", "refs/", "HEAD", "packed-refs", "config", "hooks/", "logs/", "index"} {
		if strings.HasPrefix(rest, d) {
			return true
		}
	}
	return false
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// systemClass recognizes the standard locations of an operating system, for a workspace that
// is one. It returns the length of the location.
func systemClass(path string) (Class, int) {
	for _, p := range systemPaths {
		if strings.HasPrefix(path, p.prefix) {
			return p.class, len(p.prefix)
		}
	}
	return "", 0
}

var systemPaths = []struct {
	prefix string
	class  Class
}{
	{"usr/lib/", Dependency}, {"usr/lib32/", Dependency}, {"usr/lib64/", Dependency}, {"usr/libexec/", Dependency}, {"usr/share/", Dependency},
	{"usr/bin/", Dependency}, {"usr/sbin/", Dependency}, {"usr/include/", Dependency}, {"usr/games/", Dependency},
	{"var/lib/dpkg/", Dependency}, {"var/lib/rpm/", Dependency}, {"var/lib/pacman/", Dependency}, {"lib/apk/", Dependency}, {"var/lib/snapd/", Dependency},
	{"var/lib/apt/", Cache}, {"var/cache/", Cache}, {"var/log/", Log},
	{"var/spool/cron/", Settings},
	{"var/lib/postgresql/", Database}, {"var/lib/mysql/", Database}, {"var/lib/redis/", Database}, {"var/lib/mongodb/", Database},
}

// strongDirs are names of directories that decide wherever they are.
var strongDirs = indexNames(map[Class]string{
	Git: ".git .hg .svn .jj .bzr CVS .sl",
	Dependency: `node_modules bower_components jspm_packages web_modules .pnpm
		site-packages dist-packages __pypackages__ .venv venv .virtualenv virtualenv .tox .nox .eggs conda-meta
		vendor Pods Carthage .pub-cache elm-stuff .terraform .nuget`,
	Build: `dist _build .next .nuxt .output .svelte-kit .astro .docusaurus storybook-static _site htmlcov
		zig-out dist-newstyle .stack-work DerivedData .build .serverless cdk.out .aws-sam .vercel .netlify .webpack .solid .wrangler .open-next .react-router .vinxi
		_book xcuserdata __sapper__ lcov-report`,
	Cache: `.cache .parcel-cache .vite .turbo .nx .angular .expo .rollup.cache .sass-cache .nyc_output .swc .rpt2_cache .fusebox .temp .tmp
		__pycache__ .pytest_cache .mypy_cache .ruff_cache .hypothesis .ipynb_checkpoints .pytype .pyre .dmypy .basedpyright
		.gradle .kotlin .dart_tool .zig-cache zig-cache .phpunit.cache .idea .vs .history .npm .bun .eslintcache .elixir_ls .lexical .metals .bloop .bsp .ccls-cache .clangd
		.firebase .deno_dir .jest-cache .vitest .playwright-mcp .Trash-1000 .fseventsd .Spotlight-V100 .direnv .devenv .nimcache nimcache .sonar .scannerwork .ruby-lsp .solargraph .hie .cpcache .shadow-cljs .lsp .calva`,
	Database: "pgdata pg_wal pg_xact mysql-data postgres-data pg_data",
})

// dirPair is a directory and its parent.
type dirPair struct{ parent, name string }

// dirPairs are names that decide only together with their parent.
var dirPairs = map[dirPair]Class{
	{".yarn", "cache"}: Dependency, {".yarn", "unplugged"}: Dependency, {".yarn", "releases"}: Dependency,
	{".cargo", "registry"}: Dependency, {".cargo", "git"}: Dependency, {".cargo", "bin"}: Dependency,
	{".m2", "repository"}: Dependency, {"pkg", "mod"}: Dependency, {".rustup", "toolchains"}: Dependency, {".nvm", "versions"}: Dependency,
	{".pyenv", "versions"}: Dependency, {".rbenv", "versions"}: Dependency, {".local", "pipx"}: Dependency, {".gem", "ruby"}: Dependency,
	{"env", "lib"}: Dependency, {"env", "lib64"}: Dependency, {"env", "include"}: Dependency, {"env", "bin"}: Dependency, {"env", "Lib"}: Dependency, {"env", "Scripts"}: Dependency,
	{"bin", "Debug"}: Build, {"bin", "Release"}: Build, {"obj", "Debug"}: Build, {"obj", "Release"}: Build,
	{"storage", "framework"}: Cache, {"bootstrap", "cache"}: Cache, {".vitepress", "cache"}: Cache, {".vitepress", "dist"}: Build, {".vuepress", "dist"}: Build,
	{"public", "packs"}: Build, {"public", "packs-test"}: Build, {"ios", "Pods"}: Dependency, {".clj-kondo", ".cache"}: Cache,
	{".husky", "_"}: Build, {".local", "state"}: Cache, {"share", "Trash"}: Cache, {"playwright", ".cache"}: Cache, {"cypress", "videos"}: Build, {"cypress", "screenshots"}: Build,
	{".config", "google-chrome"}: Cache, {".mozilla", "firefox"}: Cache,
}

// weakDirs are names that decide, except for files that people write.
var weakDirs = indexNames(map[Class]string{
	Build:      "build out target obj coverage Debug Release playwright-report test-results blob-report allure-results allure-report",
	Cache:      "cache caches tmp temp",
	Log:        "log logs",
	Dependency: "deps",
})

// dirKind is what a directory says about its files, if nothing else does.
type dirKind int

const (
	inNothing dirKind = iota
	inCode
	inConfig
	inDocs
	inTests
	inData
)

// dirKinds are the names of directories that say what their files are, if nothing else does.
var dirKinds = indexNames(map[dirKind]string{
	inCode:   "src internal lib pkg cmd Sources components pages source crates include scripts",
	inConfig: "config configs conf conf.d settings .config .github .gitlab .circleci .buildkite .woodpecker k8s kubernetes helm charts deploy deployment deployments infra ansible manifests systemd cron.d cron.daily cron.hourly cron.weekly cron.monthly sites-available sites-enabled nginx supervisor profile.d sudoers.d environments group_vars host_vars kustomize overlays",
	inDocs:   "docs doc documentation wiki man javadoc godoc",
	inTests:  "test tests __tests__ spec specs e2e cypress __mocks__ __snapshots__ testdata fixtures __fixtures__ testing androidTest benches unittests UITests",
	inData:   "locales locale i18n l10n lang langs languages translations messages data _data content posts assets static public templates schemas schema seeds seed migrations migrate examples",
})

// indexNames inverts lists of names. It panics for a name in two lists, because its meaning
// would depend on the order of a map. The tables are built at their first use: most starts of
// the program need none.
func indexNames[T comparable](lists map[T]string) func() map[string]T {
	return sync.OnceValue(func() map[string]T {
		all := map[string]T{}
		for what, names := range lists {
			for name := range strings.FieldsSeq(names) {
				if _, twice := all[name]; twice {
					panic("theme: two meanings of " + name)
				}
				all[name] = what
			}
		}
		return all
	})
}
