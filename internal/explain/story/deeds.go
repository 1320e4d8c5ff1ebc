package story

import (
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
)

// deeds are what a story shows, as the rules about words need it.
type deeds struct {
	own      bool // something changed that people or managers of packages keep
	tales    []*tale
	code     []*tale // programs that people write, and what they ask managers for
	settings []*tale
	lostOwn  []*tale // files of people that went
	codeLost int64   // programs that went
	cameOwn  int64
	lines    int64 // of programs
	facts    []retake.Fact
}

// offence is a deed that words may have to tell of.
type offence struct {
	text  string
	topic topic
	names []string // what a mention of it would hold, in lower case
	lost  bool
}

// topic is what an offence is about.
type topic int

const (
	aboutCode topic = iota
	aboutSettings
	aboutKeys
	aboutPackages
	aboutTables
	aboutLoss
)

// sight says what counts as an offence. Net: only what nothing came for.
type sight struct {
	settings, values, keys, keysNet, packages, tables, tablesNet, code, lost, lostNet bool

	beside bool // the code of a site that shows documents is a document
	pages  bool // documents that went are an offence too
}

// done reads the deeds in a story. What agents and editors keep for themselves is nobody's
// deed.
func done(st retake.Story) deeds {
	d := deeds{}
	for _, g := range st.Groups {
		for _, it := range g.Items {
			t := &tale{theme: g.Theme, item: it, class: pathclass.Of(it.Path)}
			if g.Theme == retake.ThemeMachine || g.Theme == retake.ThemeGit || g.Theme == retake.ThemeMoving || tool(it.Path) {
				continue
			}
			if t.class == pathclass.Build {
				continue
			}
			d.own = true
			d.tales = append(d.tales, t)
			d.sort(t)
		}
	}
	for _, f := range st.Facts {
		if !outside(f) && !tool(f.Path) {
			d.facts = append(d.facts, f)
		}
	}
	return d
}

func (d *deeds) sort(t *tale) {
	if t.theme == retake.ThemeDeleted {
		d.lostOwn = append(d.lostOwn, t)
		if t.class == pathclass.Source {
			d.codeLost += t.item.Files
		}
		return
	}
	if t.item.What == retake.Added && (t.theme == retake.ThemeSource || t.theme == retake.ThemeSettings) {
		d.cameOwn += t.item.Files
	}
	switch {
	case t.theme == retake.ThemeSource && t.class == pathclass.Source:
		d.code = append(d.code, t)
		d.lines += t.item.Plus + t.item.Minus
	case t.theme == retake.ThemeSettings:
		d.settings = append(d.settings, t)
	}
}

