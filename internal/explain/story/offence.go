package story

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// changeOfItems makes one notable change of several items: a single one is named, more are
// counted.
func changeOfItems(list []*gistItem, noun string, about changeTopic) notableChange {
	o := notableChange{text: noun, topic: about, mentions: itemMentions(list)}
	switch {
	case len(list) == 1:
		o.text = itemText(list[0].item)
	case about == topicLoss:
		o.text = fileCountText(countFiles(list))
		if dir := commonParent(list); dir != "" && dir != "./" {
			o.text = termtext.Count(countFiles(list)) + " in " + dir
		}
	case about == topicCode:
		o.text = termtext.Count(countFiles(list)) + " files of code"
	}
	return o
}

// withoutSiteCode drops the items that belong to the code of a website.
func withoutSiteCode(list []*gistItem) []*gistItem {
	var left []*gistItem
	for _, t := range list {
		if first, _, _ := strings.Cut(t.item.Path, "/"); first != "website" && first != "site" && first != "www" {
			left = append(left, t)
		}
	}
	return left
}

// itemMentions returns the names by which a statement would mention the items.
func itemMentions(list []*gistItem) []string {
	var names []string
	for _, t := range list {
		name := strings.ToLower(baseName(t.item.Path))
		names = append(names, name)
		if stem, _, ok := strings.Cut(name, "."); ok && len(stem) > 2 {
			names = append(names, stem)
		}
	}
	return names
}

// factMentions returns the names by which a statement would mention the facts.
func factMentions(list []retake.Fact) []string {
	var names []string
	for _, f := range list {
		names = append(names, strings.ToLower(f.Name))
	}
	return names
}

// withoutEnvFacts drops .env files whose keys are reported by facts.
func withoutEnvFacts(list []*gistItem, facts []retake.Fact) []*gistItem {
	told := map[string]bool{}
	for _, f := range facts {
		if f.Kind == retake.FactEnv {
			told[f.Path] = true
		}
	}
	var left []*gistItem
	for _, t := range list {
		if !told[t.item.Path] {
			left = append(left, t)
		}
	}
	return left
}

// withoutFormatters drops packages and settings of formatters and linters.
func withoutFormatters(list []notableChange) []notableChange {
	var left []notableChange
	for _, o := range list {
		formatter := false
		for _, word := range []string{"prettier", "eslint", "format", "lint", "black", "ruff", "isort", "biome", "fmt"} {
			formatter = formatter || (o.topic == topicPackages || o.topic == topicSettings) && strings.Contains(strings.ToLower(o.text), word)
		}
		if !formatter {
			left = append(left, o)
		}
	}
	return left
}

// allowedScope is what "only X" allows to change: a path, or a class of files.
type allowedScope struct {
	path  string
	class pathclass.Class
}

// allows reports whether a change is in scope. Files that package managers write are always
// in scope; documents and tests are in the scope of any path.
func (w allowedScope) allows(t *gistItem) bool {
	if t.class == pathclass.Lock || t.class == pathclass.Dependency {
		return true
	}
	if w.class != "" {
		return w.allowsClass(t)
	}
	p, want := strings.ToLower(t.item.Path), strings.TrimPrefix(strings.TrimSuffix(w.path, "/"), "./")
	switch {
	case t.class == pathclass.Docs || t.class == pathclass.Test, fileStem(p) == fileStem(want):
		return true
	case strings.HasSuffix(p, "/") && strings.HasPrefix(want, p):
		return true // a folded directory may contain what is allowed
	}
	return strings.HasSuffix("/"+p, "/"+want) || strings.Contains("/"+p, "/"+want+"/")
}

func (w allowedScope) allowsClass(t *gistItem) bool {
	switch w.class {
	case pathclass.Settings:
		return t.class == pathclass.Settings || t.class == pathclass.Env
	case pathclass.Docs:
		return t.class == pathclass.Docs || t.class == pathclass.Asset
	case pathclass.Test:
		return t.class == pathclass.Test || strings.Contains(strings.ToLower(t.item.Path), "test")
	default:
		return t.class == w.class
	}
}

func fileStem(path string) string {
	s, _, _ := strings.Cut(baseName(path), ".")
	return s
}

// changesOutside returns the changes that "only X" does not allow. A bare name that no
// changed file has may not be a file name at all; then it returns nil.
func (d *changeSummary) changesOutside(w allowedScope) []notableChange {
	if w.path != "" && !strings.Contains(w.path, "/") && !slices.ContainsFunc(d.items, func(t *gistItem) bool { return strings.ToLower(baseName(t.item.Path)) == w.path }) {
		return nil
	}
	out := changeSummary{facts: d.facts}
	for _, t := range d.items {
		if !w.allows(t) {
			out.addItem(t)
		}
	}
	see := changeFilter{lost: true, code: true, settings: true, packages: w.class != pathclass.Manifest && pathclass.Manager(w.path) == ""}
	list := out.notableChanges(see)
	if len(withoutEnvFacts(out.settings, d.facts)) < len(out.settings) {
		list = append(list, d.envKeyChanges(false)...)
	}
	return list
}
