package mcp

import (
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

const (
	maxDiffRows     = 100
	defaultDiffRows = 40
	diffListBytes   = 3000     // bytes for the list
	maxLinesBytes   = 16 << 10 // bytes of lines
	maxTextSize     = 1 << 20  // the largest file whose lines are compared
)

var diffTool = toolSpec{
	name:        "diff",
	description: "List changes between two checkpoints, deletions first. Without from and to: newest checkpoint to now. Only to: what that checkpoint changed. One file in paths: its lines too.",
	input: objectSchema(nil, schemaFields{
		"from": refField(refDescription), "to": refField("or now"),
		"paths": pathsField(""), "limit": integerSchema("", 1, maxDiffRows, defaultDiffRows),
	}),
	hints: toolHints{readOnly: true, idempotent: true},
}

type diffIn struct {
	From  string   `json:"from"`
	To    string   `json:"to"`
	Paths []string `json:"paths"`
	Limit int      `json:"limit"`
}

type diffOut struct {
	From    string       `json:"from" jsonschema:"the number of the earlier checkpoint; empty before the first"`
	To      string       `json:"to" jsonschema:"the number of the later checkpoint, or now"`
	Changed changeCounts `json:"changed"`
	Other   int64        `json:"other,omitempty" jsonschema:"paths of another kind or mode, and directories without files"`
	Timed   int64        `json:"timed,omitempty" jsonschema:"paths whose time alone differs; they are not listed"`
	Changes []changeRow  `json:"changes"`
	More    int          `json:"more,omitempty" jsonschema:"changes that are not listed"`
	Gaps    []gapCount   `json:"gaps,omitempty" jsonschema:"what could not be looked at now"`
	Lines   string       `json:"lines,omitempty"`
	Left    int          `json:"left,omitempty" jsonschema:"changed lines that are not shown"`
	Why     string       `json:"why,omitempty" jsonschema:"why no lines are shown"`
	answerNote
}

type changeRow struct {
	Path string            `json:"path"`
	What retake.Difference `json:"what"`
	Kind retake.Kind       `json:"kind"`
	Size int64             `json:"size"`
}

// changeOrder is the order in which changes are listed: deletions matter most.
var changeOrder = []retake.Difference{retake.Deleted, retake.Retyped, retake.Edited, retake.Added, retake.Moded}

// handleDiff lists the changes between two checkpoints, and the changed lines if it is a
// single file.
func (f *toolServer) handleDiff(ctx context.Context, ws retake.Workspace, in diffIn) (diffOut, error) {
	q := retake.DiffQuery{Workspace: ws.ID, From: in.From, To: in.To}
	if q.To == refNow {
		q.To = ""
	}
	var err error
	if q.Paths, err = workspacePaths(ws, in.Paths); err != nil {
		return diffOut{}, err
	}
	d, err := f.Diff(ctx, q)
	if err != nil {
		return diffOut{}, err
	}
	out := diffOut{To: refNow, Gaps: countGaps(d.Gaps)}
	if d.From != nil {
		out.From = strconv.FormatInt(d.From.Number, 10)
	}
	if d.To != nil {
		out.To = strconv.FormatInt(d.To.Number, 10)
	}
	shown := out.countChanges(d.Changes)
	out.Changes, out.More = fillRows(&byteBudget{diffListBytes}, in.Limit, len(shown), func(i int) changeRow { return newChangeRow(shown[i]) })
	if len(q.Paths) == 1 && len(shown) == 1 {
		err = f.diffLines(ctx, ws.ID, d.To == nil, shown[0], &out)
	}
	return out, err
}

const refNow = "now"

// countChanges counts the changes and returns those to be listed, in order; the listed ones
// add up to the counts. A directory is listed only if no change below it is.
func (o *diffOut) countChanges(all []retake.Change) []retake.Change {
	var shown []retake.Change
	said := changedParents(all)
	for _, c := range all {
		if c.IsDir() && c.What != retake.Timed {
			if !said[c.Path] {
				o.Other++
				shown = append(shown, c)
			}
			continue
		}
		switch c.What {
		case retake.Added:
			o.Changed.Added++
		case retake.Deleted:
			o.Changed.Deleted++
		case retake.Edited:
			o.Changed.Edited++
		case retake.Timed, retake.Renamed:
			o.Timed++
			continue
		case retake.Retyped, retake.Moded:
			o.Other++
		}
		shown = append(shown, c)
	}
	slices.SortStableFunc(shown, func(a, b retake.Change) int {
		return slices.Index(changeOrder, a.What) - slices.Index(changeOrder, b.What)
	})
	return shown
}

// changedParents returns the directories that contain a changed file.
func changedParents(all []retake.Change) map[string]bool {
	out := map[string]bool{}
	for _, c := range all {
		if c.IsDir() || c.What == retake.Timed {
			continue
		}
		for dir := path.Dir(c.Path); dir != "." && !out[dir]; dir = path.Dir(dir) {
			out[dir] = true
		}
	}
	return out
}

func newChangeRow(c retake.Change) changeRow {
	row := changeRow{Path: safeWord(c.Path, maxName), What: c.What}
	e := c.After
	if e == nil {
		e = c.Before
	}
	if e != nil {
		row.Kind, row.Size = e.Kind, e.Size
	}
	return row
}

// diffLines compares the two sides of one change. A file that changes meanwhile is not an
// error.
func (f *toolServer) diffLines(ctx context.Context, ws retake.WorkspaceID, live bool, c retake.Change, out *diffOut) error {
	if out.Why = noLinesReason(c); out.Why != "" {
		return nil
	}
	var before, after string
	var err error
	if c.Before != nil {
		if before, err = readLimited(f.Bytes(ctx, c.Before.Object)); err != nil {
			return err
		}
	}
	switch {
	case c.After == nil:
	case live:
		r, _, oerr := f.Open(ctx, ws, refNow, c.Path)
		after, err = readLimited(r, oerr)
	default:
		after, err = readLimited(f.Bytes(ctx, c.After.Object))
	}
	switch {
	case live && (retake.IsKind(err, retake.NotFound) || retake.IsKind(err, retake.Moved)):
		out.Why = "gone while we looked"
		return nil
	case err != nil:
		return err
	case len(before) > maxTextSize || len(after) > maxTextSize:
		out.Why = "grew while we looked"
	case termtext.IsBinary(before) || termtext.IsBinary(after):
		out.Why = "no text"
	default:
		out.showLines(maskSecrets(before), maskSecrets(after))
	}
	return nil
}

// showLines compares two texts line by line. Secrets are masked in the whole texts before,
// because some span several lines.
func (o *diffOut) showLines(before, after string) {
	o.Lines, o.Left = formatHunks(compareLines(splitLines(before), splitLines(after), 0), maxLinesBytes)
	if o.Lines == "" && o.Changed.Edited > 0 {
		o.Why = "it differs in what is masked"
	}
}

// noLinesReason returns why a change has no lines to compare, or "".
func noLinesReason(c retake.Change) string {
	for _, e := range []*retake.Entry{c.Before, c.After} {
		switch {
		case e == nil:
		case e.Kind != retake.KindFile && e.Kind != retake.KindSymlink:
			return "a " + string(e.Kind) + " has no lines"
		case e.Size > maxTextSize:
			return termtext.Bytes(e.Size) + ", lines are compared up to " + termtext.Bytes(maxTextSize)
		}
	}
	return ""
}

// readLimited reads one byte more than is compared, so that a file that grew is noticed.
func readLimited(r io.ReadCloser, err error) (string, error) {
	if err != nil {
		return "", err
	}
	var b strings.Builder
	_, err = io.Copy(&b, io.LimitReader(r, maxTextSize+1))
	if shut := r.Close(); err == nil {
		err = shut
	}
	return b.String(), err
}

func (o diffOut) text(*toolServer) string {
	var b strings.Builder
	from := o.From
	if from == "" {
		from = "nothing"
	}
	fmt.Fprintf(&b, "%s to %s: %s", from, o.To, o.Changed)
	if o.Other > 0 {
		fmt.Fprintf(&b, ", %s of another kind or mode", termtext.Count(o.Other))
	}
	b.WriteByte('\n')
	for _, c := range o.Changes {
		fmt.Fprintf(&b, "%s %s\n", c.What, quoteWord(c.Path))
	}
	if o.More > 0 {
		fmt.Fprintf(&b, "and %s more; name paths to see them\n", termtext.Count(int64(o.More)))
	}
	for _, g := range o.Gaps {
		fmt.Fprintf(&b, "not looked at, %s: %s, first %s\n", g.Reason, termtext.Count(int64(g.Count)), quoteWord(g.First))
	}
	if o.Why != "" {
		fmt.Fprintf(&b, "no lines: %s\n", o.Why)
	}
	b.WriteString(barLines(o.Lines))
	if o.Left > 0 {
		fmt.Fprintf(&b, "and %s more changed lines\n", termtext.Count(int64(o.Left)))
	}
	return b.String()
}
