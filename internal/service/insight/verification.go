package insight

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/verify"
	"github.com/retake-dev/retake/internal/pure/pathclass"
	"github.com/retake-dev/retake/internal/pure/secrets"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// Bounds of what is kept of a verification.
const (
	maxOutput  = 64 << 10
	maxCommand = 4 << 10
	maxWrote   = 20
)

// Attest records the result of a command.
func (s *Insight) Attest(ctx context.Context, a retake.Attestation) (retake.Verification, error) {
	ref := a.Ref
	if ref == "" {
		ref = "latest"
	}
	cp, err := s.history.Find(ctx, a.Workspace, ref)
	if err != nil {
		return retake.Verification{}, err
	}
	v, err := s.buildVerification(ctx, cp, attributeAttestation(ctx, a))
	if err != nil {
		return v, workspace.WrapError("not recorded", workspace.Unchanged, err)
	}
	return v, workspace.WrapError("not recorded", workspace.Unchanged, s.recordVerification(ctx, cp, v))
}

// ownRunName is the author of results of commands that we ran ourselves.
const ownRunName = "retake"

// attributeAttestation sets the author of an attestation. Without a key it is a run of
// ours, by the owner of this process. With a key nobody here saw the command run: a key
// that may decide vouches for it by its name, and what any other key reports is a claim.
func attributeAttestation(ctx context.Context, a retake.Attestation) retake.Attestation {
	actor, ok := retake.ActorOf(ctx)
	switch {
	case !ok && !a.Claim:
		a.By = ownRunName
	case ok && (a.Claim || !actor.Kind.Has(retake.PowerDecide)):
		a.Claim = true
		if a.By == "" {
			a.By = keyName(actor)
		} else if a.By != keyName(actor) {
			a.By = fmt.Sprintf("%s (key %s)", a.By, keyName(actor))
		}
	case ok:
		a.By = keyName(actor)
	}
	return a
}

// keyName returns the display name of a key. A key without a name, or with the name of our
// own runs, is called by its ID.
func keyName(a retake.Actor) string {
	if a.Name == "" || a.Name == ownRunName {
		return string(a.Kind) + " " + string(a.Key)
	}
	return a.Name
}

// buildVerification makes a verification of an attestation. A run on the live files counts
// only if they still match the checkpoint.
func (s *Insight) buildVerification(ctx context.Context, cp retake.Checkpoint, a retake.Attestation) (retake.Verification, error) {
	if a.Command == "" && !a.Claim || len(a.Command) > maxCommand {
		return retake.Verification{}, &retake.Error{Kind: retake.Invalid, What: "which command? It is empty, or far too long", Safe: workspace.Unchanged}
	}
	u, err := uuid.NewV7()
	if err != nil {
		return retake.Verification{}, err
	}
	v := retake.Verification{
		ID: retake.VerificationID(retake.VerificationPrefix + u.String()), Workspace: cp.Workspace, Checkpoint: cp.ID, Number: cp.Number, Content: cp.Content,
		Name: s.checkName(a), Command: a.Command, By: a.By, Claim: a.Claim, Bisect: a.Bisect, Where: a.Where, Verdict: a.Verdict, Why: a.Why,
		Exit: a.Exit, Started: a.Started, Took: a.Took, Output: outputTail(a.Output),
	}
	if v.Where == "" {
		v.Where = retake.OnLive
	}
	if v.Started.IsZero() {
		v.Started = s.workspaces.Clock.Now()
	}
	if v.Verdict == "" {
		v.Verdict = verdictOfExit(a.Exit)
	}
	if a.Claim {
		return v, nil
	}
	if v.Verdict == retake.Passed || v.Verdict == retake.Failed {
		v.Score = verify.Summary(v.Output)
	}
	if v.Where == retake.OnLive && (v.Verdict == retake.Passed || v.Verdict == retake.Failed) {
		err = s.compareWithCheckpoint(ctx, cp, &v)
	}
	return v, err
}

// verdictOfExit interprets the exit code of a shell.
func verdictOfExit(code int) retake.Verdict {
	switch code {
	case 0:
		return retake.Passed
	case 126, 127:
		return retake.CouldNotRun
	}
	return retake.Failed
}

// checkName returns the given name, that of the standing check with the same command, or
// one derived from the command.
func (s *Insight) checkName(a retake.Attestation) string {
	if a.Name != "" {
		return a.Name
	}
	for _, st := range s.history.StandingChecks(a.Workspace) {
		if st.Command == a.Command {
			return st.Name
		}
	}
	return verify.Name(a.Command)
}

