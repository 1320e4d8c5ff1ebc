package xray

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// packageLock is package-lock.json in all its versions.
type packageLock struct {
	Packages map[string]struct {
		nodeDependencies
		Name     string          `json:"name"`
		Version  string          `json:"version"`
		Link     bool            `json:"link"`
		OS       json.RawMessage `json:"os"`
		CPU      json.RawMessage `json:"cpu"`
		Optional bool            `json:"optional"`
	} `json:"packages"`
	Dependencies map[string]lockedDependency `json:"dependencies"`
}

type lockedDependency struct {
	Version      string                      `json:"version"`
	Dependencies map[string]lockedDependency `json:"dependencies"`
}

// addNodePackage adds an npm package. If the lock file has a URL instead of a version, it
// is skipped; what is installed tells the version.
func (l *traitList) addNodePackage(kind retake.FactKind, name, version string) {
	if v := strings.TrimPrefix(version, "v"); v != "" && v[0] >= '0' && v[0] <= '9' {
		l.addPackageAs(kind, "npm", name, version, false)
	}
}

// readListedNode reads the list that npm keeps of what it installed. Nothing in it is for
// other platforms.
func readListedNode(in input) ([]retake.Trait, error) {
	traits, err := readPackageLock(in)
	for i := range traits {
		if traits[i].Kind == kindMaybe {
			traits[i].Kind = retake.FactPackage
		}
	}
	return traits, err
}

// readPackageLock reads package-lock.json. Packages of the project itself only list what
// they request.
func readPackageLock(in input) ([]retake.Trait, error) {
	var f packageLock
	if json.Unmarshal(in.data, &f) != nil {
		return nil, failReason("is not a lock file of npm")
	}
	l := newTraitList(in)
	for key, p := range f.Packages {
		i := strings.LastIndex(key, nodeModules)
		if i < 0 { // the project, or a part of it
			p.addTo(l)
			continue
		}
		name := p.Name
		if name == "" {
			name = key[i+len(nodeModules):]
		}
		kind := retake.FactPackage
		if p.Optional && (p.OS != nil || p.CPU != nil) {
			kind = kindMaybe
		}
		if !p.Link {
			l.addNodePackage(kind, name, p.Version)
		}
	}
	if f.Packages == nil {
		f.addOldDependencies(l)
	}
	return l.traits, nil
}

// addOldDependencies reads the first version of the format, in which packages are nested.
func (f packageLock) addOldDependencies(l *traitList) {
	todo := []map[string]lockedDependency{f.Dependencies}
	for len(todo) > 0 {
		deps := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for name, d := range deps {
			version := d.Version
			if behind, ok := strings.CutPrefix(version, "npm:"); ok { // an alias
				name, version = splitSpecifier(behind)
			}
			l.addNodePackage(retake.FactPackage, name, version)
			if d.Dependencies != nil {
				todo = append(todo, d.Dependencies)
			}
		}
	}
}

// readYarn reads both versions of yarn.lock: a line of specifiers, then fields indented by
// two spaces.
func readYarn(in input) ([]retake.Trait, error) {
	l := newTraitList(in)
	name, version := "", ""
	end := func() {
		if !strings.Contains(version, "use.local") { // a part of the project
			l.addNodePackage(retake.FactPackage, name, version)
		}
		name, version = "", ""
	}
	forEachLine(in.data, func(b []byte) bool {
		line := string(b)
		switch {
		case line == "" || line[0] == '#':
		case line[0] != ' ':
			end()
			first, _, _ := strings.Cut(strings.TrimSuffix(line, ":"), ",")
			name = yarnName(strings.Trim(first, `"`))
		case name == "" || !strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "   "):
		default:
			key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			value = strings.Trim(value, `"`)
			switch strings.Trim(key, `":`) {
			case "version":
				version = value
			case "resolution":
				name, _ = splitSpecifier(value)
			}
		}
		return true
	})
	end()
	return l.traits, nil
}

// yarnName returns the name of a package; for an alias, the name of the package behind it.
func yarnName(spec string) string {
	name, rest := splitSpecifier(spec)
	if name == "" && spec != "__metadata" {
		return spec
	}
	if real, ok := strings.CutPrefix(rest, "npm:"); ok {
		if behind, _ := splitSpecifier(real); behind != "" {
			return behind
		}
	}
	return name
}

