package view

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// planSections are the sections of a plan, deletions first; empty ones are left out.
func planSections(p *retake.Plan) []retake.PlanSection {
	w := wordsOfCourse(p.Course)
	brought, changed := splitWrites(p)
	gone := ""
	if p.Course == retake.CourseRestore && p.Target != nil {
		gone = fmt.Sprintf(", not there at %d", p.Target.Number)
	}
	all := []retake.PlanSection{
		stepSection(retake.PlanDelete, "delete", "deleted", gone, p.Deletes),
		stepSection(retake.PlanBring, w.bring, w.brought, "", brought),
		stepSection(retake.PlanChange, w.change, w.changed, "", changed),
		mergeSection(p),
	}
	both, rest := splitConflicts(p)
	all = append(all, keepSection(retake.PlanConflict, "Conflict", "put beside", both), keepSection(retake.PlanKeep, "Leave as is", "left as is", rest))
	return slices.DeleteFunc(all, func(s retake.PlanSection) bool { return s.Paths == 0 })
}

// splitWrites splits what a plan writes into paths that do not exist now and paths that do.
func splitWrites(p *retake.Plan) (brought, changed []retake.Step) {
	for _, s := range p.Writes {
		if s.What == retake.Added {
			brought = append(brought, s)
		} else {
			changed = append(changed, s)
		}
	}
	return brought, changed
}

// splitConflicts parts the keeps into those of both sides and the rest.
func splitConflicts(p *retake.Plan) (both, rest []retake.Keep) {
	for _, k := range p.Keeps {
		if k.Why == retake.KeepConflict {
			both = append(both, k)
		} else {
			rest = append(rest, k)
		}
	}
	return both, rest
}

// stepSection is a section of paths that come, go or change.
func stepSection(kind retake.PlanSectionKind, word, done, more string, steps []retake.Step) retake.PlanSection {
	n := countSteps(steps)
	return retake.PlanSection{
		Kind: kind, Title: upperFirst(word), Done: done, About: countFiles(n) + more,
		Count: n, Paths: int64(len(steps)), Rows: foldSteps(steps),
	}
}

// isPlainDir reports whether a step is a directory that comes or goes. It says nothing that
// the steps below it do not say.
func isPlainDir(s retake.Step) bool {
	return stepEntry(s).Kind == retake.KindDir && (s.What == retake.Added || s.What == retake.Deleted)
}

// stepEntry is what a step leaves or takes; it is empty when neither is known.
func stepEntry(s retake.Step) retake.Entry {
	switch {
	case s.Then != nil:
		return *s.Then
	case s.Now != nil:
		return *s.Now
	}
	return retake.Entry{}
}

// countSteps counts paths. Directories that come or go count only where there is nothing else.
func countSteps(steps []retake.Step) int64 {
	var files int64
	for _, s := range steps {
		if !isPlainDir(s) {
			files++
		}
	}
	if files == 0 {
		return int64(len(steps))
	}
	return files
}

func fileSize(e *retake.Entry) int64 {
	if e == nil || e.Kind != retake.KindFile {
		return 0
	}
	return e.Size
}

// stepTree is a directory with its steps while the rows are made.
type stepTree struct {
	path  string // with a slash at its end
	step  *retake.Step
	below map[string]*stepTree
}

// foldSteps makes rows of steps: a directory with one row is that row.
func foldSteps(steps []retake.Step) []retake.PlanRow {
	root := &stepTree{below: map[string]*stepTree{}}
	for i, s := range steps {
		at := root
		for part := range strings.SplitSeq(strings.TrimSuffix(s.Path, "/"), "/") {
			next := at.below[part]
			if next == nil {
				next = &stepTree{path: at.path + part + "/", below: map[string]*stepTree{}}
				at.below[part] = next
			}
			at = next
		}
		at.step = &steps[i]
	}
	f := folding{notes: unitNotes(steps), dirs: !slices.ContainsFunc(steps, func(s retake.Step) bool { return !isPlainDir(s) })}
	out := slices.Concat(f.rowsBelow(root)...)
	for i, r := range out {
		for j := range out[i+1 : i+1+r.Below] {
			out[i+1+j].Depth++
		}
	}
	return out
}

