package story

import (
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// leadText returns the word or two that stand for the whole story: deletions, then
// packages, then the file that changed most.
func (d *gistBuilder) leadText() string {
	var lost int64
	first := map[retake.Theme]*gistItem{}
	for _, t := range d.items {
		if t.theme == retake.ThemeDeleted && t.class != pathclass.Build {
			lost += t.item.Files
		}
		if first[t.theme] == nil {
			first[t.theme] = t
		}
	}
	if lost > 0 {
		return "deleted " + termtext.Count(lost)
	}
	if list := factsOfKind(d.facts, retake.FactPackage); len(list) > 0 {
		return packageLead(list)
	}
	git := factsOfKind(d.facts, retake.FactGit)
	for _, th := range []retake.Theme{retake.ThemeSource, retake.ThemeSettings, retake.ThemeDatabase, retake.ThemePackages, retake.ThemeBuild, retake.ThemeDeleted, retake.ThemeMoving, retake.ThemeGit} {
		if t := first[th]; th == retake.ThemeGit && t != nil && len(git) > 0 {
			word, _, _ := strings.Cut(git[0].Name, " ")
			return "git " + word
		} else if t != nil {
			return d.itemLead(th, t)
		}
	}
	return machineLead(d.facts)
}

// itemLead returns the short name of an item for the lead.
func (d *gistBuilder) itemLead(th retake.Theme, t *gistItem) string {
	switch th {
	case retake.ThemeDeleted:
		var list []*gistItem
		for _, t := range d.items {
			if t.theme == th {
				list = append(list, t)
			}
		}
		return "deleted " + termtext.Count(countFiles(list))
	case retake.ThemeSource:
		if list := d.themeItems(th, false); len(list) > fewFiles && !firstDominates(list) {
			if in := groupByFirstDir(list); len(in) > 0 && 2*countFiles(in[0]) > countFiles(list) {
				return baseName(commonParent(in[0])) + "/"
			}
		}
	case retake.ThemePackages, retake.ThemeBuild, retake.ThemeGit:
		if top := pathclass.DecidingDir(t.item.Path); top != "" {
			return baseName(top) + "/"
		}
	default:
	}
	if strings.HasSuffix(t.item.Path, "/") {
		return baseName(t.item.Path) + "/"
	}
	return baseName(t.item.Path)
}

// packageLead counts the packages of the first manager.
func packageLead(list []retake.Fact) string {
	one := groupFacts(list, func(f retake.Fact) string { return f.Group })[0]
	words := strings.Fields(packageText(one))
	if len(words) < 2 {
		return one[0].Group
	}
	return words[0] + " " + words[1]
}

// machineLead describes the first fact about the machine, for stories in which no file
// changed.
func machineLead(facts []retake.Fact) string {
	items := groupMachineFacts(facts)
	if len(items) == 0 {
		return ""
	}
	words := strings.Fields(items[0].Note)
	return strings.Join(words[:min(2, len(words))], " ")
}
