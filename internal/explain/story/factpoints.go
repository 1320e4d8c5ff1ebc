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

// addPackages adds a point for each package manager, then points for package files that no
// fact describes.
func (d *gistBuilder) addPackages() {
	d.startSection(retake.ThemePackages)
	brought := map[string][]*gistItem{}
	for _, t := range d.items {
		if t.theme == retake.ThemePackages || t.class == pathclass.Lock && t.theme == retake.ThemeSource {
			m := pathclass.Manager(t.item.Path)
			brought[m] = append(brought[m], t)
		}
	}
	for _, list := range groupFacts(factsOfKind(d.facts, retake.FactPackage), func(f retake.Fact) string { return f.Group }) {
		d.addFactPoint(packageText(list), brought[list[0].Group]...)
	}
	for _, in := range groupByTopDir(d.uncoveredItems(retake.ThemePackages)) {
		text := termtext.Count(countFiles(in)) + " in " + commonParent(in)
		if len(in) == 1 {
			text = itemText(in[0].item)
		}
		if allChanged(in, retake.Deleted) {
			text = "deleted " + text
		}
		d.addPoint(text, in...)
	}
}

// addSettings adds points for keys, units, crontabs and likely secrets, then for settings
// files that no fact describes.
func (d *gistBuilder) addSettings() {
	d.startSection(retake.ThemeSettings)
	for _, list := range groupFacts(d.factsInExistingFiles(factsOfKind(d.facts, retake.FactEnv)), factPath) {
		d.addFactPoint(envKeysText(list), d.itemByPath[list[0].Path])
	}
	for _, f := range factsOfKind(d.facts, retake.FactSecret) {
		if f.What != retake.Deleted && !isEnvFile(f.Path) {
			d.addFactPoint(factText(f), d.uncoveredItem(f.Path, retake.ThemeSettings))
		}
	}
	for _, list := range groupFacts(d.factsInExistingFiles(factsOfKind(d.facts, retake.FactSetting)), factPath) {
		if t := d.uncoveredItem(list[0].Path, retake.ThemeSettings); t != nil {
			d.addFactPoint(settingText(list), t)
		} else if t := d.uncoveredItem(list[0].Path, retake.ThemeSource); t != nil && anyDeleted(list) { // texts of a translation
			d.addFactPoint(settingText(list), t)
		}
	}
	for _, f := range factsOfKind(d.facts, retake.FactUnit, retake.FactCron, retake.FactExecutable) {
		d.addFactPoint(factText(f), d.uncoveredItem(f.Path, retake.ThemeSettings))
	}
	d.addModes(retake.ThemeSettings)
	list := d.uncoveredItems(retake.ThemeSettings)
	if len(list) > topFiles {
		list = d.addCrowdedDirs(list)
	}
	for i, t := range list {
		if i < topFiles {
			d.addPoint(changeText(t.item), t)
		}
	}
}

func factPath(f retake.Fact) string { return f.Path }

// factsInExistingFiles drops facts about deleted files: that the file is gone already says
// it.
func (d *gistBuilder) factsInExistingFiles(list []retake.Fact) []retake.Fact {
	var out []retake.Fact
	for _, f := range list {
		if t := d.itemByPath[f.Path]; t == nil || t.theme != retake.ThemeDeleted {
			out = append(out, f)
		}
	}
	return out
}

// uncoveredItem returns the item at path if it belongs to the theme and no point covers it
// yet, else nil.
func (d *gistBuilder) uncoveredItem(path string, th retake.Theme) *gistItem {
	if t := d.itemByPath[path]; t != nil && t.theme == th && !t.covered {
		return t
	}
	return nil
}

// addDatabases adds a point for each database: tables before rows, rows before the rest.
func (d *gistBuilder) addDatabases() {
	d.startSection(retake.ThemeDatabase)
	list := d.factsInExistingFiles(factsOfKind(d.facts, retake.FactTable, retake.FactRows, retake.FactIndex))
	for _, one := range groupFacts(list, factPath) {
		d.addFactPoint(databaseText(one), d.itemByPath[one[0].Path])
	}
	for _, t := range d.uncoveredItems(retake.ThemeDatabase) {
		if strings.Contains(t.item.Note, noteTorn) {
			d.addPoint(baseName(t.item.Path)+" was moving", t)
		} else {
			d.addPoint(changeText(t.item), t)
		}
	}
}

// databaseText describes the changes of one database in a few words; lost rows come before
// everything else.
func databaseText(list []retake.Fact) string {
	name := baseName(list[0].Path)
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
	if text := cmp.Or(lostRowsText(rows, tables), schemaChangeText(tables, "table"), changedRowsText(rows)); text != "" {
		return name + " " + text + lostIndexesText(rest, tables)
	}
	return name + " " + schemaChangeText(rest, "index")
}