// outputTail returns the end of an output as valid text, with likely secrets masked.
func outputTail(out string) string {
	if len(out) > maxOutput {
		out = out[len(out)-maxOutput:]
		for len(out) > 0 && !utf8.RuneStart(out[0]) {
			out = out[1:]
		}
	}
	masked, _ := secrets.Mask(strings.ToValidUTF8(out, "\uFFFD"))
	return masked
}

// compareWithCheckpoint compares the live files with the checkpoint that was checked.
// By-products of the run, such as caches and reports, do not count as changes.
func (s *Insight) compareWithCheckpoint(ctx context.Context, cp retake.Checkpoint, v *retake.Verification) error {
	changes, _, err := s.history.CompareLive(ctx, cp)
	if err != nil {
		return err
	}
	var moved []string
	for _, c := range changes {
		switch {
		case c.What == retake.Timed || isDirChange(c):
		case isByProduct(c):
			if len(v.Wrote) < maxWrote {
				v.Wrote = append(v.Wrote, c.Path)
			}
		default:
			moved = append(moved, c.Path)
		}
	}
	if len(moved) > 0 {
		v.Verdict = retake.RanOnOther
		v.Why = "changed meanwhile: " + strings.Join(moved[:min(len(moved), 3)], ", ")
		if more := len(moved) - 3; more > 0 {
			v.Why += fmt.Sprintf(" and %d more", more)
		}
	}
	return nil
}

func isDirChange(c retake.Change) bool {
	e := c.After
	if e == nil {
		e = c.Before
	}
	return e.Kind == retake.KindDir
}

// isByProduct reports whether a change is a by-product of running programs: build output,
// caches, logs, databases, and new files that people do not write.
func isByProduct(c retake.Change) bool {
	switch pathclass.Of(c.Path).Theme() {
	case retake.ThemeBuild, retake.ThemeMoving, retake.ThemeGit:
		return true
	case retake.ThemeDatabase:
		return c.What != retake.Deleted
	case retake.ThemePackages: // an install is not a by-product, but tools keep caches there
		return slices.ContainsFunc(strings.Split(path.Dir(c.Path), "/"), func(dir string) bool { return slices.Contains(cacheDirs, dir) })
	case retake.ThemeSource:
		return c.What == retake.Added && slices.Contains(reportExtensions, strings.ToLower(path.Ext(c.Path)))
	default:
		return pathclass.IsVolatile(c.Path)
	}
}

// cacheDirs are cache directories that tools keep among packages.
var cacheDirs = []string{".cache", ".vite", ".vite-temp", ".vitest", "__pycache__"}

// reportExtensions are the extensions of reports that programs write next to the source.
var reportExtensions = []string{".xml", ".out", ".prof", ".html", ".lcov", ".info", ".tap", ".snap", ".png", ".json"}

// recordVerification stores a verification with its checkpoint, then in the catalog.
func (s *Insight) recordVerification(ctx context.Context, cp retake.Checkpoint, v retake.Verification) error {
	if err := s.annotateCheckpoint(ctx, cp, workspace.VerificationPrefix+string(v.ID)+".json", v); err != nil {
		return err
	}
	if err := s.workspaces.Catalog.PutVerification(ctx, v); err != nil {
		return err
	}
	s.history.InvalidateGood(cp.Workspace)
	s.summarizer.request(cp) // the summary may now contradict the result
	return nil
}

// Verifications lists verifications, newest first.
func (s *Insight) Verifications(ctx context.Context, q retake.VerificationQuery) ([]retake.Verification, error) {
	cq := catalog.VerificationQuery{Workspace: q.Workspace, Name: q.Name, Command: q.Command, Limit: q.Limit}
	if _, err := s.workspaces.LoadWorkspace(ctx, q.Workspace); err != nil {
		return nil, workspace.WrapError("no such workspace", workspace.Unchanged, err)
	}
	if q.Ref != "" {
		cp, err := s.history.Find(ctx, q.Workspace, q.Ref)
		if err != nil {
			return nil, err
		}
		cq.Contents, cq.Output = []retake.ContentID{cp.Content}, true
	}
	out, err := s.workspaces.Catalog.Verifications(ctx, cq)
	if out == nil {
		out = []retake.Verification{}
	}
	return out, workspace.WrapError("the verifications cannot be listed", workspace.Unchanged, err)
}

// Standing lists the standing checks of a workspace.
func (s *Insight) Standing(ctx context.Context, ws retake.WorkspaceID) ([]retake.Standing, error) {
	if _, err := s.workspaces.LoadWorkspace(ctx, ws); err != nil {
		return nil, workspace.WrapError("no such workspace", workspace.Unchanged, err)
	}
	return append([]retake.Standing{}, s.history.StandingChecks(ws)...), nil
}
