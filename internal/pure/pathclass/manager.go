package pathclass

import "strings"

// Manager returns the package manager that a path belongs to, by its type in package URLs:
// "npm" for what is in node_modules, "golang" for go.mod. It returns "" if there is none or it
// is ambiguous.
func Manager(path string) string {
	for _, p := range systemManagers {
		if strings.HasPrefix(path, p.prefix) {
			return p.manager
		}
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	parent := ""
	for at := 0; at < len(path); {
		n := strings.IndexByte(path[at:], '/')
		if n < 0 {
			break
		}
		dir := path[at : at+n]
		at += n + 1
		if m := managerOfDir(parent, dir, path[at:]); m != "" {
			return m
		}
		parent = dir
	}
	if m, ok := managerFiles()[name]; ok {
		return m
	}
	if strings.HasPrefix(name, "requirements") && nameClass(name) == Manifest {
		return "pypi"
	}
	return managerSuffixes()[suffix(name)]
}

// managerOfDir recognizes the directories that package managers fill.
func managerOfDir(parent, dir, rest string) string {
	if m, ok := managerDirs()[dir]; ok {
		return m
	}
	switch {
	case strings.HasSuffix(dir, ".dist-info"), strings.HasSuffix(dir, ".egg-info"):
		return "pypi"
	case dir == "vendor":
		return vendorManager(rest)
	case parent == ".yarn" && dirPairs[dirPair{parent, dir}] == Dependency:
		return "npm"
	case parent == ".cargo" && (dir == "registry" || dir == "git"):
		return "cargo"
	case parent == ".m2" && dir == "repository":
		return "maven"
	case parent == "pkg" && dir == "mod":
		return "golang"
	case parent == "env" && dirPairs[dirPair{parent, dir}] == Dependency:
		return "pypi"
	}
	return ""
}

// vendorManager returns which package manager a directory "vendor" belongs to: several use
// that name.
func vendorManager(rest string) string {
	first, _, _ := strings.Cut(rest, "/")
	switch {
	case first == "bundle" || first == "cache":
		return "gem"
	case first == "composer" || first == "autoload.php" || strings.HasSuffix(rest, ".php"):
		return "composer"
	}
	return "golang"
}

var systemManagers = []struct{ prefix, manager string }{
	{"var/lib/dpkg/", "deb"}, {"var/lib/rpm/", "rpm"}, {"usr/lib/sysimage/rpm/", "rpm"}, {"lib/apk/", "apk"}, {"usr/lib/apk/", "apk"}, {"var/lib/pacman/", "alpm"},
}

var managerDirs = indexNames(map[string]string{
	"npm":       "node_modules bower_components jspm_packages web_modules .pnpm",
	"pypi":      "site-packages dist-packages __pypackages__ .venv venv .virtualenv virtualenv .tox .nox .eggs",
	"conda":     "conda-meta",
	"cocoapods": "Pods",
	"swift":     "Carthage",
	"pub":       ".pub-cache",
	"elm":       "elm-stuff",
	"nuget":     ".nuget",
	"hex":       "deps",
	"terraform": ".terraform",
})

var managerFiles = indexNames(map[string]string{
	"npm":       "package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml pnpm-workspace.yaml bun.lock bun.lockb bower.json .pnp.cjs .pnp.js .pnp.loader.mjs lerna.json",
	"jsr":       "deno.json deno.jsonc deno.lock jsr.json",
	"pypi":      "pyproject.toml setup.py setup.cfg Pipfile Pipfile.lock poetry.lock uv.lock pdm.lock pylock.toml constraints.txt pyvenv.cfg",
	"conda":     "environment.yml environment.yaml conda-lock.yml pixi.toml pixi.lock",
	"golang":    "go.mod go.sum go.work go.work.sum",
	"cargo":     "Cargo.toml Cargo.lock",
	"gem":       "Gemfile Gemfile.lock gems.rb gems.locked",
	"composer":  "composer.json composer.lock symfony.lock",
	"maven":     "pom.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.lockfile buildscript-gradle.lockfile libs.versions.toml build.sbt build.sc ivy.xml deps.edn project.clj",
	"nuget":     "packages.config packages.lock.json Directory.Packages.props paket.dependencies paket.lock project.assets.json",
	"hex":       "mix.exs mix.lock rebar.config rebar.lock gleam.toml",
	"cocoapods": "Podfile Podfile.lock",
	"swift":     "Package.swift Package.resolved Cartfile Cartfile.resolved",
	"pub":       "pubspec.yaml pubspec.lock",
	"hackage":   "stack.yaml stack.yaml.lock cabal.project cabal.project.freeze",
	"elm":       "elm.json",
	"helm":      "Chart.yaml Chart.lock",
	"nix":       "flake.nix flake.lock devbox.lock",
	"terraform": ".terraform.lock.hcl",
	"cran":      "renv.lock",
	"julia":     "Project.toml Manifest.toml",
	"conan":     "conanfile.txt conanfile.py conan.lock",
	"vcpkg":     "vcpkg.json",
	"brew":      "Brewfile",
})

var managerSuffixes = indexNames(map[string]string{
	"nuget":    ".csproj .fsproj .vbproj .nuspec",
	"gem":      ".gemspec",
	"hackage":  ".cabal",
	"luarocks": ".rockspec",
	"opam":     ".opam",
})
