package term

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/view"
)

// WritePlanList writes every path of a plan, one on each line, and nothing folded.
func WritePlanList(out io.Writer, l Style, p *retake.Plan) error {
	v := view.OfPlan(p)
	w := bufio.NewWriter(out)
	fmt.Fprint(w, planHead(l, p, v))
	for _, s := range v.Sections {
		fmt.Fprintf(w, "\n%s\n", l.boldColor(sectionColors[s.Kind], strings.ToUpper(s.Title)+"  "+termtext.Count(s.Count)))
		rows := s.Rows
		switch s.Kind {
		case retake.PlanDelete:
			rows = listedRows(rows, p.Deletes)
		case retake.PlanBring, retake.PlanChange:
			rows = listedRows(rows, slices.DeleteFunc(slices.Clone(p.Writes), func(st retake.Step) bool { return (st.What == retake.Added) != (s.Kind == retake.PlanBring) }))
		}
		writeListRows(w, l, rows)
	}
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
	fmt.Fprintf(w, "\n%s\n", l.HangingIndent(safetyText(l, p, v), 0))
	return w.Flush()
}

// listedRows gives each step the row that the section has for it. A directory is listed also
// where its rows say what happens to it.
func listedRows(rows []retake.PlanRow, steps []retake.Step) []retake.PlanRow {
	by := map[string]retake.PlanRow{}
	for _, r := range rows {
		if r.Below == 0 {
			by[r.Path] = r
		}
	}
	out := make([]retake.PlanRow, len(steps))
	for i, s := range steps {
		row, ok := by[s.Path]
		if !ok {
			row = retake.PlanRow{Path: strings.TrimSuffix(s.Path, "/") + "/"}
		}
		out[i] = row
	}
	return out
}

func writeListRows(w io.Writer, l Style, rows []retake.PlanRow) {
	for _, r := range rows {
		remark := rowRemark(l, shownRow{PlanRow: r}, 0)
		if r.Why != "" {
			remark = keepNote(r, r.Note)
		}
		if r.Why != "" && r.Why != retake.KeepConflict {
			remark = l.JoinFacts(remark, termtext.Escape(r.Detail))
		}
		writeListLine(w, l, termtext.Escape(r.Path), remark)
	}
}

func writeListLine(w io.Writer, l Style, name, remark string) {
	if remark == "" {
		fmt.Fprintf(w, "  %s\n", name)
		return
	}
	fmt.Fprintf(w, "  %s  %s\n", termtext.Pad(name, statPath), l.Dim(remark))
}

// DrawPlanDiff is the plan as counts of lines. What cannot be read at this moment
// is listed without them.
func DrawPlanDiff(ctx context.Context, l Style, s retake.Service, p *retake.Plan) string {
	var changes, turned []retake.Change
	for _, steps := range [][]retake.Step{p.Deletes, p.Writes, p.Merges} {
		for _, st := range steps {
			c := retake.Change{Path: st.Path, What: st.What, Before: st.Now, After: st.Then}
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
