package term

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// WritePlanList writes every path of a plan, one on each line, and nothing folded.
func WritePlanList(out io.Writer, l Style, p *retake.Plan) error {
	w := bufio.NewWriter(out)
	fmt.Fprint(w, planHead(l, p))
	words := wordsOfCourse(p.Course)
	brought, changed := splitWrites(p)
	writeListSteps(w, l, "delete", redCode, p.Deletes)
	writeListSteps(w, l, words.bring, greenCode, brought)
	writeListSteps(w, l, words.change, "", changed)
	writeListMerges(w, l, p)
	writeListKeeps(w, l, p)
	for i, o := range p.Obstacles {
		if i == 0 {
			fmt.Fprintf(w, "\n%s\n", l.boldColor(yellowCode, "CONFIRM"))
		}
		fmt.Fprintf(w, "  %s  %s\n", l.Yellow(termtext.Escape(o.Class)), termtext.Escape(o.Text))
		for _, path := range o.Paths {
			fmt.Fprintf(w, "    %s\n", termtext.Escape(path))
		}
	}
	for i, e := range p.Effects {
		if i == 0 {
			fmt.Fprintf(w, "\n%s\n", l.boldColor(yellowCode, "EXTERNAL, CAN'T BE UNDONE"))
		}
		fmt.Fprintf(w, "  %s  %s  %s%s\n", l.Yellow(termtext.Escape(e.ID)), l.ShortTime(e.Time), termtext.Escape(e.Text), l.Dim(uncertainText(e)))
	}
	fmt.Fprintf(w, "\n%s\n", l.HangingIndent(safetyText(l, p), 0))
	return w.Flush()
}

func writeListHead(w io.Writer, l Style, word, color string, n int64) {
	fmt.Fprintf(w, "\n%s\n", l.boldColor(color, strings.ToUpper(word)+"  "+termtext.Count(n)))
}

func writeListSteps(w io.Writer, l Style, word, color string, steps []retake.Step) {
	if len(steps) == 0 {
		return
	}
	writeListHead(w, l, word, color, countPaths(steps).dominant())
	units := stepUnits(steps)
	bare := l
	bare.Paint = false
	for _, s := range steps {
		c := stepChange(s)
		name, remark := termtext.Escape(s.Path), units[s.Path]
		switch {
		case c.IsDir():
			name += "/"
		case remark == "":
			remark = bare.changeRemark(s.What, foldedLine{change: &c, bytes: changedBytes(&c)}, nil)
		}
		writeListLine(w, l, name, remark)
	}
}

func writeListLine(w io.Writer, l Style, name, remark string) {
	if remark == "" {
		fmt.Fprintf(w, "  %s\n", name)
		return
	}
	fmt.Fprintf(w, "  %s  %s\n", termtext.Pad(name, statPath), l.Dim(remark))
}

func writeListMerges(w io.Writer, l Style, p *retake.Plan) {
	if len(p.Merges) == 0 {
		return
	}
	writeListHead(w, l, "merge", "", int64(len(p.Merges)))
	for _, s := range p.Merges {
		writeListLine(w, l, termtext.Escape(s.Path), mergeText(s.Merge, mergeVerb(p.Course)))
	}
}

func writeListKeeps(w io.Writer, l Style, p *retake.Plan) {
	both, rest := splitConflicts(p)
	if len(both) > 0 {
		writeListHead(w, l, "conflict", yellowCode, int64(len(both)))
	}
	for _, k := range both {
		writeListLine(w, l, termtext.Escape(k.Path), conflictText(k))
	}
	if len(rest) > 0 {
		writeListHead(w, l, "keep", "", int64(len(rest)))
	}
	for _, k := range rest {
		remark := keepReasonText(k.Why)
		if k.Detail != "" {
			remark = l.JoinFacts(remark, termtext.Escape(k.Detail))
		}
		writeListLine(w, l, termtext.Escape(k.Path), remark)
	}
}

// DrawPlanDiff is the plan as counts of lines. What cannot be read at this moment
// is listed without them.
func DrawPlanDiff(ctx context.Context, l Style, s retake.Service, p *retake.Plan) string {
	var changes, turned []retake.Change
	for _, steps := range [][]retake.Step{p.Deletes, p.Writes, p.Merges} {
		for _, st := range steps {
			c := stepChange(st)
			changes = append(changes, c)
			if st.Merge == nil { // its text is not stored yet
				turned = append(turned, retake.Change{Path: c.Path, What: c.What, Before: c.After, After: c.Before})
			}
		}
	}
	gs := GroupChanges(changes)
	// The later side of what is read is now, and the plan leads away from it.
	counts, err := ContentReader{Service: s, Workspace: p.Workspace, Now: true}.CountLines(ctx, listedChanges(gs, turned))
	if err != nil {
		counts = nil
	}
	for path, n := range counts {
		counts[path] = LineCount{Plus: n.Minus, Minus: n.Plus}
	}
	return RenderStat(l, gs, counts) + "\n" + RenderTotals(l, gs) + "\n"
}

// listedChanges are the turned changes that have a line of their own in gs.
func listedChanges(gs []ChangeGroup, turned []retake.Change) []ChangeGroup {
	own := map[string]bool{}
	for _, g := range gs {
		for _, line := range g.lines {
			if line.change != nil {
				own[line.change.Path] = true
			}
		}
	}
	var g ChangeGroup
	for i := range turned {
		if own[turned[i].Path] {
			g.lines = append(g.lines, foldedLine{change: &turned[i]})
		}
	}
	return []ChangeGroup{g}
}
