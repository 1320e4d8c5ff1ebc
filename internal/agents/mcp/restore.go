package mcp

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

var restoreTool = toolSpec{
	name: "restore",
	description: "Go back to a checkpoint (restore), take a change back (undo) or bring it again (redo). " +
		"Without digest: shows the plan, touches nothing. With the digest of that plan: applies it, or answers moved. All there is now is saved first.",
	input: objectSchema(nil, schemaFields{
		"ref":    refField(refDescription + "; undo: the change, default the newest"),
		"paths":  pathsField("only these; *, ? and ** work"),
		"course": map[string]any{"type": "string", "enum": []retake.Course{retake.CourseRestore, retake.CourseUndo, retake.CourseRedo}, "default": retake.CourseRestore},
		"digest": stringSchema("of the plan to apply", maxRef),
		"accept": listSchema("warnings of the plan that are yours to accept", len(retake.ObstacleClasses), enumSchema(retake.ObstacleClasses...)),
	}),
	hints: toolHints{destructive: true, idempotent: true},
}

type restoreIn struct {
	Ref    string        `json:"ref"`
	Paths  []string      `json:"paths"`
	Course retake.Course `json:"course"`
	Digest string        `json:"digest"`
	Accept []string      `json:"accept"`
}

type restoreOut struct {
	Applied bool       `json:"applied"`
	Plan    *planOut   `json:"plan,omitempty"`
	Result  *resultOut `json:"result,omitempty"`
	answerNote
}

type resultOut struct {
	Number   int64        `json:"number" jsonschema:"the checkpoint that holds the files as they are now"`
	ID       string       `json:"id"`
	Safety   int64        `json:"safety,omitempty" jsonschema:"the checkpoint that holds the files as they were before"`
	Written  int          `json:"written"`
	Deleted  int          `json:"deleted"`
	Merged   int          `json:"merged"`
	Kept     int          `json:"kept"`
	Failed   []skippedRow `json:"failed,omitempty" jsonschema:"paths that were left as they were"`
	More     int          `json:"more,omitempty" jsonschema:"failed paths that are not listed"`
	Warnings []string     `json:"warnings,omitempty"`
	Git      []string     `json:"git,omitempty" jsonschema:"repositories that stay on another commit than the files, and how to move them too"`
}

// skippedRow is a path that stays as it is, and why.
type skippedRow struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

const failedBytes = 2000

// handleRestore returns a plan, or applies the plan with the given digest.
func (f *toolServer) handleRestore(ctx context.Context, ws retake.Workspace, in restoreIn) (restoreOut, error) {
	req, err := newPlanRequest(ws, in)
	if err != nil {
		return restoreOut{}, err
	}
	if in.Digest == "" {
		p, err := f.PlanRestore(ctx, req)
		if err != nil {
			return restoreOut{}, err
		}
		return restoreOut{Plan: newPlanOut(&p, req)}, nil
	}
	if err := checkAgentConsent(req, in.Accept); err != nil {
		return restoreOut{}, err
	}
	// What has begun goes to its end: a client that stops waiting leaves no half of it.
	res, err := f.ApplyRestore(context.WithoutCancel(ctx), retake.ApplyRequest{PlanRequest: req, Digest: in.Digest, Accept: in.Accept})
	if err != nil {
		return restoreOut{}, f.explainRefusal(ctx, req, in.Accept, err)
	}
	return restoreOut{Applied: true, Result: newResultOut(res)}, nil
}

// newPlanRequest checks the input and returns the request for the service.
func newPlanRequest(ws retake.Workspace, in restoreIn) (retake.PlanRequest, error) {
	req := retake.PlanRequest{Workspace: ws.ID, Course: in.Course, Ref: in.Ref, Asker: os.Getpid()}
	switch {
	case in.Course == retake.CourseRestore && in.Ref == "":
		return req, invalidError("the checkpoints: timeline; the newest change: course undo", "which checkpoint? ref is empty")
	case in.Course == retake.CourseRedo && in.Ref != "":
		return req, invalidError("leave ref out", "redo brings again what the last undo took back, so no checkpoint is named")
	case in.Digest == "" && len(in.Accept) > 0:
		return req, invalidError("ask for the plan first, without accept", "consent belongs to a plan, and no digest names one")
	}
	var err error
	req.Paths, err = workspacePaths(ws, in.Paths)
	return req, err
}

// newResultOut shortens the result of a restore to what fits an answer.
func newResultOut(res retake.RestoreResult) *resultOut {
	out := &resultOut{
		Number: res.Checkpoint.Number, ID: string(res.Checkpoint.ID), Safety: res.Safety.Number,
		Written: res.Written, Deleted: res.Deleted, Merged: res.Merged, Kept: res.Kept, Warnings: warningTexts(res.Warnings),
	}
	for _, g := range res.Git[:min(len(res.Git), maxPlanRows)] {
		text := fmt.Sprintf("%s stays on %s; in checkpoint %d it was %s", g.Path, g.Now, g.Checkpoint, g.Then)
		if c := g.Command(); c != "" {
			text += "; to move it too, ask the user, then run: " + c
		}
		out.Git = append(out.Git, safeWord(text, maxTitle))
	}
	out.Failed, out.More = fillRows(&byteBudget{failedBytes}, maxPlanRows, len(res.Failed), func(i int) skippedRow {
		return skippedRow{safeWord(res.Failed[i].Path, maxName), safeWord(res.Failed[i].Why, maxTitle)}
	})
	return out
}

// partly reports whether some paths were skipped: the agent has to look.
func (o restoreOut) partly() bool { return o.Result != nil && len(o.Result.Failed)+o.Result.More > 0 }

func (o restoreOut) text(f *toolServer) string {
	if o.Plan != nil {
		return o.Plan.text(f)
	}
	r := o.Result
	var b strings.Builder
	if o.partly() {
		fmt.Fprintf(&b, "%s: %s paths were left as they were\n", retake.Partly, termtext.Count(int64(len(r.Failed)+r.More)))
	}
	fmt.Fprintf(&b, "done, the files are checkpoint %d: %s written, %s deleted, %s merged, %s kept\n",
		r.Number, termtext.Count(int64(r.Written)), termtext.Count(int64(r.Deleted)), termtext.Count(int64(r.Merged)), termtext.Count(int64(r.Kept)))
	if r.Safety > 0 {
		fmt.Fprintf(&b, "all there was before is checkpoint %d\n", r.Safety)
	}
	for _, g := range r.Git {
		fmt.Fprintf(&b, "git: %s\n", quoteWord(g))
	}
	writeSkipped(&b, "left", r.Failed, r.More)
	writeWarnings(&b, r.Warnings)
	return b.String()
}

func writeSkipped(b *strings.Builder, what string, rows []skippedRow, more int) {
	for _, r := range rows {
		fmt.Fprintf(b, "%s %s: %s\n", what, quoteWord(r.Path), quoteWord(r.Why))
	}
	if more > 0 {
		fmt.Fprintf(b, "%s %s more\n", what, termtext.Count(int64(more)))
	}
}
