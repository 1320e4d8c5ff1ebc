package term

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// writeDatabase tells what became of the tables of one database.
func (b *storyWriter) writeDatabase(path string, facts []retake.Fact) {
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
	all := commonDifference(counted)
	var parts []string
	for _, f := range tables {
		text := b.markedName(f.What, all, b.tableText(f))
		if r, ok := rows[f.Name]; ok && f.Kind == retake.FactTable {
			text += ", " + b.rowsText(r)
			delete(rows, f.Name)
		}
		parts = append(parts, text)
	}
	for _, f := range facts {
		if r, ok := rows[f.Name]; ok && f.Kind == retake.FactRows {
			parts = append(parts, b.EscapeText(f.Name)+" "+b.rowsText(r))
		}
	}
	b.writeHanging(b.signedCount(all, len(counted)), b.EscapeText(path)+"  ", b.JoinFacts(parts...), Unpainted)
}

// tableText names a table or what belongs to one. Columns are told when they changed.
func (b *storyWriter) tableText(f retake.Fact) string {
	if f.Kind == retake.FactIndex {
		return "index " + b.EscapeText(f.Name)
	}
	text := "table " + b.EscapeText(f.Name)
	if f.What != retake.Edited {
		return text
	}
	was, is := splitTableColumns(f.Before), splitTableColumns(f.After)
	for _, c := range was {
		if !slices.Contains(is, c) {
			text += " " + b.Glyphs.Minus + b.EscapeText(c)
		}
	}
	for _, c := range is {
		if !slices.Contains(was, c) {
			text += " +" + b.EscapeText(c)
		}
	}
	return text
}

func splitTableColumns(s string) []string {
	var out []string
	for c := range strings.SplitSeq(s, ",") {
		if c = strings.TrimSpace(c); c != "" {
			out = append(out, c)
		}
	}
	return out
}

func (b *storyWriter) rowsText(f retake.Fact) string {
	if text := b.fromTo(f); text != "1" {
		return text + " rows"
	}
	return "1 row"
}

// writeMachine tells what was seen outside the root.
func (b *storyWriter) writeMachine() {
	var texts []string
	var packages []retake.Fact
	facts := b.factsOfTheme(retake.ThemeMachine)
	others := len(facts) - len(slices.DeleteFunc(slices.Clone(facts), isForeignPort))
	for _, f := range facts {
		switch {
		case f.Kind == retake.FactPackage:
			packages = append(packages, f)
		case isForeignPort(f) && others > maxForeignPorts:
			texts = append(texts, termtext.Count(int64(others))+" ports of other programs, --json")
			others = -1 // told
		case isForeignPort(f) && others < 0:
		default:
			texts = append(texts, b.machineText(f))
		}
	}
	for _, run := range groupPackages(packages) {
		texts = append(texts, b.EscapeText(run[0].Group)+" "+b.signedCount(run[0].What, len(run))+"  "+b.packageNames(run))
	}
	if n := b.story.Elsewhere; n > 0 && b.story.To != nil {
		defer b.writeLine("", b.Dim(fmt.Sprintf("%s by other programs: retake show %d --machine", CountNoun(int64(n), "change", "changes"), b.story.To.Number)))
	}
	for i, text := range texts {
		if i == groupLines && len(texts) > groupLines+1 {
			b.writeLine("", b.Dim("and "+termtext.Count(int64(len(texts)-i))+" more, --json"+b.Separator()+seenOnlyText))
			return
		}
		if i == len(texts)-1 {
			text += b.Separator() + seenOnlyText
		}
		b.writeHanging("", "", text, b.Dim)
	}
}

// isForeignPort reports whether a program listens that does not belong to the workspace.
func isForeignPort(f retake.Fact) bool { return f.Kind == retake.FactPort && !f.Direct }

// maxForeignPorts is how many ports of programs are named that do not belong to the workspace.
const maxForeignPorts = 3

const seenOnlyText = "seen, never restored"

// machineText is one fact of the machine as a sentence.
func (b *storyWriter) machineText(f retake.Fact) string {
	name := b.EscapeText(f.Name)
	switch f.Kind {
	case retake.FactPort:
		return b.portText(name, f)
	case retake.FactUnit, retake.FactCron:
		name = string(f.Kind) + " " + name
	case retake.FactProfile:
		name = b.DisplayPath(f.Name)
	case retake.FactExecutable:
		name = "program " + name
	case retake.FactSecret:
		return b.DisplayPath(f.Path) + " looks like it contains a secret: " + name
	case retake.FactMode:
		return b.DisplayPath(f.Path) + " mode " + b.fromTo(f)
	default:
		name = b.DisplayPath(f.Path) + " " + name
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
func (b *storyWriter) portText(name string, f retake.Fact) string {
	name = "port " + strings.TrimPrefix(name, "tcp ")
	by := func(program string) string {
		if program == "" {
			return ""
		}
		return " (" + b.EscapeText(program) + ")"
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

// writeOtherFacts tells what is said beside paths in a story, where paths are not told.
func (b *storyWriter) writeOtherFacts() {
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
		line := "  " + strings.Repeat(" ", themeColumn)
		if i == 0 {
			line = "  " + b.Bold(termtext.Pad("files", themeColumn))
		}
		b.lines = append(b.lines, line+strings.Repeat(" ", storyIndent-2-themeColumn)+b.EscapeText(p)+"  "+strings.Join(b.notes[p], ", "))
	}
}
