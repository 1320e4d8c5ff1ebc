package xray

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/mod/modfile"

	"github.com/retake-dev/retake"
)

var otherReaders = []reader{
	{name: "go-mod@1", limit: maxText, rank: rankLocked, read: readGoMod, wants: lockFileNamed("go.mod")},
	{name: "cargo-lock@1", limit: maxLock, rank: rankLocked, read: readCargo, wants: lockFileNamed("Cargo.lock")},
	{name: "gem-installed@1", limit: maxText, rank: rankInstalled, read: readGemspec, wants: func(p fileLocation) bool {
		return p.ext == ".gemspec" && (p.inDir("specifications") || p.inDir("specifications/default"))
	}},
	{name: "gem-lock@1", limit: maxLock, rank: rankLocked, read: readGemfile, wants: lockFileNamed("Gemfile.lock", "gems.locked")},
	{name: "composer-installed@1", limit: maxLock, rank: rankInstalled, read: readComposer, wants: func(p fileLocation) bool {
		return p.name == "installed.json" && p.inDir("vendor/composer")
	}},
	{name: "composer-lock@1", limit: maxLock, rank: rankLocked, read: readComposer, wants: lockFileNamed("composer.lock")},
	{name: "nuget-lock@1", limit: maxLock, rank: rankLocked, read: readNuget, wants: lockFileNamed("packages.lock.json")},
	{name: "mix-lock@1", limit: maxLock, rank: rankLocked, read: readMix, wants: lockFileNamed("mix.lock")},
	{name: "gradle-lock@1", limit: maxLock, rank: rankLocked, read: readGradle, wants: lockFileNamed("gradle.lockfile", "buildscript-gradle.lockfile")},
	{name: "maven-pom@1", limit: maxText, rank: rankLocked, read: readPOM, wants: lockFileNamed("pom.xml")},
}

func readGoMod(in input) ([]retake.Trait, error) {
	f, err := modfile.ParseLax("go.mod", in.data, nil)
	if err != nil {
		return nil, failReason("is not a go.mod")
	}
	l := newTraitList(in)
	for _, r := range f.Require {
		l.addPackage("golang", r.Mod.Path, r.Mod.Version, !r.Indirect)
	}
	return l.traits, nil
}

// readCargo skips packages without a source: these are parts of the project, and list what
// it requests.
func readCargo(in input) ([]retake.Trait, error) {
	var f struct {
		Package []struct {
			Name    string   `toml:"name"`
			Version string   `toml:"version"`
			Source  string   `toml:"source"`
			Wishes  []string `toml:"dependencies"`
		} `toml:"package"`
	}
	if err := decodeTOML(in.data, &f); err != nil {
		return nil, err
	}
	l := newTraitList(in)
	for _, p := range f.Package {
		if p.Source != "" {
			l.addPackage("cargo", p.Name, p.Version, false)
			continue
		}
		for _, w := range p.Wishes {
			name, _, _ := strings.Cut(w, " ")
			l.addDirectDependency("cargo", name)
		}
	}
	return l.traits, nil
}

var gemFieldPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*\w+\.(name|version)\s*=\s*(?:Gem::Version\.new\s*\(?\s*)?["']([^"']+)["']`)
})

// readGemspec reads the file that rubygems writes when it installs a gem. The file is Ruby
// code and is not executed.
func readGemspec(in input) ([]retake.Trait, error) {
	fields := map[string]string{}
	forEachLine(in.data, func(line []byte) bool {
		if m := gemFieldPattern().FindSubmatch(line); m != nil && fields[string(m[1])] == "" {
			fields[string(m[1])] = string(m[2])
		}
		return len(fields) < 2
	})
	l := newTraitList(in)
	l.addPackage("gem", fields["name"], fields["version"], false)
	if len(l.traits) == 0 {
		return nil, failReason("has no name or version")
	}
	return l.traits, nil
}

// readGemfile reads sections by their indentation. Gems of the project itself are under
// PATH. A platform suffix is not part of the version.
func readGemfile(in input) ([]retake.Trait, error) {
	l := newTraitList(in)
	section := ""
	forEachLine(in.data, func(b []byte) bool {
		line := string(b)
		text := strings.TrimSpace(line)
		indent := len(line) - len(strings.TrimLeft(line, " "))
		name, version, _ := strings.Cut(text, " (")
		switch {
		case text == "":
		case indent == 0:
			section = text
		case section == "DEPENDENCIES" && indent == 2:
			l.addDirectDependency("gem", strings.TrimSuffix(name, "!"))
		case (section == "GEM" || section == "GIT") && indent == 4:
			version, _, _ = strings.Cut(strings.TrimSuffix(version, ")"), "-")
			l.addPackage("gem", name, version, false)
		}
		return true
	})
	return l.traits, nil
}

// readComposer reads the lock file and the list of installed packages, which have the same
// form.
func readComposer(in input) ([]retake.Trait, error) {
	type pack struct{ Name, Version string }
	var f struct {
		Packages []pack
		Dev      []pack `json:"packages-dev"`
	}
	if json.Unmarshal(in.data, &f) != nil && json.Unmarshal(in.data, &f.Packages) != nil {
		return nil, failReason("is not a file of composer")
	}
	l := newTraitList(in)
	for _, p := range append(f.Packages, f.Dev...) {
		l.addPackage("composer", p.Name, p.Version, false)
	}
	return l.traits, nil
}

func readNuget(in input) ([]retake.Trait, error) {
	var f struct {
		Dependencies map[string]map[string]struct{ Type, Resolved string }
	}
	if json.Unmarshal(in.data, &f) != nil {
		return nil, failReason("is not a lock file of NuGet")
	}
	l := newTraitList(in)
	for _, framework := range f.Dependencies {
		for name, p := range framework {
			l.addPackage("nuget", name, p.Resolved, p.Type == "Direct")
		}
	}
	return l.traits, nil
}

var mixLinePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*"[^"]+":\s*\{:hex,\s*:(\w+|"[^"]+"),\s*"([^"]+)"`)
})

func readMix(in input) ([]retake.Trait, error) {
	l := newTraitList(in)
	forEachLine(in.data, func(line []byte) bool {
		if m := mixLinePattern().FindSubmatch(line); m != nil {
			l.addPackage("hex", strings.Trim(string(m[1]), `"`), string(m[2]), false)
		}
		return true
	})
	return l.traits, nil
}

// readGradle reads group:name:version=configurations.
func readGradle(in input) ([]retake.Trait, error) {
	l := newTraitList(in)
	forEachLine(in.data, func(line []byte) bool {
		what, _, ok := strings.Cut(string(line), "=")
		parts := strings.Split(what, ":")
		if ok && len(parts) == 3 && !strings.HasPrefix(what, "#") {
			l.addPackage("maven", parts[0]+":"+parts[1], parts[2], false)
		}
		return true
	})
	return l.traits, nil
}

// readPOM reads dependencies whose version is given directly or by a property of the same
// file. Versions from elsewhere are not known.
func readPOM(in input) ([]retake.Trait, error) {
	var f struct {
		Version    string `xml:"version"`
		Properties struct {
			All []struct {
				XMLName xml.Name
				Text    string `xml:",chardata"`
			} `xml:",any"`
		} `xml:"properties"`
		Dependencies []struct {
			Group    string `xml:"groupId"`
			Artifact string `xml:"artifactId"`
			Version  string `xml:"version"`
		} `xml:"dependencies>dependency"`
	}
	d := xml.NewDecoder(bytes.NewReader(in.data))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // names are ASCII in all of them
	if d.Decode(&f) != nil {
		return nil, failReason("is not a pom.xml")
	}
	pairs := []string{"${project.version}", f.Version}
	for _, p := range f.Properties.All {
		pairs = append(pairs, "${"+p.XMLName.Local+"}", strings.TrimSpace(p.Text))
	}
	known := strings.NewReplacer(pairs...)
	l := newTraitList(in)
	for _, d := range f.Dependencies {
		name := known.Replace(strings.TrimSpace(d.Group) + ":" + strings.TrimSpace(d.Artifact))
		version := known.Replace(strings.TrimSpace(d.Version))
		if !strings.ContainsAny(name+version, "${[(,") {
			l.addPackage("maven", name, version, true)
		}
	}
	return l.traits, nil
}