// changedRowsText names up to two tables with changed rows, and counts more.
func changedRowsText(rows []retake.Fact) string {
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

func isDeleted(f retake.Fact) bool { return f.What == retake.Deleted }

func anyDeleted(list []retake.Fact) bool { return slices.ContainsFunc(list, isDeleted) }

// lostIndexesText describes indexes that were dropped without a table. Recreating a table
// to change it drops its indexes too; that is not worth a point.
func lostIndexesText(indexes, tables []retake.Fact) string {
	lost := slices.DeleteFunc(slices.Clone(indexes), func(f retake.Fact) bool { return !isDeleted(f) })
	if len(lost) == 0 || anyDeleted(tables) {
		return ""
	}
	return ", " + schemaChangeText(lost, "index")
}

func rowsText(f retake.Fact) string {
	return f.Name + " " + cmp.Or(f.Before, "0") + arrow + cmp.Or(f.After, "0") + " rows"
}

// lostRowsText names the table that lost most rows and counts the others, then adds the
// schema changes that this does not cover. It returns "" if no rows were lost.
func lostRowsText(rows, tables []retake.Fact) string {
	var lost []retake.Fact
	for _, f := range rows {
		if rowsLost(f) > 0 {
			lost = append(lost, f)
		}
	}
	if len(lost) == 0 {
		return ""
	}
	slices.SortStableFunc(lost, func(a, b retake.Fact) int { return cmp.Compare(rowsLost(b), rowsLost(a)) })
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
		text = schemaChangeText(other, "table") + ", " + text
	}
	return text
}

// rowsLost returns how many rows a table lost, or 0 if the counts cannot be read.
func rowsLost(f retake.Fact) int64 {
	before, _ := parseRowCount(f.Before)
	after, ok := parseRowCount(cmp.Or(f.After, "0"))
	if !ok {
		return 0
	}
	return before - after
}

// parseRowCount parses a row count. For a count that is only a lower bound it returns the
// bound.
func parseRowCount(text string) (int64, bool) {
	n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimPrefix(text, "more than "), ",", ""), 10, 64)
	return n, err == nil
}

// schemaChangeText describes deleted, added and changed tables or indexes, deleted ones
// first.
func schemaChangeText(list []retake.Fact, noun string) string {
	nouns := map[string]string{"table": "tables", "index": "indexes"}[noun]
	var parts []string
	for _, w := range []struct {
		what retake.Difference
		sign string
	}{{retake.Deleted, minusSign}, {retake.Added, "+"}, {retake.Edited, ""}} {
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
			text += columnChangeText(these)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// columnChangeText names the columns that a single table lost, else it says that the tables
// changed.
func columnChangeText(list []retake.Fact) string {
	var lost []string
	if len(list) == 1 {
		lost = lostColumns(list[0].Before, list[0].After)
	}
	switch len(lost) {
	case 0:
		return " changed"
	case 1, 2:
		return " " + minusSign + strings.Join(lost, " "+minusSign)
	}
	return " " + minusSign + termtext.Count(int64(len(lost))) + " columns"
}

// addMachine adds points for what was observed outside the root.
func (d *gistBuilder) addMachine() {
	d.startSection(retake.ThemeMachine)
	for _, text := range groupMachineFacts(d.facts) {
		d.addFactPoint(text.Note)
	}
}

// machineItems returns the items for what was observed outside the root. Unless the story
// is full, the packages of one manager are one item.
func machineItems(facts []retake.Fact, full bool) []retake.Item {
	if !full {
		return groupMachineFacts(facts)
	}
	var out []retake.Item
	for _, f := range facts {
		if isOutsideRoot(f) {
			out = append(out, retake.Item{Path: f.Path, What: f.What, Note: factText(f)})
		}
	}
	return out
}

// groupMachineFacts groups the facts from outside the root into items: one for each package
// manager, one for each other fact.
func groupMachineFacts(facts []retake.Fact) []retake.Item {
	var list []retake.Fact
	for _, f := range facts {
		if isOutsideRoot(f) {
			list = append(list, f)
		}
	}
	var out []retake.Item
	for _, c := range groupFacts(list, func(f retake.Fact) string {
		if f.Kind == retake.FactPackage {
			return "package " + f.Group
		}
		return string(f.Kind) + " " + f.Path + " " + f.Name
	}) {
		it := retake.Item{Path: c[0].Path, What: c[0].What, Note: factText(c[0])}
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
