package story

import (
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
)

// changeSummary is what a story contains, in the form the mismatch rules need.
type changeSummary struct {
	hasUserChanges   bool // something changed that people or managers of packages keep
	items            []*gistItem
	code             []*gistItem // programs that people write, and what they ask managers for
	settings         []*gistItem
	deleted          []*gistItem // user files
	codeFilesDeleted int64       // files of code
	userFilesAdded   int64
	codeLines        int64 // of programs
	facts            []retake.Fact
}

// notableChange is a change that the statements about a checkpoint may be expected to
// mention.
type notableChange struct {
	text     string
	topic    changeTopic
	mentions []string // what a mention of it would hold, in lower case
	isLoss   bool
}

// changeTopic is what a notable change is about.
type changeTopic int

const (
	topicCode changeTopic = iota
	topicSettings
	topicKeys
	topicPackages
	topicTables
	topicLoss
)

// changeFilter selects the changes that count as notable. The Net variants select only
// losses that no addition makes up for.
type changeFilter struct {
	settings, values, keys, keysNet, packages, tables, tablesNet, code, lost, lostNet bool

	skipSiteCode bool // the code of a site that shows documents is a document
	includeDocs  bool // deleted documents count too
}

// summarizeChanges extracts the changes of a story that statements can be checked against.
// Files that agents and editors keep for themselves are left out.
func summarizeChanges(st retake.Story) changeSummary {
	d := changeSummary{}
	for _, g := range st.Groups {
		for _, it := range g.Items {
			t := &gistItem{theme: g.Theme, item: it, class: pathclass.Of(it.Path)}
			if g.Theme == retake.ThemeMachine || g.Theme == retake.ThemeGit || g.Theme == retake.ThemeMoving || isToolPath(it.Path) {
				continue
			}
			if t.class == pathclass.Build {
				continue
			}
			d.hasUserChanges = true
			d.items = append(d.items, t)
			d.addItem(t)
		}
	}
	for _, f := range st.Facts {
		if !isOutsideRoot(f) && !isToolPath(f.Path) {
			d.facts = append(d.facts, f)
		}
	}
	return d
}

// addItem sorts one item into the lists of the summary.
func (d *changeSummary) addItem(t *gistItem) {
	if t.theme == retake.ThemeDeleted {
		d.deleted = append(d.deleted, t)
		if t.class == pathclass.Source {
			d.codeFilesDeleted += t.item.Files
		}
		return
	}
	if t.item.What == retake.Added && (t.theme == retake.ThemeSource || t.theme == retake.ThemeSettings) {
		d.userFilesAdded += t.item.Files
	}
	switch {
	case t.theme == retake.ThemeSource && t.class == pathclass.Source:
		d.code = append(d.code, t)
		d.codeLines += t.item.Plus + t.item.Minus
	case t.theme == retake.ThemeSettings:
		d.settings = append(d.settings, t)
	}
}

