package xray

import (
	"encoding/json"
	"strings"

	"github.com/retake-dev/retake"
)

var nodeReaders = []reader{
	{name: "npm-installed@1", limit: maxText, rank: rankInstalled, read: readInstalledNode, wants: func(p fileLocation) bool {
		return p.name == "package.json" && isPackageRoot(p.dir)
	}},
	{name: "npm-listed@1", limit: maxLock, rank: rankListed, read: readListedNode, wants: func(p fileLocation) bool {
		return p.name == ".package-lock.json" && p.inDir("node_modules")
	}},
	{name: "pnpm-listed@1", limit: maxLock, rank: rankListed, read: readPNPM, wants: func(p fileLocation) bool {
		return p.name == "lock.yaml" && p.inDir("node_modules/.pnpm")
	}},
	{name: "npm-lock@1", limit: maxLock, rank: rankLocked, read: readPackageLock, wants: lockFileNamed("package-lock.json", "npm-shrinkwrap.json")},
	{name: "yarn-lock@1", limit: maxLock, rank: rankLocked, read: readYarn, wants: lockFileNamed("yarn.lock")},
	{name: "pnpm-lock@1", limit: maxLock, rank: rankLocked, read: readPNPM, wants: lockFileNamed("pnpm-lock.yaml")},
	{name: "bun-lock@1", limit: maxLock, rank: rankLocked, read: readBun, wants: lockFileNamed("bun.lock")},
}

const nodeModules = "node_modules/"

// isPackageRoot reports whether a directory is a package and not a part of one: it is
// directly in node_modules, or in a scope there.
func isPackageRoot(dir string) bool {
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
		return nil, failReason("is not JSON")
	}
	name, _ := f.Name.(string)
	version, _ := f.Version.(string)
	l := newTraitList(in)
	l.addPackage("npm", name, version, false)
	return l.traits, nil
}

// nodeDependencies are the packages that a project requests by name.
type nodeDependencies struct {
	Dependencies         map[string]json.RawMessage `json:"dependencies"`
	DevDependencies      map[string]json.RawMessage `json:"devDependencies"`
	OptionalDependencies map[string]json.RawMessage `json:"optionalDependencies"`
}

func (w nodeDependencies) addTo(l *traitList) {
	for _, block := range []map[string]json.RawMessage{w.Dependencies, w.DevDependencies, w.OptionalDependencies} {
		for name := range block {
			l.addDirectDependency("npm", name)
		}
	}
}
