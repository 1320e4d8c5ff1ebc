package xray

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"github.com/retake-dev/retake"
)

var pythonReaders = []reader{
	{name: "python-installed@1", limit: maxText, rank: rankInstalled, read: readMetadata, wants: isMetadata},
	{name: "requirements@1", limit: maxText, rank: rankLocked, read: readRequirements, wants: isRequirements},
	{name: "pipfile-lock@1", limit: maxLock, rank: rankLocked, read: readPipfile, wants: lockFileNamed("Pipfile.lock")},
	{name: "python-lock@1", limit: maxLock, rank: rankLocked, read: readPythonLock, wants: lockFileNamed("poetry.lock", "uv.lock", "pdm.lock", "pylock.toml")},
}

// isMetadata reports whether a file is written by a Python installer; older forms count
// only where no other package manager writes them too. Vendored copies below _vendor were
// not installed.
func isMetadata(p fileLocation) bool {
	if p.hasParent("_vendor", "_vendored") {
		return false
	}
	switch p.name {
	case "METADATA":
		return strings.HasSuffix(p.dir, ".dist-info")
	case "PKG-INFO":
		return strings.HasSuffix(p.dir, ".egg-info") && p.hasParent("site-packages")
	}
	return p.ext == ".egg-info" && p.inDir("site-packages")
}

func isRequirements(p fileLocation) bool {
	if p.ext != ".txt" || !p.isProjectLock() {
		return false
	}
	return p.inDir("requirements") || strings.HasPrefix(p.name, "requirements") || strings.HasSuffix(p.name, "requirements.txt")
}

// pythonName returns the normalized form of a package name, as the Python index uses it.
func pythonName(s string) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(strings.TrimSpace(s)) {
		if r == '-' || r == '_' || r == '.' {
			dash = true
			continue
		}
		if dash && b.Len() > 0 {
			b.WriteByte('-')
		}
		dash = false
		b.WriteRune(r)
	}
	return b.String()
}

// readMetadata reads the header fields up to the first empty line.
func readMetadata(in input) ([]retake.Trait, error) {
	l := newTraitList(in)
	var name, version string
	forEachLine(in.data, func(line []byte) bool {
		key, value, _ := bytes.Cut(line, []byte(":"))
		switch v := string(bytes.TrimSpace(value)); strings.ToLower(string(key)) {
		case "name":
			name = v
		case "version":
			version = v
		}
		return len(line) > 0
	})
	l.addPackage("pypi", pythonName(name), version, false)
	if len(l.traits) == 0 {
		return nil, failReason("has no name or version")
	}
	return l.traits, nil
}

// requirementPattern matches a name with extras, and a version if it is pinned.
var requirementPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*\(?\s*(?:===?\s*([A-Za-z0-9.!+_-]+)\s*\)?\s*(?:$|[;#\s]))?`)
})

// readRequirements reports pinned names as packages, and all names as direct dependencies.
func readRequirements(in input) ([]retake.Trait, error) {
	l := newTraitList(in)
	text := strings.ReplaceAll(strings.ReplaceAll(string(in.data), "\r\n", "\n"), "\\\n", " ")
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		name := requirementName(line)
		if name == "" {
			continue
		}
		l.addDirectDependency("pypi", pythonName(name))
		l.addPackage("pypi", pythonName(name), requirementPattern().FindStringSubmatch(line)[2], true)
	}
	return l.traits, nil
}

// requirementName returns the package name of a requirement, or "". Options, comments,
// paths and URLs have none.
func requirementName(line string) string {
	m := requirementPattern().FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	if rest := line[len(m[1]):]; rest != "" && !strings.ContainsRune(" \t[(=<>!~;#@", rune(rest[0])) {
		return ""
	}
	return m[1]
}

// readPipfile reads the pinned packages of a Pipfile.lock.
func readPipfile(in input) ([]retake.Trait, error) {
	type pins map[string]struct {
		Version string `json:"version"`
	}
	var f struct {
		Default pins `json:"default"`
		Develop pins `json:"develop"`
	}
	if json.Unmarshal(in.data, &f) != nil {
		return nil, failReason("is not a lock file of pipenv")
	}
	l := newTraitList(in)
	for _, p := range []pins{f.Default, f.Develop} {
		for name, pin := range p {
			l.addPackage("pypi", pythonName(name), strings.TrimPrefix(pin.Version, "=="), false)
		}
	}
	return l.traits, nil
}

// readPythonLock reads the lock files of poetry, uv and pdm, whose forms hardly differ. uv
// also lists the project itself, with what it requests.
func readPythonLock(in input) ([]retake.Trait, error) {
	type entry struct {
		Name    string `toml:"name"`
		Version string `toml:"version"`
		Source  any    `toml:"source"`
		Wishes  any    `toml:"dependencies"`
		Dev     any    `toml:"dev-dependencies"`
	}
	var f struct {
		Package  []entry `toml:"package"`
		Packages []entry `toml:"packages"`
	}
	if err := decodeTOML(in.data, &f); err != nil {
		return nil, err
	}
	l := newTraitList(in)
	for _, e := range append(f.Package, f.Packages...) {
		source, _ := e.Source.(map[string]any)
		if source["virtual"] == nil && source["editable"] == nil {
			l.addPackage("pypi", pythonName(e.Name), e.Version, false)
			continue
		}
		wishes := asTables(e.Wishes)
		dev, _ := e.Dev.(map[string]any)
		for _, group := range dev {
			wishes = append(wishes, asTables(group)...)
		}
		for _, w := range wishes {
			name, _ := w["name"].(string)
			l.addDirectDependency("pypi", pythonName(name))
		}
	}
	return l.traits, nil
}

// asTables returns the tables in an array and ignores everything else.
func asTables(v any) []map[string]any {
	switch v := v.(type) {
	case []map[string]any:
		return v
	case []any:
		var all []map[string]any
		for _, e := range v {
			if m, ok := e.(map[string]any); ok {
				all = append(all, m)
			}
		}
		return all
	}
	return nil
}
