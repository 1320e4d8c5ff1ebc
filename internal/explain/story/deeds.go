package story

import (
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
)

// changeSummary are what a story shows, as the rules about words need it.
type changeSummary struct {
	hasUserChanges   bool // something changed that people or managers of packages keep
	items            []*gistItem
	code             []*gistItem // programs that people write, and what they ask managers for
	settings         []*gistItem
	deleted          []*gistItem // files of people that went
	codeFilesDeleted int64       // programs that went
	userFilesAdded   int64
	codeLines        int64 // of programs
	facts            []retake.Fact
}

// notableChange is a deed that words may have to tell of.
type notableChange struct {
	text     string
	topic    changeTopic
	mentions []string // what a mention of it would hold, in lower case
	isLoss   bool
}

// changeTopic is what an offence is about.
type changeTopic int

const (
	topicCode changeTopic = iota
	topicSettings
	topicKeys
	topicPackages
	topicTables
	topicLoss
)

// changeFilter says what counts as an offence. Net: only what nothing came for.
type changeFilter struct {
	settings, values, keys, keysNet, packages, tables, tablesNet, code, lost, lostNet bool

	skipSiteCode bool // the code of a site that shows documents is a document
	includeDocs  bool // documents that went are an offence too
}

// summarizeChanges reads the deeds in a story. What agents and editors keep for themselves is nobody's
// deed.
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

// isToolPath are the paths that agents and editors write for themselves, and that checks of
// documents read.
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

// userFileCount counts the files of code and settings that changed.
func (d *changeSummary) userFileCount() int64 {
	n := int64(0)
	for _, t := range d.items {
		if t.theme == retake.ThemeSource || t.theme == retake.ThemeSettings || t.theme == retake.ThemeDeleted {
			n += t.item.Files
		}
	}
	return n
}

// allUserChanges are all files of people that came, went or changed.
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

// notableChanges are the deeds in sight, in the order in which they are told.
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

// codeChanges are files of code, those of a site left out when it shows documents.
func (d *changeSummary) codeChanges(beside bool) []notableChange {
	code := d.code
	if beside {
		code = withoutSiteCode(code)
	}
	if len(code) == 0 {
		return nil
	}
	return []notableChange{changeOfItems(code, "code", topicCode)}
}

// settingValueChanges are settings that another form of the same file does not explain.
func (d *changeSummary) settingValueChanges() []notableChange {
	var list []notableChange
	for _, f := range groupFacts(factsOfKind(d.facts, retake.FactSetting), factPath) {
		if pathclass.Of(f[0].Path).Theme() == retake.ThemeSettings {
			list = append(list, notableChange{text: settingText(f), topic: topicSettings, mentions: factMentions(f)})
		}
	}
	return list
}

// deletedFileChanges are the files of people that went. A document that went is no offence to words about
// documents.
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

// significantLosses are what should be spoken of when it goes: many files, a key, a table.
func (d *changeSummary) significantLosses() []notableChange {
	var list []notableChange
	if n := countFiles(d.deleted); n >= manyLost && n-d.userFilesAdded >= manyLost {
		o := changeOfItems(d.deleted, "files", topicLoss)
		o.isLoss = true
		list = append(list, o)
	}
	return append(append(list, d.envKeyChanges(true)...), d.tableChanges(true)...)
}

// envKeyChanges are those of .env files. Net, only files that lost more than they won.
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

// tableChanges that went, came or changed. Net, only databases that lost more than they won. Those
// of databases that tests make come and go.
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

// packageChanges are those that somebody asked for by name; what is only installed is no offence.
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
