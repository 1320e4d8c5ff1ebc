package story

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// packages tells what each manager brought and took, and the files of those that nobody
// could read.
func (d *digester) packages() {
	d.open(retake.ThemePackages)
	brought := map[string][]*tale{}
	for _, t := range d.tales {
		if t.theme == retake.ThemePackages || t.class == pathclass.Lock && t.theme == retake.ThemeSource {
			m := pathclass.Manager(t.item.Path)
			brought[m] = append(brought[m], t)
		}
	}
	for _, list := range cluster(of(d.facts, retake.FactPackage), func(f retake.Fact) string { return f.Group }) {
		d.plain(packageText(list), brought[list[0].Group]...)
	}
	for _, in := range byTop(d.untold(retake.ThemePackages)) {
		text := termtext.Count(files(in)) + " in " + common(in)
		if len(in) == 1 {
			text = inside(in[0].item)
		}
		if all(in, retake.Deleted) {
			text = "deleted " + text
		}
		d.add(text, in...)
	}
}

// settings tells keys, units, crontabs and likely secrets, then the files that no fact
// speaks of.
func (d *digester) settings() {
	d.open(retake.ThemeSettings)
	for _, list := range cluster(d.living(of(d.facts, retake.FactEnv)), byPath) {
		d.plain(keysText(list), d.paths[list[0].Path])
	}
	for _, f := range of(d.facts, retake.FactSecret) {
		if f.What != retake.Deleted && !envFile(f.Path) {
			d.plain(sentence(f), d.ofTheme(f.Path, retake.ThemeSettings))
		}
	}
	for _, list := range cluster(d.living(of(d.facts, retake.FactSetting)), byPath) {
		if t := d.ofTheme(list[0].Path, retake.ThemeSettings); t != nil {
			d.plain(settingText(list), t)
		} else if t := d.ofTheme(list[0].Path, retake.ThemeSource); t != nil && anyGone(list) { // texts of a translation
			d.plain(settingText(list), t)
		}
	}
	for _, f := range of(d.facts, retake.FactUnit, retake.FactCron, retake.FactExecutable) {
		d.plain(sentence(f), d.ofTheme(f.Path, retake.ThemeSettings))
	}
	d.modes(retake.ThemeSettings)
	list := d.untold(retake.ThemeSettings)
	if len(list) > topFiles {
		list = d.crowds(list)
	}
	for i, t := range list {
		if i < topFiles {
			d.add(phrase(t.item), t)
		}
	}
}

func byPath(f retake.Fact) string { return f.Path }

// living leaves out what is in a file that was deleted: that the file is gone says it.
func (d *digester) living(list []retake.Fact) []retake.Fact {
	var out []retake.Fact
	for _, f := range list {
		if t := d.paths[f.Path]; t == nil || t.theme != retake.ThemeDeleted {
			out = append(out, f)
		}
	}
	return out
}

// ofTheme is the item of a path, when it is told under that theme and not yet told.
func (d *digester) ofTheme(path string, th retake.Theme) *tale {
	if t := d.paths[path]; t != nil && t.theme == th && !t.told {
		return t
	}
	return nil
}

// database tells tables before rows, and rows before the rest.
func (d *digester) database() {
	d.open(retake.ThemeDatabase)
	list := d.living(of(d.facts, retake.FactTable, retake.FactRows, retake.FactIndex))
	for _, one := range cluster(list, byPath) {
		d.plain(databaseText(one), d.paths[one[0].Path])
	}
	for _, t := range d.untold(retake.ThemeDatabase) {
		if strings.Contains(t.item.Note, noteTorn) {
			d.add(base(t.item.Path)+" was moving", t)
		} else {
			d.add(phrase(t.item), t)
		}
	}
}

// databaseText is the most that can be said of one database in a few words: rows that went
// before everything else.
func databaseText(list []retake.Fact) string {
	name := base(list[0].Path)
	by := map[retake.FactKind][]retake.Fact{}
	shaped := map[string]bool{}
	for _, f := range list {
		if f.Kind == retake.FactTable && f.What != retake.Edited {
			shaped[f.Name] = true
		}
	}
	for _, f := range list {
		if f.Kind != retake.FactRows || !shaped[f.Name] {
			by[f.Kind] = append(by[f.Kind], f)
		}
	}
	tables, rows, rest := by[retake.FactTable], by[retake.FactRows], by[retake.FactIndex]
	if text := cmp.Or(lostRows(rows, tables), shapes(tables, "table"), wonRows(rows)); text != "" {
		return name + " " + text + lostIndexes(rest, tables)
	}
	return name + " " + shapes(rest, "index")
}

// wonRows names one table or two, and counts more.
func wonRows(rows []retake.Fact) string {
	switch len(rows) {
	case 0:
		return ""
	case 1:
		return rowsText(rows[0])
	case 2:
		return rowsText(rows[0]) + ", " + rowsText(rows[1])
	}
	return "rows of " + termtext.Count(int64(len(rows))) + " tables"
}

