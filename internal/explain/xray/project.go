package xray

import (
	"strings"

	"github.com/retake-dev/retake"
)

// projectReaders read files in which a project says what it asks for. The blocks that do
// are no settings: what they bring is told by lock files and by what is installed.
var projectReaders = []reader{
	{name: "npm-project@2", limit: maxText, wants: project("package.json"), read: func(in input) ([]retake.Trait, error) {
		return readProject(in, "npm", (*flat).json, nodeBlocks)
	}},
	{name: "composer-project@2", limit: maxText, wants: project("composer.json"), read: func(in input) ([]retake.Trait, error) {
		return readProject(in, "composer", (*flat).json, composerBlocks)
	}},
	{name: "cargo-project@2", limit: maxText, wants: project("Cargo.toml"), read: func(in input) ([]retake.Trait, error) {
		return readProject(in, "cargo", (*flat).toml, cargoBlocks)
	}},
	{name: "python-project@2", limit: maxText, wants: project("pyproject.toml"), read: func(in input) ([]retake.Trait, error) {
		return readProject(in, "pypi", (*flat).toml, pythonBlocks)
	}},
}

// projects are the names of these files.
func isProject(p place) bool {
	switch p.name {
	case "package.json", "composer.json", "Cargo.toml", "pyproject.toml":
		return true
	}
	return false
}

func project(name string) func(place) bool {
	return func(p place) bool { return p.name == name && p.ours() }
}

// block is a path of keys below which packages are named: by the next key, or by texts as
// requirements.txt has them. A star is any key.
type block struct {
	keys  []string
	texts bool
}

func keys(paths ...string) []block {
	var all []block
	for _, p := range paths {
		all = append(all, block{keys: strings.Split(p, ".")})
	}
	return all
}

func texts(paths ...string) []block {
	all := keys(paths...)
	for i := range all {
		all[i].texts = true
	}
	return all
}

func nodeBlocks() []block {
	return append(keys("dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "peerDependenciesMeta"),
		texts("bundledDependencies", "bundleDependencies")...)
}

func composerBlocks() []block { return keys("require", "require-dev") }

func cargoBlocks() []block {
	return keys("dependencies", "dev-dependencies", "build-dependencies", "workspace.dependencies",
		"target.*.dependencies", "target.*.dev-dependencies", "target.*.build-dependencies")
}

func pythonBlocks() []block {
	return append(keys("tool.poetry.dependencies", "tool.poetry.dev-dependencies", "tool.poetry.group.*.dependencies"),
		texts("project.dependencies", "project.optional-dependencies", "dependency-groups", "tool.uv.dev-dependencies", "tool.pdm.dev-dependencies")...)
}

// holds reports whether a path lies below the block.
func (b block) holds(path []string) bool {
	if len(path) <= len(b.keys) {
		return false
	}
	for i, k := range b.keys {
		if k != "*" && k != path[i] {
			return false
		}
	}
	return true
}

// readProject reads a document but for its blocks.
func readProject(in input, group string, parse func(*flat, []byte) error, blocks func() []block) ([]retake.Trait, error) {
	l := newList(in)
	f := newFlat(l)
	f.group, f.blocks = group, blocks()
	if err := parse(f, in.data); err != nil {
		return nil, err
	}
	return l.traits, nil
}

// wish notes what a project asks for, if the path leads into a block.
func (f *flat) wish(text string) bool {
	for _, b := range f.blocks {
		if !b.holds(f.path) {
			continue
		}
		name := f.path[len(b.keys)]
		if b.texts {
			if name = text; f.group == "pypi" {
				name = required(text)
			}
		}
		if f.group == "pypi" {
			name = pythonName(name)
		}
		f.l.direct(f.group, name)
		return true
	}
	return false
}
