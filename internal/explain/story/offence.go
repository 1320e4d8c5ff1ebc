package story

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// naming makes one offence of several files: one is named, more are counted.
func naming(list []*tale, noun string, about topic) offence {
	o := offence{text: noun, topic: about, names: pathsOf(list)}
	switch {
	case len(list) == 1:
		o.text = inside(list[0].item)
	case about == aboutLoss:
		o.text = count(files(list))
		if dir := common(list); dir != "" && dir != "./" {
			o.text = termtext.Count(files(list)) + " in " + dir
		}
	case about == aboutCode:
		o.text = termtext.Count(files(list)) + " files of code"
	}
	return o
}

// besideSite leaves out what makes the pages of a site.
func besideSite(list []*tale) []*tale {
	var left []*tale
	for _, t := range list {
		if first, _, _ := strings.Cut(t.item.Path, "/"); first != "website" && first != "site" && first != "www" {
			left = append(left, t)
		}
	}
	return left
}

// pathsOf are the names by which words would speak of files.
func pathsOf(list []*tale) []string {
	var names []string
	for _, t := range list {
		name := strings.ToLower(base(t.item.Path))
		names = append(names, name)
		if stem, _, ok := strings.Cut(name, "."); ok && len(stem) > 2 {
			names = append(names, stem)
		}
	}
	return names
}

// mention are the names by which words would speak of facts.
func mention(list []retake.Fact) []string {
	var names []string
	for _, f := range list {
		names = append(names, strings.ToLower(f.Name))
	}
	return names
}

// withoutFacts leaves out .env files whose keys are told.
func withoutFacts(list []*tale, facts []retake.Fact) []*tale {
	told := map[string]bool{}
	for _, f := range facts {
		if f.Kind == retake.FactEnv {
			told[f.Path] = true
		}
	}
	var left []*tale
	for _, t := range list {
		if !told[t.item.Path] {
			left = append(left, t)
		}
	}
	return left
}

// dropTools leaves out the packages and settings of programs that format.
func dropTools(list []offence) []offence {
	var left []offence
	for _, o := range list {
		formatter := false
		for _, word := range []string{"prettier", "eslint", "format", "lint", "black", "ruff", "isort", "biome", "fmt"} {
			formatter = formatter || (o.topic == aboutPackages || o.topic == aboutSettings) && strings.Contains(strings.ToLower(o.text), word)
		}
		if !formatter {
			left = append(left, o)
		}
	}
	return left
}

// within says which paths "only X" allows.
type within struct {
	path  string
	class pathclass.Class
}

// allows reports whether a change is within. What managers of packages write is never
// beyond; documents and tests are not beyond a path.
func (w within) allows(t *tale) bool {
	if t.class == pathclass.Lock || t.class == pathclass.Dependency {
		return true
	}
	if w.class != "" {
		return w.allowsClass(t)
	}
	p, want := strings.ToLower(t.item.Path), strings.TrimPrefix(strings.TrimSuffix(w.path, "/"), "./")
	switch {
	case t.class == pathclass.Docs || t.class == pathclass.Test, stem(p) == stem(want):
		return true
	case strings.HasSuffix(p, "/") && strings.HasPrefix(want, p):
		return true // a directory that stands for what is in it may hold what is allowed
	}
	return strings.HasSuffix("/"+p, "/"+want) || strings.Contains("/"+p, "/"+want+"/")
}

func (w within) allowsClass(t *tale) bool {
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

func stem(path string) string {
	s, _, _ := strings.Cut(base(path), ".")
	return s
}

// beyond are the deeds that "only X" does not allow. A bare name that no changed file has
// may be no file at all.
func (d *deeds) beyond(w within) []offence {
	if w.path != "" && !strings.Contains(w.path, "/") && !slices.ContainsFunc(d.tales, func(t *tale) bool { return strings.ToLower(base(t.item.Path)) == w.path }) {
		return nil
	}
	out := deeds{facts: d.facts}
	for _, t := range d.tales {
		if !w.allows(t) {
			out.sort(t)
		}
	}
	see := sight{lost: true, code: true, settings: true, packages: w.class != pathclass.Manifest && pathclass.Manager(w.path) == ""}
	list := out.offences(see)
	if len(withoutFacts(out.settings, d.facts)) < len(out.settings) {
		list = append(list, d.keys(false)...)
	}
	return list
}
