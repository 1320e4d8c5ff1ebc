package xray

import (
	"strings"

	"github.com/retake-dev/retake"
)

// projectReaders read files in which a project lists its dependencies. Those lists are not
// settings: lock files and installed packages report what they bring.
var projectReaders = []reader{
	{name: "npm-project@2", limit: maxText, wants: projectFileNamed("package.json"), read: func(in input) ([]retake.Trait, error) {
		return readProject(in, "npm", (*settingCollector).parseJSON, nodeBlocks)
	}},
	{name: "composer-project@2", limit: maxText, wants: projectFileNamed("composer.json"), read: func(in input) ([]retake.Trait, error) {
		return readProject(in, "composer", (*settingCollector).parseJSON, composerBlocks)
	}},
	{name: "cargo-project@2", limit: maxText, wants: projectFileNamed("Cargo.toml"), read: func(in input) ([]retake.Trait, error) {
		return readProject(in, "cargo", (*settingCollector).parseTOML, cargoBlocks)
	}},
	{name: "python-project@2", limit: maxText, wants: projectFileNamed("pyproject.toml"), read: func(in input) ([]retake.Trait, error) {
		return readProject(in, "pypi", (*settingCollector).parseTOML, pythonBlocks)
	}},
}

// isProjectFile reports whether a file has a reader in projectReaders.
func isProjectFile(p fileLocation) bool {
	switch p.name {
	case "package.json", "composer.json", "Cargo.toml", "pyproject.toml":
		return true
	}
	return false
}

func projectFileNamed(name string) func(fileLocation) bool {
	return func(p fileLocation) bool { return p.name == name && p.isWorkspaceFile() }
}

// dependencyBlock is a path of keys below which packages are named: by the next key, or by
// text as in requirements.txt. A star matches any key.
type dependencyBlock struct {
	keys   []string
	inText bool
}

func keyBlocks(paths ...string) []dependencyBlock {
	var all []dependencyBlock
	for _, p := range paths {
		all = append(all, dependencyBlock{keys: strings.Split(p, ".")})
	}
	return all
}

func textBlocks(paths ...string) []dependencyBlock {
	all := keyBlocks(paths...)
	for i := range all {
		all[i].inText = true
	}
	return all
}

func nodeBlocks() []dependencyBlock {
	return append(keyBlocks("dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "peerDependenciesMeta"),
		textBlocks("bundledDependencies", "bundleDependencies")...)
}

func composerBlocks() []dependencyBlock { return keyBlocks("require", "require-dev") }

func cargoBlocks() []dependencyBlock {
	return keyBlocks("dependencies", "dev-dependencies", "build-dependencies", "workspace.dependencies",
		"target.*.dependencies", "target.*.dev-dependencies", "target.*.build-dependencies")
}

func pythonBlocks() []dependencyBlock {
	return append(keyBlocks("tool.poetry.dependencies", "tool.poetry.dev-dependencies", "tool.poetry.group.*.dependencies"),
		textBlocks("project.dependencies", "project.optional-dependencies", "dependency-groups", "tool.uv.dev-dependencies", "tool.pdm.dev-dependencies")...)
}

// contains reports whether a path is below the block.
func (b dependencyBlock) contains(path []string) bool {
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

// readProject reads a document, except for its dependency blocks, as settings.
func readProject(in input, group string, parse func(*settingCollector, []byte) error, blocks func() []dependencyBlock) ([]retake.Trait, error) {
	l := newTraitList(in)
	f := newSettingCollector(l)
	f.group, f.blocks = group, blocks()
	if err := parse(f, in.data); err != nil {
		return nil, err
	}
	return l.traits, nil
}

// addDependency records a dependency if the current path is in a dependency block, and
// reports whether it is.
func (f *settingCollector) addDependency(text string) bool {
	for _, b := range f.blocks {
		if !b.contains(f.path) {
			continue
		}
		name := f.path[len(b.keys)]
		if b.inText {
			if name = text; f.group == "pypi" {
				name = requirementName(text)
			}
		}
		if f.group == "pypi" {
			name = pythonName(name)
		}
		f.list.addDirectDependency(f.group, name)
		return true
	}
	return false
}