// folding is what the rows of one section share.
type folding struct {
	notes map[string]string // of files that are replaced together
	dirs  bool              // directories count, because there is nothing else
}

// rowsBelow are the rows of what lies in a directory, each with those below it. Directories
// come first, the fullest on top; single paths keep the order of their names.
func (f folding) rowsBelow(t *stepTree) [][]retake.PlanRow {
	var out [][]retake.PlanRow
	for _, name := range sortedKeys(t.below) {
		out = append(out, f.rowsOf(t.below[name]))
	}
	rank := func(r retake.PlanRow) int64 {
		if r.Below == 0 {
			return -1
		}
		return r.Count
	}
	slices.SortStableFunc(out, func(a, b []retake.PlanRow) int { return cmp.Compare(rank(b[0]), rank(a[0])) })
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// rowsOf are the rows of a path, or of a directory and what is in it.
func (f folding) rowsOf(t *stepTree) []retake.PlanRow {
	if len(t.below) == 0 {
		return []retake.PlanRow{f.stepRow(*t.step)}
	}
	all := f.rowsBelow(t)
	if t.step != nil && !isPlainDir(*t.step) {
		all = slices.Insert(all, 0, []retake.PlanRow{f.stepRow(*t.step)})
	}
	if len(all) == 1 {
		return all[0]
	}
	dir := retake.PlanRow{Path: t.path, Note: meaningBelow(t, t.path)}
	for _, rows := range all {
		dir.Count += rows[0].Count
		dir.Bytes += rows[0].Bytes
		dir.Below += len(rows)
	}
	if t.step != nil && isPlainDir(*t.step) {
		dir.Whole = !f.dirs && dir.Count > 1
		if f.dirs {
			dir.Count++
		}
	}
	return slices.Concat(append([][]retake.PlanRow{{dir}}, all...)...)
}

// meaningBelow is the first meaning of a path in a directory, with the rest of its name.
func meaningBelow(t *stepTree, dir string) string {
	if t.step != nil && t.step.Means != "" && len(t.below) == 0 {
		return strings.TrimPrefix(t.step.Path, dir) + " " + t.step.Means
	}
	for _, name := range sortedKeys(t.below) {
		if text := meaningBelow(t.below[name], dir); text != "" {
			return text
		}
	}
	return ""
}

func (f folding) stepRow(s retake.Step) retake.PlanRow {
	r := retake.PlanRow{Path: s.Path, What: s.What, Count: 1, Bytes: fileSize(s.Then), Note: f.stepNote(s)}
	if s.What == retake.Deleted {
		r.Bytes = fileSize(s.Now)
	}
	if stepEntry(s).Kind == retake.KindDir {
		r.Path = strings.TrimSuffix(s.Path, "/") + "/"
	}
	if isPlainDir(s) && !f.dirs {
		r.Count = 0
	}
	return r
}

// stepNote is what is known of one path besides its size.
func (f folding) stepNote(s retake.Step) string {
	both := s.Now != nil && s.Then != nil
	switch kind := stepEntry(s).Kind; {
	case s.Means != "":
		return s.Means
	case f.notes[s.Path] != "":
		return f.notes[s.Path]
	case isPlainDir(s):
		return "empty directory"
	case s.What == retake.Retyped && both:
		return fmt.Sprintf("%s → %s", s.Now.Kind, s.Then.Kind)
	case s.What == retake.Moded && both:
		return ModeChangeText(s.Now, s.Then)
	case s.What == retake.Timed:
		return "only its time"
	case kind == retake.KindDir:
		return ""
	case kind == retake.KindSymlink:
		return "link"
	case s.What == retake.Edited && both:
		return termtext.Bytes(s.Now.Size) + " → " + termtext.Bytes(s.Then.Size)
	}
	return ""
}

// ModeChangeText returns which of mode, owner and attributes changed.
func ModeChangeText(before, after *retake.Entry) string {
	var parts []string
	if before.Mode != after.Mode {
		parts = append(parts, fmt.Sprintf("%04o → %04o", before.Mode, after.Mode))
	}
	if before.UID != after.UID || before.GID != after.GID {
		parts = append(parts, fmt.Sprintf("owner %d:%d → %d:%d", before.UID, before.GID, after.UID, after.GID))
	}
	if len(parts) == 0 {
		return "attributes, links or holes"
	}
	return strings.Join(parts, ", ")
}

// unitNotes are about the files of one database, which are replaced together.
func unitNotes(steps []retake.Step) map[string]string {
	parts := map[string]int{}
	for _, s := range steps {
		parts[s.Unit]++
	}
	out := map[string]string{}
	for _, s := range steps {
		switch {
		case s.Unit == "":
		case s.Unit != s.Path:
			out[s.Path] = "goes with " + s.Unit
		case parts[s.Unit] > 1:
			out[s.Path] = "with its side files, as one unit"
		}
	}
	return out
}

// mergeSection has the texts of which both sides stay.
func mergeSection(p *retake.Plan) retake.PlanSection {
	n := int64(len(p.Merges))
	s := retake.PlanSection{Kind: retake.PlanMerge, Title: "Merge", Done: "merged", About: countFiles(n) + " changed on both sides, your lines stay", Count: n, Paths: n}
	for _, m := range p.Merges {
		s.Rows = append(s.Rows, retake.PlanRow{Path: m.Path, What: m.What, Count: 1, Note: mergeText(m.Merge, p.Course)})
	}
	return s
}

// mergeText says what the lines of the plan do, which an undo takes away, and that yours stay.
func mergeText(m *retake.Merge, c retake.Course) string {
	if m == nil {
		return "lines of both sides"
	}
	one, many := "its place comes", "its %s places come"
	if c == retake.CourseUndo || c == retake.CourseUnwind {
		one, many = "its place goes", "its %s places go"
	}
	its := one
	if m.Theirs != 1 {
		its = fmt.Sprintf(many, termtext.Count(int64(m.Theirs)))
	}
	switch m.Yours {
	case 0:
		return its + ", the other lines stay"
	case 1:
		return fmt.Sprintf("%s, yours at line %d stays", its, m.First)
	}
	return fmt.Sprintf("%s, your %s from line %d on stay", its, termtext.Count(int64(m.Yours)), m.First)
}

// keepReasonTexts say why a path is left as it is.
var keepReasonTexts = map[retake.KeepReason]string{
	retake.KeepGit:        "a repository of its own",
	retake.KeepVolatile:   "always moving",
	retake.KeepChanged:    "changed since, so yours stays",
	retake.KeepUncaptured: "in no checkpoint, so it could not be given back",
	retake.KeepUnheld:     "not in that checkpoint",
	retake.KeepOccupied:   "it contains something that is left as is",
	retake.KeepOverlap:    "changed while someone else worked here",
	retake.KeepDamaged:    "its stored bytes are damaged",
}

// keepSection has the paths that stay as they are, in the order of the plan.
func keepSection(kind retake.PlanSectionKind, title, done string, keeps []retake.Keep) retake.PlanSection {
	n := int64(len(keeps))
	s := retake.PlanSection{Kind: kind, Title: title, Done: done, About: termtext.CountNoun(n, "place that stays as it is", "places that stay as they are"), Count: n, Paths: n}
	for _, k := range keeps {
		r := retake.PlanRow{Path: k.Path, Why: k.Why, Count: 1, Note: keepReasonTexts[k.Why], Detail: k.Detail}
		switch {
		case k.Why == retake.KeepConflict && k.Side != "":
			r.Note = "stays yours; the other: " + path.Base(k.Side)
		case k.Why == retake.KeepConflict:
			r.Note = "stays yours"
		case r.Note == "":
			r.Note = string(k.Why)
		}
		s.Rows = append(s.Rows, r)
	}
	return s
}