// tool are the paths that agents and editors write for themselves, and that checks of
// documents read.
func tool(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	for _, begin := range []string{".claude", ".codex", ".cursor", ".gemini", ".opencode", ".aider", ".vscode", ".idea", ".retake", ".specstory", ".windsurf", ".zed", ".continue", ".mcp"} {
		if strings.HasPrefix(first, begin) {
			return true
		}
	}
	name := base(path)
	for _, word := range []string{"markdownlint", "vale.", "cspell", "prettier", "editorconfig", "lychee", ".gitignore"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// people counts the files of code and settings that changed.
func (d *deeds) people() int64 {
	n := int64(0)
	for _, t := range d.tales {
		if t.theme == retake.ThemeSource || t.theme == retake.ThemeSettings || t.theme == retake.ThemeDeleted {
			n += t.item.Files
		}
	}
	return n
}

// any are all files of people that came, went or changed.
func (d *deeds) any() []offence {
	var lost, changed []*tale
	for _, t := range d.tales {
		switch {
		case t.theme == retake.ThemeDeleted:
			lost = append(lost, t)
		case (t.theme == retake.ThemeSource || t.theme == retake.ThemeSettings) && t.class != pathclass.Lock:
			changed = append(changed, t)
		}
	}
	var list []offence
	if len(lost) > 0 {
		o := naming(lost, "files", aboutLoss)
		o.lost = true
		list = append(list, o)
	}
	if len(changed) > 0 {
		o := naming(changed, "files", aboutSettings)
		if len(changed) > 1 {
			o.text = count(files(changed))
		}
		list = append(list, o)
	}
	return list
}

// offences are the deeds in sight, in the order in which they are told.
func (d *deeds) offences(s sight) []offence {
	var list []offence
	if s.lost || s.lostNet {
		list = append(list, d.lost(s)...)
	}
	if s.code {
		list = append(list, d.programs(s.beside)...)
	}
	if s.packages {
		list = append(list, d.packages()...)
	}
	if left := withoutFacts(d.settings, d.facts); s.settings && len(left) > 0 {
		list = append(list, naming(left, "settings", aboutSettings))
	}
	if s.values {
		list = append(list, d.values()...)
	}
	if s.keys || s.keysNet {
		list = append(list, d.keys(s.keysNet)...)
	}
	if s.tables || s.tablesNet {
		list = append(list, d.tables(s.tablesNet)...)
	}
	return list
}

// programs are files of code, those of a site left out when it shows documents.
func (d *deeds) programs(beside bool) []offence {
	code := d.code
	if beside {
		code = besideSite(code)
	}
	if len(code) == 0 {
		return nil
	}
	return []offence{naming(code, "code", aboutCode)}
}

// values are settings that another form of the same file does not explain.
func (d *deeds) values() []offence {
	var list []offence
	for _, f := range cluster(of(d.facts, retake.FactSetting), byPath) {
		if pathclass.Of(f[0].Path).Theme() == retake.ThemeSettings {
			list = append(list, offence{text: settingText(f), topic: aboutSettings, names: mention(f)})
		}
	}
	return list
}

// lost are the files of people that went. A document that went is no offence to words about
// documents.
func (d *deeds) lost(s sight) []offence {
	var code []*tale
	for _, t := range d.lostOwn {
		if s.pages || t.class == pathclass.Source || t.class == pathclass.Settings || t.class == pathclass.Env || t.class == pathclass.Database || t.class == pathclass.Manifest {
			code = append(code, t)
		}
	}
	if len(code) == 0 || s.lostNet && files(code) < d.cameOwn+3 {
		return nil
	}
	o := naming(code, "files", aboutLoss)
	o.lost = true
	return []offence{o}
}

// losses are what should be spoken of when it goes: many files, a key, a table.
func (d *deeds) losses() []offence {
	var list []offence
	if n := files(d.lostOwn); n >= manyLost && n-d.cameOwn >= manyLost {
		o := naming(d.lostOwn, "files", aboutLoss)
		o.lost = true
		list = append(list, o)
	}
	return append(append(list, d.keys(true)...), d.tables(true)...)
}

// keys are those of .env files. Net, only files that lost more than they won.
func (d *deeds) keys(net bool) []offence {
	var list []offence
	for _, f := range cluster(of(d.facts, retake.FactEnv), byPath) {
		went, came := split(f)
		if net && len(went) <= len(came) {
			continue
		}
		if net {
			f = went
		}
		list = append(list, offence{text: keysText(f), topic: aboutKeys, names: mention(f)})
	}
	return list
}

// tables that went, came or changed. Net, only databases that lost more than they won. Those
// of databases that tests make come and go.
func (d *deeds) tables(net bool) []offence {
	var list []offence
	for _, f := range cluster(of(d.facts, retake.FactTable), byPath) {
		went, came := split(f)
		if net && len(went) <= len(came) || strings.Contains(strings.ToLower(f[0].Path), "test") {
			continue
		}
		if net {
			f = went
		}
		list = append(list, offence{text: databaseText(f), topic: aboutTables, names: mention(f)})
	}
	return list
}

// packages are those that somebody asked for by name; what is only installed is no offence.
func (d *deeds) packages() []offence {
	var asked []retake.Fact
	for _, f := range of(d.facts, retake.FactPackage) {
		if f.Direct {
			asked = append(asked, f)
		}
	}
	var list []offence
	for _, f := range cluster(asked, func(f retake.Fact) string { return f.Group }) {
		list = append(list, offence{text: packageText(f), topic: aboutPackages, names: mention(f)})
	}
	return list
}

func split(list []retake.Fact) (went, came []retake.Fact) {
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
