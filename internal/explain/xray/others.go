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
	{name: "go-mod@1", limit: maxText, rank: locked, read: readGoMod, wants: named("go.mod")},
	{name: "cargo-lock@1", limit: maxLock, rank: locked, read: readCargo, wants: named("Cargo.lock")},
	{name: "gem-installed@1", limit: maxText, rank: installed, read: readGemspec, wants: func(p place) bool {
		return p.ext == ".gemspec" && (p.in("specifications") || p.in("specifications/default"))
	}},
	{name: "gem-lock@1", limit: maxLock, rank: locked, read: readGemfile, wants: named("Gemfile.lock", "gems.locked")},
	{name: "composer-installed@1", limit: maxLock, rank: installed, read: readComposer, wants: func(p place) bool {
		return p.name == "installed.json" && p.in("vendor/composer")
	}},
	{name: "composer-lock@1", limit: maxLock, rank: locked, read: readComposer, wants: named("composer.lock")},
	{name: "nuget-lock@1", limit: maxLock, rank: locked, read: readNuget, wants: named("packages.lock.json")},
	{name: "mix-lock@1", limit: maxLock, rank: locked, read: readMix, wants: named("mix.lock")},
	{name: "gradle-lock@1", limit: maxLock, rank: locked, read: readGradle, wants: named("gradle.lockfile", "buildscript-gradle.lockfile")},
	{name: "maven-pom@1", limit: maxText, rank: locked, read: readPOM, wants: named("pom.xml")},
}

func readGoMod(in input) ([]retake.Trait, error) {
	f, err := modfile.ParseLax("go.mod", in.data, nil)
	if err != nil {
		return nil, why("is not a go.mod")
	}
	l := newList(in)
	for _, r := range f.Require {
		l.pack("golang", r.Mod.Path, r.Mod.Version, !r.Indirect)
	}
	return l.traits, nil
}

// readCargo leaves out what has no source: the parts of the project, which say what they
// ask for.
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
	l := newList(in)
	for _, p := range f.Package {
		if p.Source != "" {
			l.pack("cargo", p.Name, p.Version, false)
			continue
		}
		for _, w := range p.Wishes {
			name, _, _ := strings.Cut(w, " ")
			l.direct("cargo", name)
		}
	}
	return l.traits, nil
}

var gemField = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*\w+\.(name|version)\s*=\s*(?:Gem::Version\.new\s*\(?\s*)?["']([^"']+)["']`)
})

// readGemspec reads what rubygems writes when it installs. It is a program, and is not run.
func readGemspec(in input) ([]retake.Trait, error) {
	fields := map[string]string{}
	lines(in.data, func(line []byte) bool {
		if m := gemField().FindSubmatch(line); m != nil && fields[string(m[1])] == "" {
			fields[string(m[1])] = string(m[2])
		}
		return len(fields) < 2
	})
	l := newList(in)
	l.pack("gem", fields["name"], fields["version"], false)
	if len(l.traits) == 0 {
		return nil, why("has no name or version")
	}
	return l.traits, nil
}

// readGemfile reads sections by their indentation. What lies in the project itself stands
// under PATH. A platform behind the version is none of it.
func readGemfile(in input) ([]retake.Trait, error) {
	l := newList(in)
	section := ""
	lines(in.data, func(b []byte) bool {
		line := string(b)
		text := strings.TrimSpace(line)
		indent := len(line) - len(strings.TrimLeft(line, " "))
		name, version, _ := strings.Cut(text, " (")
		switch {
		case text == "":
		case indent == 0:
			section = text
		case section == "DEPENDENCIES" && indent == 2:
			l.direct("gem", strings.TrimSuffix(name, "!"))
		case (section == "GEM" || section == "GIT") && indent == 4:
			version, _, _ = strings.Cut(strings.TrimSuffix(version, ")"), "-")
			l.pack("gem", name, version, false)
		}
		return true
	})
	return l.traits, nil
}

// readComposer reads the lock file and the list of what is installed, which look alike.
func readComposer(in input) ([]retake.Trait, error) {
	type pack struct{ Name, Version string }
	var f struct {
		Packages []pack
		Dev      []pack `json:"packages-dev"`
	}
	if json.Unmarshal(in.data, &f) != nil && json.Unmarshal(in.data, &f.Packages) != nil {
		return nil, why("is not a file of composer")
	}
	l := newList(in)
	for _, p := range append(f.Packages, f.Dev...) {
		l.pack("composer", p.Name, p.Version, false)
	}
	return l.traits, nil
}

func readNuget(in input) ([]retake.Trait, error) {
	var f struct {
		Dependencies map[string]map[string]struct{ Type, Resolved string }
	}
	if json.Unmarshal(in.data, &f) != nil {
		return nil, why("is not a lock file of NuGet")
	}
	l := newList(in)
	for _, framework := range f.Dependencies {
		for name, p := range framework {
			l.pack("nuget", name, p.Resolved, p.Type == "Direct")
		}
	}
	return l.traits, nil
}

var mixLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*"[^"]+":\s*\{:hex,\s*:(\w+|"[^"]+"),\s*"([^"]+)"`)
})

func readMix(in input) ([]retake.Trait, error) {
	l := newList(in)
	lines(in.data, func(line []byte) bool {
		if m := mixLine().FindSubmatch(line); m != nil {
			l.pack("hex", strings.Trim(string(m[1]), `"`), string(m[2]), false)
		}
		return true
	})
	return l.traits, nil
}

// readGradle reads group:name:version=configurations.
func readGradle(in input) ([]retake.Trait, error) {
	l := newList(in)
	lines(in.data, func(line []byte) bool {
		what, _, ok := strings.Cut(string(line), "=")
		parts := strings.Split(what, ":")
		if ok && len(parts) == 3 && !strings.HasPrefix(what, "#") {
			l.pack("maven", parts[0]+":"+parts[1], parts[2], false)
		}
		return true
	})
	return l.traits, nil
}

// readPOM takes what a project asks for with a version of its own or one of its
// properties. What comes from elsewhere is not known here.
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
		return nil, why("is not a pom.xml")
	}
	pairs := []string{"${project.version}", f.Version}
	for _, p := range f.Properties.All {
		pairs = append(pairs, "${"+p.XMLName.Local+"}", strings.TrimSpace(p.Text))
	}
	known := strings.NewReplacer(pairs...)
	l := newList(in)
	for _, d := range f.Dependencies {
		name := known.Replace(strings.TrimSpace(d.Group) + ":" + strings.TrimSpace(d.Artifact))
		version := known.Replace(strings.TrimSpace(d.Version))
		if !strings.ContainsAny(name+version, "${[(,") {
			l.pack("maven", name, version, true)
		}
	}
	return l.traits, nil
}
