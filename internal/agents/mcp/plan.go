package mcp

import (
	"fmt"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// How much of a plan is listed: rows of one list, and bytes.
const (
	maxPlanRows       = 20
	planPathBytes     = 1500
	obstacleBytes     = 900
	effectBytes       = 400
	obstaclePathBytes = 100 // of one obstacle
)

// planOut is a plan as an agent sees it: deletions first.
type planOut struct {
	Digest    string        `json:"digest"`
	Course    retake.Course `json:"course"`
	Target    int64         `json:"target,omitempty" jsonschema:"the checkpoint, or the change that is undone"`
	Intent    string        `json:"intent,omitempty"`
	Idle      bool          `json:"idle,omitempty" jsonschema:"there is nothing to do"`
	Deletes   pathList      `json:"deletes"`
	Brings    pathList      `json:"brings" jsonschema:"paths that are not there now and come back"`
	Changes   pathList      `json:"changes"`
	Merges    pathList      `json:"merges" jsonschema:"changed on both sides, in other lines"`
	Keeps     keepList      `json:"keeps" jsonschema:"left alone though the checkpoints differ there"`
	Obstacles []obstacleRow `json:"obstacles"`
	Person    string        `json:"person,omitempty" jsonschema:"what a person runs, because an agent may not accept all warnings"`
	Effects   effectList    `json:"effects" jsonschema:"done outside of the workspace; no restore can undo it"`
	Bytes     int64         `json:"bytes" jsonschema:"to be written"`
	Safety    int64         `json:"safety" jsonschema:"the checkpoint that has everything there is now"`
	There     bool          `json:"there,omitempty" jsonschema:"that checkpoint is there already; else it is taken first"`
}

type pathList struct {
	Count int      `json:"count"`
	Paths []string `json:"paths,omitempty"`
}

type keepList struct {
	Count int          `json:"count"`
	Rows  []skippedRow `json:"rows,omitempty"`
}

type obstacleRow struct {
	Class string   `json:"class"`
	Who   string   `json:"who" jsonschema:"who may accept it: agent or person"`
	Text  string   `json:"text"`
	Count int      `json:"count"`
	Paths []string `json:"paths,omitempty"`
}

type effectList struct {
	Count int         `json:"count"`
	Rows  []effectRow `json:"rows,omitempty"`
}

type effectRow struct {
	ID   string    `json:"id"`
	Time time.Time `json:"time"`
	Text string    `json:"text"`

	Outcome retake.Outcome `json:"outcome,omitempty"`
}

func (e effectRow) outcomeText() string { return retake.Effect{Outcome: e.Outcome}.Word() }

// newPlanOut shortens a plan to what fits an answer.
func newPlanOut(p *retake.Plan, req retake.PlanRequest) *planOut {
	out := &planOut{Digest: p.Digest, Course: p.Course, Idle: isIdle(p), Bytes: p.Bytes, Safety: p.Safety.Number, There: p.Safety.There}
	if p.Target != nil {
		out.Target, out.Intent = p.Target.Number, checkpointTitle(*p.Target)
	}
	out.Obstacles = newObstacleRows(p.Obstacles)
	if open, mine := unacceptedClasses(p, nil); len(mine) > 0 {
		out.Person = truncate(maskSecrets(personCommand(req, open)), maxSentence)
	}
	r := &byteBudget{planPathBytes}
	brought, changed := splitWrites(p)
	out.Deletes = newPathList(r, p.Deletes)
	out.Brings = newPathList(r, brought)
	out.Changes = newPathList(r, changed)
	out.Merges = newPathList(r, p.Merges)
	out.Keeps = newKeepList(r, p.Keeps)
	out.Effects = newEffectList(p.Effects)
	return out
}

// isIdle reports whether applying the plan would change nothing.
func isIdle(p *retake.Plan) bool {
	for _, k := range p.Keeps {
		if k.Side != "" {
			return false
		}
	}
	return p.Total() == 0 && p.Lost == nil
}

// splitWrites splits what a plan writes into new and existing paths.
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

// newPathList uses half of the budget that is left, so that every list gets some.
func newPathList(r *byteBudget, steps []retake.Step) pathList {
	half := &byteBudget{r.left / 2}
	paths, _ := fillRows(half, maxPlanRows, len(steps), func(i int) string { return safeWord(steps[i].Path, maxName) })
	r.left = r.left - r.left/2 + half.left
	return pathList{Count: len(steps), Paths: paths}
}

func newKeepList(r *byteBudget, keeps []retake.Keep) keepList {
	rows, _ := fillRows(r, maxPlanRows, len(keeps), func(i int) skippedRow {
		k := keeps[i]
		why := string(k.Why)
		if k.Side != "" {
			why += ", the other version goes to " + k.Side
		}
		return skippedRow{safeWord(k.Path, maxName), safeWord(why, maxName)}
	})
	return keepList{Count: len(keeps), Rows: rows}
}

// newObstacleRows lists every class, however little room is left for its text.
func newObstacleRows(all []retake.Obstacle) []obstacleRow {
	r := &byteBudget{obstacleBytes}
	out := []obstacleRow{}
	for _, o := range all {
		row := obstacleRow{Class: o.Class, Who: "agent", Text: safeWord(o.Text, maxTitle), Count: len(o.Paths)}
		if needsPerson(o.Class) {
			row.Who = "person"
		}
		row.Paths, _ = fillRows(&byteBudget{obstaclePathBytes}, maxPlanRows, len(o.Paths), func(i int) string { return safeWord(o.Paths[i], maxName) })
		if !r.reserve(row) {
			row.Paths, row.Text = nil, truncate(row.Text, maxTitle/4)
		}
		out = append(out, row)
	}
	return out
}

func newEffectList(all []retake.Effect) effectList {
	rows, _ := fillRows(&byteBudget{effectBytes}, maxPlanRows, len(all), func(i int) effectRow {
		e := all[i]
		return effectRow{ID: safeWord(e.ID, maxTitle), Time: e.Time.Truncate(time.Second), Text: safeWord(e.Text, maxTitle), Outcome: e.Outcome}
	})
	return effectList{Count: len(all), Rows: rows}
}

func (p *planOut) text(*toolServer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "plan %s: %s", retake.ShortDigest(p.Digest), p.Course)
	if p.Target > 0 {
		fmt.Fprintf(&b, " %d", p.Target)
	}
	if p.Intent != "" {
		b.WriteString(" " + quoteWord(p.Intent))
	}
	if b.WriteString("\n"); p.Idle {
		b.WriteString("nothing to do\n")
	}
	writePaths(&b, "delete", p.Deletes)
	writePaths(&b, "bring back", p.Brings)
	writePaths(&b, "change", p.Changes)
	writePaths(&b, "merge", p.Merges)
	writeSkipped(&b, "keep", p.Keeps.Rows, p.Keeps.Count-len(p.Keeps.Rows))
	for _, o := range p.Obstacles {
		fmt.Fprintf(&b, "obstacle %s, for the %s: %s\n", o.Class, o.Who, quoteWord(o.Text))
	}
	if p.Person != "" {
		fmt.Fprintf(&b, "a person runs: %s\n", p.Person)
	}
	p.Effects.write(&b)
	if !p.Idle {
		p.writeNextSteps(&b)
	}
	return b.String()
}

