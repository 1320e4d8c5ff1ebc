package xray

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// nodeLock is package-lock.json in all its versions.
type nodeLock struct {
	Packages map[string]struct {
		nodeWishes
		Name     string          `json:"name"`
		Version  string          `json:"version"`
		Link     bool            `json:"link"`
		OS       json.RawMessage `json:"os"`
		CPU      json.RawMessage `json:"cpu"`
		Optional bool            `json:"optional"`
	} `json:"packages"`
	Dependencies map[string]nodeDep `json:"dependencies"`
}

type nodeDep struct {
	Version      string             `json:"version"`
	Dependencies map[string]nodeDep `json:"dependencies"`
}

// node adds a package of npm. Where an address stands for a version, the lock file does not
// tell it; what is installed does.
func (l *list) node(kind retake.FactKind, name, version string) {
	if v := strings.TrimPrefix(version, "v"); v != "" && v[0] >= '0' && v[0] <= '9' {
		l.packAs(kind, "npm", name, version, false)
	}
}

// readListedNode reads the list that npm keeps of what it installed: nothing in it is there
// for other machines.
func readListedNode(in input) ([]retake.Trait, error) {
	traits, err := readPackageLock(in)
	for i := range traits {
		if traits[i].Kind == kindMaybe {
			traits[i].Kind = retake.FactPackage
		}
	}
	return traits, err
}

func readPackageLock(in input) ([]retake.Trait, error) {
	var f nodeLock
	if json.Unmarshal(in.data, &f) != nil {
		return nil, why("is not a lock file of npm")
	}
	l := newList(in)
	for key, p := range f.Packages {
		i := strings.LastIndex(key, nodeModules)
		if i < 0 { // the project, or a part of it
			p.tell(l)
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
			l.node(kind, name, p.Version)
		}
	}
	if f.Packages == nil {
		f.old(l)
	}
	return l.traits, nil
}

// old reads the first version, in which packages stand inside of others.
func (f nodeLock) old(l *list) {
	todo := []map[string]nodeDep{f.Dependencies}
	for len(todo) > 0 {
		deps := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for name, d := range deps {
			version := d.Version
			if behind, ok := strings.CutPrefix(version, "npm:"); ok { // an alias
				name, version = specifier(behind)
			}
			l.node(retake.FactPackage, name, version)
			if d.Dependencies != nil {
				todo = append(todo, d.Dependencies)
			}
		}
	}
}

// readYarn reads both forms: a head of specifiers, then fields with two spaces before them.
func readYarn(in input) ([]retake.Trait, error) {
	l := newList(in)
	name, version := "", ""
	end := func() {
		if !strings.Contains(version, "use.local") { // a part of the project
			l.node(retake.FactPackage, name, version)
		}
		name, version = "", ""
	}
	lines(in.data, func(b []byte) bool {
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
				name, _ = specifier(value)
			}
		}
		return true
	})
	end()
	return l.traits, nil
}

// yarnName is the name of a package, and for an alias the one behind it.
func yarnName(spec string) string {
	name, rest := specifier(spec)
	if name == "" && spec != "__metadata" {
		return spec
	}
	if real, ok := strings.CutPrefix(rest, "npm:"); ok {
		if behind, _ := specifier(real); behind != "" {
			return behind
		}
	}
	return name
}

// specifier takes name@rest apart; a scope begins with another "@".
func specifier(s string) (name, rest string) {
	if i := strings.IndexByte(s[min(1, len(s)):], '@'); i >= 0 {
		return s[:i+1], s[i+2:]
	}
	return "", ""
}

// readPNPM reads by lines: the form is written by one program, and a general reader would
// take seconds.
func readPNPM(in input) ([]retake.Trait, error) {
	p := pnpm{l: newList(in)}
	lines(in.data, func(b []byte) bool {
		line := strings.TrimRight(string(b), " ")
		text := strings.TrimLeft(line, " ")
		if text == "" || text[0] == '#' {
			return true
		}
		key, value, _ := strings.Cut(text, ": ")
		p.line(len(line)-len(text), strings.Trim(strings.TrimSuffix(key, ":"), `'"`), strings.Trim(value, `'"`))
		return true
	})
	p.end()
	return p.l.traits, nil
}

// pnpm remembers where it is in a file.
type pnpm struct {
	l             *list
	old           bool // versions stand behind a slash
	top, block    string
	name, version string
	some          bool // for some machines
}

// wished are the blocks of a project that name packages.
var wished = []string{"dependencies", "devDependencies", "optionalDependencies"}

func (p *pnpm) line(indent int, key, value string) {
	switch {
	case indent == 0:
		p.end()
		p.top, p.block = key, ""
		if key == "lockfileVersion" {
			p.old = strings.HasPrefix(value, "5")
		}
	case p.top == "packages" && indent == 2:
		p.end()
		p.name, p.version = pnpmKey(key, p.old)
	case p.top == "packages" && indent == 4:
		p.field(key, value)
	case p.top == "importers" && indent == 4:
		p.block = key
	case p.top == "importers" && indent == 6 && slices.Contains(wished, p.block),
		slices.Contains(wished, p.top) && indent == 2:
		p.l.direct("npm", key)
	}
}

// field reads what is said of one package; what comes from elsewhere has its name and its
// version there.
func (p *pnpm) field(key, value string) {
	switch key {
	case "os", "cpu":
		p.some = true
	case "name":
		p.name = value
	case "version":
		p.version = value
	}
}

func (p *pnpm) end() {
	kind := retake.FactPackage
	if p.some {
		kind = kindMaybe
	}
	p.l.node(kind, p.name, p.version)
	p.name, p.version, p.some = "", "", false
}

// pnpmKey takes a key apart: /name/1.0.0_peer@1, /name@1.0.0(peer@1), name@1.0.0.
func pnpmKey(key string, old bool) (name, version string) {
	key, _, _ = strings.Cut(strings.TrimPrefix(key, "/"), "(")
	if !old {
		return specifier(key)
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

// readBun reads the text form: JSON with commas at ends.
func readBun(in input) ([]retake.Trait, error) {
	var f struct {
		Workspaces map[string]nodeWishes        `json:"workspaces"`
		Packages   map[string][]json.RawMessage `json:"packages"`
	}
	if json.Unmarshal(plainJSON(in.data), &f) != nil {
		return nil, why("is not a lock file of bun")
	}
	l := newList(in)
	for _, w := range f.Workspaces {
		w.tell(l)
	}
	for _, p := range f.Packages {
		var spec string
		if len(p) == 0 || json.Unmarshal(p[0], &spec) != nil {
			continue
		}
		name, version := specifier(spec)
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
		l.node(kind, name, version)
	}
	return l.traits, nil
}
