package term

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// database tells what became of the tables of one database.
func (b *book) database(path string, facts []retake.Fact) {
	rows := map[string]retake.Fact{}
	var tables []retake.Fact
	for _, f := range facts {
		if f.Kind == retake.FactRows {
			rows[f.Name] = f
		} else {
			tables = append(tables, f)
		}
	}
	counted := tables
	if len(tables) == 0 {
		counted = facts
	}
	all := common(counted)
	var parts []string
	for _, f := range tables {
		text := b.mixed(f.What, all, b.tableText(f))
		if r, ok := rows[f.Name]; ok && f.Kind == retake.FactTable {
			text += ", " + b.rowsText(r)
			delete(rows, f.Name)
		}
		parts = append(parts, text)
	}
	for _, f := range facts {
		if r, ok := rows[f.Name]; ok && f.Kind == retake.FactRows {
			parts = append(parts, b.Words(f.Name)+" "+b.rowsText(r))
		}
	}
	b.hang(b.signed(all, len(counted)), b.Words(path)+"  ", b.Facts(parts...), PlainText)
}

// tableText names a table or what belongs to one. Columns are told when they changed.
func (b *book) tableText(f retake.Fact) string {
	if f.Kind == retake.FactIndex {
		return "index " + b.Words(f.Name)
	}
	text := "table " + b.Words(f.Name)
	if f.What != retake.Edited {
		return text
	}
	was, is := tableColumns(f.Before), tableColumns(f.After)
	for _, c := range was {
		if !slices.Contains(is, c) {
			text += " " + b.Glyphs.Minus + b.Words(c)
		}
	}
	for _, c := range is {
		if !slices.Contains(was, c) {
			text += " +" + b.Words(c)
		}
	}
	return text
}

func tableColumns(s string) []string {
	var out []string
	for c := range strings.SplitSeq(s, ",") {
		if c = strings.TrimSpace(c); c != "" {
			out = append(out, c)
		}
	}
	return out
}

func (b *book) rowsText(f retake.Fact) string {
	if text := b.fromTo(f); text != "1" {
		return text + " rows"
	}
	return "1 row"
}

// machine tells what was seen outside the root.
func (b *book) machine() {
	var texts []string
	var packages []retake.Fact
	facts := b.factsOf(retake.ThemeMachine)
	others := len(facts) - len(slices.DeleteFunc(slices.Clone(facts), othersPort))
	for _, f := range facts {
		switch {
		case f.Kind == retake.FactPackage:
			packages = append(packages, f)
		case othersPort(f) && others > othersNamed:
			texts = append(texts, termtext.Count(int64(others))+" ports of other programs, --json")
			others = -1 // told
		case othersPort(f) && others < 0:
		default:
			texts = append(texts, b.machineText(f))
		}
	}
	for _, run := range packageRuns(packages) {
		texts = append(texts, b.Words(run[0].Group)+" "+b.signed(run[0].What, len(run))+"  "+b.packageText(run))
	}
	if n := b.story.Elsewhere; n > 0 && b.story.To != nil {
		defer b.say("", b.Dim(fmt.Sprintf("%s by other programs: retake show %d --machine", Number(int64(n), "change", "changes"), b.story.To.Number)))
	}
	for i, text := range texts {
		if i == groupLines && len(texts) > groupLines+1 {
			b.say("", b.Dim("and "+termtext.Count(int64(len(texts)-i))+" more, --json"+b.Sep()+seenOnly))
			return
		}
		if i == len(texts)-1 {
			text += b.Sep() + seenOnly
		}
		b.hang("", "", text, b.Dim)
	}
}

// othersPort reports whether a program listens that does not belong to the workspace.
func othersPort(f retake.Fact) bool { return f.Kind == retake.FactPort && !f.Direct }

// othersNamed is how many ports of programs are named that do not belong to the workspace.
const othersNamed = 3

const seenOnly = "seen, never restored"

// machineText is one fact of the machine as a sentence.
func (b *book) machineText(f retake.Fact) string {
	name := b.Words(f.Name)
	switch f.Kind {
	case retake.FactPort:
		return b.portText(name, f)
	case retake.FactUnit, retake.FactCron:
		name = string(f.Kind) + " " + name
	case retake.FactProfile:
		name = b.Path(f.Name)
	case retake.FactExecutable:
		name = "program " + name
	case retake.FactSecret:
		return b.Path(f.Path) + " looks like it contains a secret: " + name
	case retake.FactMode:
		return b.Path(f.Path) + " mode " + b.fromTo(f)
	default:
		name = b.Path(f.Path) + " " + name
	}
	switch f.What {
	case retake.Added:
		return name + " came"
	case retake.Deleted:
		return name + " went"
	default:
		return strings.TrimSpace(name + " changed " + b.fromTo(f))
	}
}

// portText says who listens, or stopped.
func (b *book) portText(name string, f retake.Fact) string {
	name = "port " + strings.TrimPrefix(name, "tcp ")
	by := func(program string) string {
		if program == "" {
			return ""
		}
		return " (" + b.Words(program) + ")"
	}
	switch f.What {
	case retake.Added:
		return name + " is listened on" + by(f.After)
	case retake.Deleted:
		return name + " stopped listening" + by(f.Before)
	default:
		return name + " changed hands" + by(f.Before) + " " + b.Glyphs.Arrow + by(f.After)
	}
}

// otherFacts tells what is said beside paths in a story, where paths are not told.
func (b *book) otherFacts() {
	keyed := map[string]bool{} // told with their keys
	for _, f := range b.story.Facts {
		keyed[f.Path] = keyed[f.Path] || f.Kind == retake.FactEnv
	}
	var paths []string
	for p := range b.notes {
		if !strings.HasPrefix(p, "/") && !keyed[p] {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	for i, p := range paths {
		line := "  " + strings.Repeat(" ", storyWord)
		if i == 0 {
			line = "  " + b.Bold(termtext.Pad("files", storyWord))
		}
		b.lines = append(b.lines, line+strings.Repeat(" ", storyIndent-2-storyWord)+b.Words(p)+"  "+strings.Join(b.notes[p], ", "))
	}
}
