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
func WritePlanList(out io.Writer, l Look, p *retake.Plan) error {
	w := bufio.NewWriter(out)
	fmt.Fprint(w, planHead(l, p))
	words := wordsOf(p.Course)
	brought, changed := written(p)
	listSteps(w, l, "delete", redCode, p.Deletes)
	listSteps(w, l, words.bring, greenCode, brought)
	listSteps(w, l, words.change, "", changed)
	listMerges(w, l, p)
	listKeeps(w, l, p)
	for i, o := range p.Obstacles {
		if i == 0 {
			fmt.Fprintf(w, "\n%s\n", l.loud(yellowCode, "CONFIRM"))
		}
		fmt.Fprintf(w, "  %s  %s\n", l.Yellow(termtext.Escape(o.Class)), termtext.Escape(o.Text))
		for _, path := range o.Paths {
			fmt.Fprintf(w, "    %s\n", termtext.Escape(path))
		}
	}
	for i, e := range p.Effects {
		if i == 0 {
			fmt.Fprintf(w, "\n%s\n", l.loud(yellowCode, "EXTERNAL, CAN'T BE UNDONE"))
		}
		fmt.Fprintf(w, "  %s  %s  %s%s\n", l.Yellow(termtext.Escape(e.ID)), l.Clock(e.Time), termtext.Escape(e.Text), l.Dim(unsureText(e)))
	}
	fmt.Fprintf(w, "\n%s\n", l.Hang(safetyText(l, p), 0))
	return w.Flush()
}

func listHead(w io.Writer, l Look, word, color string, n int64) {
	fmt.Fprintf(w, "\n%s\n", l.loud(color, strings.ToUpper(word)+"  "+termtext.Count(n)))
}

func listSteps(w io.Writer, l Look, word, color string, steps []retake.Step) {
	if len(steps) == 0 {
		return
	}
	listHead(w, l, word, color, countOf(steps).most())
	units := unitsOf(steps)
	bare := l
	bare.Paint = false
	for _, s := range steps {
		c := changeOf(s)
		name, remark := termtext.Escape(s.Path), units[s.Path]
		switch {
		case c.IsDir():
			name += "/"
		case remark == "":
			remark = bare.remark(s.What, folded{change: &c, bytes: weight(&c)}, nil)
		}
		listLine(w, l, name, remark)
	}
}

func listLine(w io.Writer, l Look, name, remark string) {
	if remark == "" {
		fmt.Fprintf(w, "  %s\n", name)
		return
	}
	fmt.Fprintf(w, "  %s  %s\n", termtext.Pad(name, statPath), l.Dim(remark))
}

func listMerges(w io.Writer, l Look, p *retake.Plan) {
	if len(p.Merges) == 0 {
		return
	}
	listHead(w, l, "merge", "", int64(len(p.Merges)))
	for _, s := range p.Merges {
		listLine(w, l, termtext.Escape(s.Path), mergeText(s.Merge, mergeVerb(p.Course)))
	}
}

func listKeeps(w io.Writer, l Look, p *retake.Plan) {
	both, rest := conflicts(p)
	if len(both) > 0 {
		listHead(w, l, "conflict", yellowCode, int64(len(both)))
	}
	for _, k := range both {
		listLine(w, l, termtext.Escape(k.Path), conflictText(k))
	}
	if len(rest) > 0 {
		listHead(w, l, "keep", "", int64(len(rest)))
	}
	for _, k := range rest {
		remark := keepWord(k.Why)
		if k.Detail != "" {
			remark = l.Facts(remark, termtext.Escape(k.Detail))
		}
		listLine(w, l, termtext.Escape(k.Path), remark)
	}
}

// DrawPlanDiff is the plan as counts of lines. What cannot be read at this moment
// is listed without them.
func DrawPlanDiff(ctx context.Context, l Look, s retake.Service, p *retake.Plan) string {
	var changes, turned []retake.Change
	for _, steps := range [][]retake.Step{p.Deletes, p.Writes, p.Merges} {
		for _, st := range steps {
			c := changeOf(st)
			changes = append(changes, c)
			if st.Merge == nil { // its text is not stored yet
				turned = append(turned, retake.Change{Path: c.Path, What: c.What, Before: c.After, After: c.Before})
			}
		}
	}
	gs := Groups(changes)
	// The later side of what is read is now, and the plan leads away from it.
	counts, err := Content{Service: s, Workspace: p.Workspace, Now: true}.Measure(ctx, shown(gs, turned))
	if err != nil {
		counts = nil
	}
	for path, n := range counts {
		counts[path] = LineCount{Plus: n.Minus, Minus: n.Plus}
	}
	return RenderStat(l, gs, counts) + "\n" + RenderTotals(l, gs) + "\n"
}

// shown are the turned changes that have a line of their own in gs.
func shown(gs []Group, turned []retake.Change) []Group {
	own := map[string]bool{}
	for _, g := range gs {
		for _, line := range g.lines {
			if line.change != nil {
				own[line.change.Path] = true
			}
		}
	}
	var g Group
	for i := range turned {
		if own[turned[i].Path] {
			g.lines = append(g.lines, folded{change: &turned[i]})
		}
	}
	return []Group{g}
}