func gone(f retake.Fact) bool { return f.What == retake.Deleted }

func anyGone(list []retake.Fact) bool { return slices.ContainsFunc(list, gone) }

// lostIndexes are those that went without a table: a table that is made anew to change it
// loses them, and nobody means that.
func lostIndexes(indexes, tables []retake.Fact) string {
	lost := slices.DeleteFunc(slices.Clone(indexes), func(f retake.Fact) bool { return !gone(f) })
	if len(lost) == 0 || anyGone(tables) {
		return ""
	}
	return ", " + shapes(lost, "index")
}

func rowsText(f retake.Fact) string {
	return f.Name + " " + cmp.Or(f.Before, "0") + arrow + cmp.Or(f.After, "0") + " rows"
}

// lostRows names the table that lost most rows and counts the others, then tells the tables
// of which that does not speak. Empty: no row went.
func lostRows(rows, tables []retake.Fact) string {
	var lost []retake.Fact
	for _, f := range rows {
		if went(f) > 0 {
			lost = append(lost, f)
		}
	}
	if len(lost) == 0 {
		return ""
	}
	slices.SortStableFunc(lost, func(a, b retake.Fact) int { return cmp.Compare(went(b), went(a)) })
	text := rowsText(lost[0])
	switch more := len(lost) - 1; {
	case more == 1:
		text += ", " + rowsText(lost[1])
	case more > 1:
		text += ", " + termtext.Count(int64(more)) + " tables more lost some"
	}
	other := slices.DeleteFunc(slices.Clone(tables), func(t retake.Fact) bool {
		return t.What == retake.Edited && len(lostColumns(t.Before, t.After)) == 0 && slices.ContainsFunc(lost, func(f retake.Fact) bool { return f.Name == t.Name })
	})
	if len(other) > 0 {
		text = shapes(other, "table") + ", " + text
	}
	return text
}

// went is how many rows a table lost; counts that are none say nothing.
func went(f retake.Fact) int64 {
	before, _ := rowCount(f.Before)
	after, ok := rowCount(cmp.Or(f.After, "0"))
	if !ok {
		return 0
	}
	return before - after
}

// rowCount reads a count; of one that is only a bound, the bound.
func rowCount(text string) (int64, bool) {
	n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimPrefix(text, "more than "), ",", ""), 10, 64)
	return n, err == nil
}

// shapes tells tables or indexes that went, came or changed; those that went first.
func shapes(list []retake.Fact, noun string) string {
	nouns := map[string]string{"table": "tables", "index": "indexes"}[noun]
	var parts []string
	for _, w := range []struct {
		what retake.Difference
		sign string
	}{{retake.Deleted, minus}, {retake.Added, "+"}, {retake.Edited, ""}} {
		var these []retake.Fact
		for _, f := range list {
			if f.What == w.what {
				these = append(these, f)
			}
		}
		text := w.sign + noun + " "
		switch {
		case len(these) == 0:
			continue
		case len(these) == 1:
			text += these[0].Name
		default:
			text = w.sign + termtext.Count(int64(len(these))) + " " + nouns
		}
		if w.what == retake.Edited {
			text += changedHow(these)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// changedHow says of one table which columns it lost, and else that it changed.
func changedHow(list []retake.Fact) string {
	var lost []string
	if len(list) == 1 {
		lost = lostColumns(list[0].Before, list[0].After)
	}
	switch len(lost) {
	case 0:
		return " changed"
	case 1, 2:
		return " " + minus + strings.Join(lost, " "+minus)
	}
	return " " + minus + termtext.Count(int64(len(lost))) + " columns"
}

// machine tells what was seen outside the root.
func (d *digester) machine() {
	d.open(retake.ThemeMachine)
	for _, text := range seen(d.facts) {
		d.plain(text.Note)
	}
}

// machine are the items of what was seen outside the root; packages of one manager are one
// item, unless everything is told.
func machine(facts []retake.Fact, full bool) []retake.Item {
	if !full {
		return seen(facts)
	}
	var out []retake.Item
	for _, f := range facts {
		if outside(f) {
			out = append(out, retake.Item{Path: f.Path, What: f.What, Note: sentence(f)})
		}
	}
	return out
}

func seen(facts []retake.Fact) []retake.Item {
	var list []retake.Fact
	for _, f := range facts {
		if outside(f) {
			list = append(list, f)
		}
	}
	var out []retake.Item
	for _, c := range cluster(list, func(f retake.Fact) string {
		if f.Kind == retake.FactPackage {
			return "package " + f.Group
		}
		return string(f.Kind) + " " + f.Path + " " + f.Name
	}) {
		it := retake.Item{Path: c[0].Path, What: c[0].What, Note: sentence(c[0])}
		if c[0].Kind == retake.FactPackage {
			it.Note = packageText(c)
		}
		for _, f := range c {
			if f.What != it.What {
				it.What = retake.Edited
			}
		}
		out = append(out, it)
	}
	return out
}
