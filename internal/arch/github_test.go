package arch_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"
)

var (
	pinned   = regexp.MustCompile(`^[\w.-]+(?:/[\w.-]+)+@v\d+\.\d+\.\d+$`)
	makeCall = regexp.MustCompile(`(?m)^\s*make ([a-z][a-z ]*)`)
	makeRule = regexp.MustCompile(`(?m)^([a-z]+):`)
)

// manifest is the file that dependabot reads in a directory.
var manifest = map[string]string{"gomod": "go.mod", "npm": "package.json", "docker": "Dockerfile", "github-actions": ".github/workflows"}

type workflow struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		Strategy struct {
			Matrix struct{ Include []struct{ Target string } }
		}
		Steps []struct{ Uses, Run string }
	}
}

// checkGitHub answers what is wrong with the files below .github. GitHub says nothing about
// a template or a list of updates that it cannot read; it goes without.
func checkGitHub(tree fs.FS) ([]string, error) {
	var found []string
	err := fs.WalkDir(tree, ".github", func(name string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".yml" {
			return err
		}
		src, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		for _, text := range checkYAML(tree, name, src) {
			found = append(found, name+": "+text)
		}
		return nil
	})
	return found, err
}

func checkYAML(tree fs.FS, name string, src []byte) []string {
	var all map[string]any // finds keys that are there twice, too
	if err := yaml.Unmarshal(src, &all); err != nil {
		return []string{"is not YAML: " + err.Error()}
	}
	switch {
	case strings.HasPrefix(name, ".github/workflows/"):
		return checkWorkflow(tree, src)
	case name == ".github/dependabot.yml":
		return checkUpdates(tree, src)
	case strings.HasPrefix(name, ".github/ISSUE_TEMPLATE/") && path.Base(name) != "config.yml":
		var found []string
		for _, key := range []string{"name", "description", "body"} {
			if all[key] == nil {
				found = append(found, "a template has a "+key)
			}
		}
		return found
	}
	return nil
}

func checkWorkflow(tree fs.FS, src []byte) []string {
	var w workflow
	if err := yaml.Unmarshal(src, &w); err != nil {
		return []string{"is no workflow: " + err.Error()}
	}
	var found, targets []string
	if w.Permissions["contents"] != "read" || len(w.Permissions) != 1 {
		found = append(found, "a workflow may read the contents, and nothing else")
	}
	for _, job := range w.Jobs {
		for _, one := range job.Strategy.Matrix.Include {
			targets = append(targets, one.Target)
		}
		for _, step := range job.Steps {
			if step.Uses != "" && !pinned.MatchString(step.Uses) {
				found = append(found, step.Uses+" is not pinned by a full version")
			}
			for _, m := range makeCall.FindAllStringSubmatch(step.Run, -1) {
				targets = append(targets, strings.Fields(m[1])...)
			}
			if strings.HasPrefix(step.Run, ".ci/") && !there(tree, step.Run) {
				found = append(found, "there is no "+step.Run)
			}
		}
	}
	makefile, _ := fs.ReadFile(tree, "Makefile") // without one, no target is there
	for _, target := range targets {
		if !slices.ContainsFunc(makeRule.FindAllSubmatch(makefile, -1), func(m [][]byte) bool { return string(m[1]) == target }) {
			found = append(found, "there is no target "+target+" in the Makefile")
		}
	}
	return found
}

func checkUpdates(tree fs.FS, src []byte) []string {
	var list struct {
		Updates []struct {
			Ecosystem string `yaml:"package-ecosystem"`
			Directory string
		}
	}
	if err := yaml.Unmarshal(src, &list); err != nil {
		return []string{"is no list of updates: " + err.Error()}
	}
	var found []string
	for _, u := range list.Updates {
		if file := manifest[u.Ecosystem]; file == "" || !there(tree, path.Join(strings.TrimPrefix(u.Directory, "/"), file)) {
			found = append(found, "nothing of "+u.Ecosystem+" in "+u.Directory)
		}
	}
	return found
}

func there(tree fs.FS, name string) bool {
	_, err := fs.Stat(tree, name)
	return err == nil
}

func TestGitHubFilesAreValid(t *testing.T) {
	t.Parallel()
	found, err := checkGitHub(os.DirFS(repository))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range found {
		t.Error(text)
	}
}

func TestPlantedGitHubFilesAreFound(t *testing.T) {
	t.Parallel()
	const (
		flow  = ".github/workflows/a.yml"
		head  = "permissions: {contents: read}\njobs:\n  a:\n"
		form  = ".github/ISSUE_TEMPLATE/a.yml"
		fresh = ".github/dependabot.yml"
	)
	for what, c := range map[string]struct{ name, text, want string }{
		"a key twice":   {flow, head + "  a:\n", flow + ": is not YAML: yaml: unmarshal errors:\n  line 4: mapping key \"a\" already defined at line 3"},
		"a branch":      {flow, head + "    steps: [{uses: actions/checkout@main}]\n", flow + ": actions/checkout@main is not pinned by a full version"},
		"a short tag":   {flow, head + "    steps: [{uses: actions/checkout@v7}]\n", flow + ": actions/checkout@v7 is not pinned by a full version"},
		"no target":     {flow, head + "    steps: [{run: make test gone}]\n", flow + ": there is no target gone in the Makefile"},
		"none there":    {flow, head + "    strategy: {matrix: {include: [{target: gone}]}}\n", flow + ": there is no target gone in the Makefile"},
		"no script":     {flow, head + "    steps: [{run: .ci/gone}]\n", flow + ": there is no .ci/gone"},
		"all rights":    {flow, "jobs: {}\n", flow + ": a workflow may read the contents, and nothing else"},
		"more rights":   {flow, "permissions: {contents: read, issues: write}\n", flow + ": a workflow may read the contents, and nothing else"},
		"half a form":   {form, "name: Bug\ndescription: It broke\n", form + ": a template has a body"},
		"no such place": {fresh, "updates: [{package-ecosystem: npm, directory: /gone}]\n", fresh + ": nothing of npm in /gone"},
		"no such kind":  {fresh, "updates: [{package-ecosystem: gone, directory: /}]\n", fresh + ": nothing of gone in /"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			found, err := checkGitHub(fstest.MapFS{c.name: {Data: []byte(c.text)}, "Makefile": {Data: []byte("test: ## tests\n")}})
			if err != nil {
				t.Fatal(err)
			}
			if len(found) != 1 || found[0] != c.want {
				t.Errorf("complaints: %q\nwant exactly: %q", found, c.want)
			}
		})
	}
}