// writeNextSteps says what is safe, and how an agent continues if it may.
func (p *planOut) writeNextSteps(b *strings.Builder) {
	holds := "checkpoint %d has everything there is now"
	if !p.There {
		holds = "all there is now becomes checkpoint %d first"
	}
	fmt.Fprintf(b, "nothing has been changed yet; "+holds+"\n", p.Safety)
	if p.Person != "" {
		return
	}
	fmt.Fprintf(b, "apply it with digest %s", p.Digest)
	for i, o := range p.Obstacles {
		fmt.Fprintf(b, "%s%s", []string{" and accept ", ", "}[min(i, 1)], o.Class)
	}
	b.WriteByte('\n')
}

func writePaths(b *strings.Builder, what string, l pathList) {
	if l.Count == 0 {
		return
	}
	fmt.Fprintf(b, "%s %s:", what, termtext.Count(int64(l.Count)))
	for _, p := range l.Paths {
		b.WriteString(" " + quoteWord(p))
	}
	if more := l.Count - len(l.Paths); more > 0 {
		fmt.Fprintf(b, " and %s more", termtext.Count(int64(more)))
	}
	b.WriteByte('\n')
}

func (l effectList) write(b *strings.Builder) {
	for _, e := range l.Rows {
		fmt.Fprintf(b, "%s outside, %s: %s\n", e.outcomeText(), quoteWord(e.ID), quoteWord(e.Text))
	}
	if more := l.Count - len(l.Rows); more > 0 {
		fmt.Fprintf(b, "and %s more can't be undone outside\n", termtext.Count(int64(more)))
	}
}