// isToolPath reports whether agents, editors or document checkers keep a path for
// themselves.
func isToolPath(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	for _, begin := range []string{".claude", ".codex", ".cursor", ".gemini", ".opencode", ".aider", ".vscode", ".idea", ".retake", ".specstory", ".windsurf", ".zed", ".continue", ".mcp"} {
		if strings.HasPrefix(first, begin) {
			return true
		}
	}
	name := baseName(path)
	for _, word := range []string{"markdownlint", "vale.", "cspell", "prettier", "editorconfig", "lychee", ".gitignore"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// userFileCount counts the changed files of code and settings.
func (d *changeSummary) userFileCount() int64 {
	n := int64(0)
	for _, t := range d.items {
		if t.theme == retake.ThemeSource || t.theme == retake.ThemeSettings || t.theme == retake.ThemeDeleted {
			n += t.item.Files
		}
	}
	return n
}

// allUserChanges returns every user file that was added, deleted or changed, as at most two
// changes.
func (d *changeSummary) allUserChanges() []notableChange {
	var lost, changed []*gistItem
	for _, t := range d.items {
		switch {
		case t.theme == retake.ThemeDeleted:
			lost = append(lost, t)
		case (t.theme == retake.ThemeSource || t.theme == retake.ThemeSettings) && t.class != pathclass.Lock:
			changed = append(changed, t)
		}
	}
	var list []notableChange
	if len(lost) > 0 {
		o := changeOfItems(lost, "files", topicLoss)
		o.isLoss = true
		list = append(list, o)
	}
	if len(changed) > 0 {
		o := changeOfItems(changed, "files", topicSettings)
		if len(changed) > 1 {
			o.text = fileCountText(countFiles(changed))
		}
		list = append(list, o)
	}
	return list
}

// notableChanges returns the changes that the filter selects, in the order in which they
// are reported.
func (d *changeSummary) notableChanges(s changeFilter) []notableChange {
	var list []notableChange
	if s.lost || s.lostNet {
		list = append(list, d.deletedFileChanges(s)...)
	}
	if s.code {
		list = append(list, d.codeChanges(s.skipSiteCode)...)
	}
	if s.packages {
		list = append(list, d.packageChanges()...)
	}
	if left := withoutEnvFacts(d.settings, d.facts); s.settings && len(left) > 0 {
		list = append(list, changeOfItems(left, "settings", topicSettings))
	}
	if s.values {
		list = append(list, d.settingValueChanges()...)
	}
	if s.keys || s.keysNet {
		list = append(list, d.envKeyChanges(s.keysNet)...)
	}
	if s.tables || s.tablesNet {
		list = append(list, d.tableChanges(s.tablesNet)...)
	}
	return list
}

// codeChanges returns the changed code as one change. With skipSite the code of a
// documentation site is left out.
func (d *changeSummary) codeChanges(skipSite bool) []notableChange {
	code := d.code
	if skipSite {
		code = withoutSiteCode(code)
	}
	if len(code) == 0 {
		return nil
	}
	return []notableChange{changeOfItems(code, "code", topicCode)}
}

// settingValueChanges returns the settings whose values changed, one change per file. A
// file that was only reformatted has none.
func (d *changeSummary) settingValueChanges() []notableChange {
	var list []notableChange
	for _, f := range groupFacts(factsOfKind(d.facts, retake.FactSetting), factPath) {
		if pathclass.Of(f[0].Path).Theme() == retake.ThemeSettings {
			list = append(list, notableChange{text: settingText(f), topic: topicSettings, mentions: factMentions(f)})
		}
	}
	return list
}

// deletedFileChanges returns the deleted user files as one change. Deleted documents count
// only if the filter includes them.
func (d *changeSummary) deletedFileChanges(s changeFilter) []notableChange {
	var code []*gistItem
	for _, t := range d.deleted {
		if s.includeDocs || t.class == pathclass.Source || t.class == pathclass.Settings || t.class == pathclass.Env || t.class == pathclass.Database || t.class == pathclass.Manifest {
			code = append(code, t)
		}
	}
	if len(code) == 0 || s.lostNet && countFiles(code) < d.userFilesAdded+3 {
		return nil
	}
	o := changeOfItems(code, "files", topicLoss)
	o.isLoss = true
	return []notableChange{o}
}

// significantLosses returns losses that a statement should mention: many files, an
// environment key, a table.
func (d *changeSummary) significantLosses() []notableChange {
	var list []notableChange
	if n := countFiles(d.deleted); n >= manyLost && n-d.userFilesAdded >= manyLost {
		o := changeOfItems(d.deleted, "files", topicLoss)
		o.isLoss = true
		list = append(list, o)
	}
	return append(append(list, d.envKeyChanges(true)...), d.tableChanges(true)...)
}

// envKeyChanges returns the changed keys of .env files, one change per file. With net it
// returns only files that lost more keys than they gained.
func (d *changeSummary) envKeyChanges(net bool) []notableChange {
	var list []notableChange
	for _, f := range groupFacts(factsOfKind(d.facts, retake.FactEnv), factPath) {
		went, came := splitDeletedAdded(f)
		if net && len(went) <= len(came) {
			continue
		}
		if net {
			f = went
		}
		list = append(list, notableChange{text: envKeysText(f), topic: topicKeys, mentions: factMentions(f)})
	}
	return list
}

// tableChanges returns the changed tables, one change per database. With net it returns
// only databases that lost more tables than they gained. Test databases are skipped: their
// tables come and go.
func (d *changeSummary) tableChanges(net bool) []notableChange {
	var list []notableChange
	for _, f := range groupFacts(factsOfKind(d.facts, retake.FactTable), factPath) {
		went, came := splitDeletedAdded(f)
		if net && len(went) <= len(came) || strings.Contains(strings.ToLower(f[0].Path), "test") {
			continue
		}
		if net {
			f = went
		}
		list = append(list, notableChange{text: databaseText(f), topic: topicTables, mentions: factMentions(f)})
	}
	return list
}

// packageChanges returns the changed packages that a project requests by name. Packages
// that are merely installed do not count.
func (d *changeSummary) packageChanges() []notableChange {
	var asked []retake.Fact
	for _, f := range factsOfKind(d.facts, retake.FactPackage) {
		if f.Direct {
			asked = append(asked, f)
		}
	}
	var list []notableChange
	for _, f := range groupFacts(asked, func(f retake.Fact) string { return f.Group }) {
		list = append(list, notableChange{text: packageText(f), topic: topicPackages, mentions: factMentions(f)})
	}
	return list
}

// splitDeletedAdded returns the facts about what was deleted and about what was added.
func splitDeletedAdded(list []retake.Fact) (went, came []retake.Fact) {
	for _, f := range list {
		switch f.What {
		case retake.Deleted:
			went = append(went, f)
		case retake.Added:
			came = append(came, f)
		default:
		}
	}
	return went, came
}
