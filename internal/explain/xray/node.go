package xray

import (
	"encoding/json"
	"strings"

	"github.com/retake-dev/retake"
)

var nodeReaders = []reader{
	{name: "npm-installed@1", limit: maxText, rank: installed, read: readInstalledNode, wants: func(p place) bool {
		return p.name == "package.json" && packageRoot(p.dir)
	}},
	{name: "npm-listed@1", limit: maxLock, rank: listed, read: readListedNode, wants: func(p place) bool {
		return p.name == ".package-lock.json" && p.in("node_modules")
	}},
	{name: "pnpm-listed@1", limit: maxLock, rank: listed, read: readPNPM, wants: func(p place) bool {
		return p.name == "lock.yaml" && p.in("node_modules/.pnpm")
	}},
	{name: "npm-lock@1", limit: maxLock, rank: locked, read: readPackageLock, wants: named("package-lock.json", "npm-shrinkwrap.json")},
	{name: "yarn-lock@1", limit: maxLock, rank: locked, read: readYarn, wants: named("yarn.lock")},
	{name: "pnpm-lock@1", limit: maxLock, rank: locked, read: readPNPM, wants: named("pnpm-lock.yaml")},
	{name: "bun-lock@1", limit: maxLock, rank: locked, read: readBun, wants: named("bun.lock")},
}

const nodeModules = "node_modules/"

// packageRoot reports that a directory is a package and no part of one: it stands directly
// in node_modules, or in a scope there.
func packageRoot(dir string) bool {
	dir = "/" + dir
	i := strings.LastIndex(dir, "/"+nodeModules)
	if i < 0 {
		return false
	}
	name := dir[i+1+len(nodeModules):]
	if name == "" || name[0] == '.' {
		return false
	}
	if name[0] == '@' {
		return strings.Count(name, "/") == 1
	}
	return !strings.Contains(name, "/")
}

func readInstalledNode(in input) ([]retake.Trait, error) {
	var f struct{ Name, Version any }
	if json.Unmarshal(in.data, &f) != nil {
		return nil, why("is not JSON")
	}
	name, _ := f.Name.(string)
	version, _ := f.Version.(string)
	l := newList(in)
	l.pack("npm", name, version, false)
	return l.traits, nil
}

// nodeWishes are the packages that a project asks for by name.
type nodeWishes struct {
	Dependencies         map[string]json.RawMessage `json:"dependencies"`
	DevDependencies      map[string]json.RawMessage `json:"devDependencies"`
	OptionalDependencies map[string]json.RawMessage `json:"optionalDependencies"`
}

func (w nodeWishes) tell(l *list) {
	for _, block := range []map[string]json.RawMessage{w.Dependencies, w.DevDependencies, w.OptionalDependencies} {
		for name := range block {
			l.direct("npm", name)
		}
	}
}
