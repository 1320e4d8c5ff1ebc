package story

import (
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// lead is the word or two that stand for the whole story: what people lost, what was
// brought in, then the file that changed most.
func (d *digester) lead() string {
	var lost int64
	first := map[retake.Theme]*tale{}
	for _, t := range d.tales {
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
	if list := of(d.facts, retake.FactPackage); len(list) > 0 {
		return packageLead(list)
	}
	git := of(d.facts, retake.FactGit)
	for _, th := range []retake.Theme{retake.ThemeSource, retake.ThemeSettings, retake.ThemeDatabase, retake.ThemePackages, retake.ThemeBuild, retake.ThemeDeleted, retake.ThemeMoving, retake.ThemeGit} {
		if t := first[th]; th == retake.ThemeGit && t != nil && len(git) > 0 {
			word, _, _ := strings.Cut(git[0].Name, " ")
			return "git " + word
		} else if t != nil {
			return d.word(th, t)
		}
	}
	return machineLead(d.facts)
}

// word is the short name of an item.
func (d *digester) word(th retake.Theme, t *tale) string {
	switch th {
	case retake.ThemeDeleted:
		var list []*tale
		for _, t := range d.tales {
			if t.theme == th {
				list = append(list, t)
			}
		}
		return "deleted " + termtext.Count(files(list))
	case retake.ThemeSource:
		if list := d.pick(th, false); len(list) > fewFiles && !standsOut(list) {
			if in := gather(list); len(in) > 0 && 2*files(in[0]) > files(list) {
				return base(common(in[0])) + "/"
			}
		}
	case retake.ThemePackages, retake.ThemeBuild, retake.ThemeGit:
		if top := pathclass.Top(t.item.Path); top != "" {
			return base(top) + "/"
		}
	default:
	}
	if strings.HasSuffix(t.item.Path, "/") {
		return base(t.item.Path) + "/"
	}
	return base(t.item.Path)
}

// packageLead counts the packages of the first manager.
func packageLead(list []retake.Fact) string {
	one := cluster(list, func(f retake.Fact) string { return f.Group })[0]
	words := strings.Fields(packageText(one))
	if len(words) < 2 {
		return one[0].Group
	}
	return words[0] + " " + words[1]
}

// machineLead is what the machine showed, when no file changed.
func machineLead(facts []retake.Fact) string {
	items := seen(facts)
	if len(items) == 0 {
		return ""
	}
	words := strings.Fields(items[0].Note)
	return strings.Join(words[:min(2, len(words))], " ")
}