// splitSpecifier splits name@rest. A scope begins with another "@".
func splitSpecifier(s string) (name, rest string) {
	if i := strings.IndexByte(s[min(1, len(s)):], '@'); i >= 0 {
		return s[:i+1], s[i+2:]
	}
	return "", ""
}

// readPNPM reads line by line: only pnpm writes this file, and a general YAML parser would
// take seconds.
func readPNPM(in input) ([]retake.Trait, error) {
	p := pnpmParser{list: newTraitList(in)}
	forEachLine(in.data, func(b []byte) bool {
		line := strings.TrimRight(string(b), " ")
		text := strings.TrimLeft(line, " ")
		if text == "" || text[0] == '#' {
			return true
		}
		key, value, _ := strings.Cut(text, ": ")
		p.parseLine(len(line)-len(text), strings.Trim(strings.TrimSuffix(key, ":"), `'"`), strings.Trim(value, `'"`))
		return true
	})
	p.finishPackage()
	return p.list.traits, nil
}

// pnpmParser keeps the position in a pnpm lock file.
type pnpmParser struct {
	list             *traitList
	slashVersions    bool // versions follow a slash
	section, block   string
	name, version    string
	platformSpecific bool // for some machines
}

// nodeDependencyFields are the fields of a project that list packages.
var nodeDependencyFields = []string{"dependencies", "devDependencies", "optionalDependencies"}

// parseLine reads one line by its indentation.
func (p *pnpmParser) parseLine(indent int, key, value string) {
	switch {
	case indent == 0:
		p.finishPackage()
		p.section, p.block = key, ""
		if key == "lockfileVersion" {
			p.slashVersions = strings.HasPrefix(value, "5")
		}
	case p.section == "packages" && indent == 2:
		p.finishPackage()
		p.name, p.version = parsePNPMKey(key, p.slashVersions)
	case p.section == "packages" && indent == 4:
		p.parseField(key, value)
	case p.section == "importers" && indent == 4:
		p.block = key
	case p.section == "importers" && indent == 6 && slices.Contains(nodeDependencyFields, p.block),
		slices.Contains(nodeDependencyFields, p.section) && indent == 2:
		p.list.addDirectDependency("npm", key)
	}
}

// parseField reads a field of one package. Packages from other sources have their name and
// version there.
func (p *pnpmParser) parseField(key, value string) {
	switch key {
	case "os", "cpu":
		p.platformSpecific = true
	case "name":
		p.name = value
	case "version":
		p.version = value
	}
}

func (p *pnpmParser) finishPackage() {
	kind := retake.FactPackage
	if p.platformSpecific {
		kind = kindMaybe
	}
	p.list.addNodePackage(kind, p.name, p.version)
	p.name, p.version, p.platformSpecific = "", "", false
}

// parsePNPMKey splits a key: /name/1.0.0_peer@1, /name@1.0.0(peer@1), name@1.0.0.
func parsePNPMKey(key string, old bool) (name, version string) {
	key, _, _ = strings.Cut(strings.TrimPrefix(key, "/"), "(")
	if !old {
		return splitSpecifier(key)
	}
	name, version, ok := cutLast(key, "/")
	if !ok {
		return "", ""
	}
	version, _, _ = strings.Cut(version, "_")
	return name, version
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// readBun reads the text format: JSON with trailing commas.
func readBun(in input) ([]retake.Trait, error) {
	var f struct {
		Workspaces map[string]nodeDependencies  `json:"workspaces"`
		Packages   map[string][]json.RawMessage `json:"packages"`
	}
	if json.Unmarshal(stripJSONExtras(in.data), &f) != nil {
		return nil, failReason("is not a lock file of bun")
	}
	l := newTraitList(in)
	for _, w := range f.Workspaces {
		w.addTo(l)
	}
	for _, p := range f.Packages {
		var spec string
		if len(p) == 0 || json.Unmarshal(p[0], &spec) != nil {
			continue
		}
		name, version := splitSpecifier(spec)
		if strings.HasPrefix(version, "workspace:") {
			continue
		}
		kind := retake.FactPackage
		for _, more := range p[1:] {
			var some struct{ OS, CPU json.RawMessage }
			if json.Unmarshal(more, &some) == nil && (some.OS != nil || some.CPU != nil) {
				kind = kindMaybe
			}
		}
		l.addNodePackage(kind, name, version)
	}
	return l.traits, nil
}
