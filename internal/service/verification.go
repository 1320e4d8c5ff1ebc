package service

import (
	"context"
	"encoding/json"
	"errors"
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
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Bounds of what is kept of a verification.
const (
	maxOutput  = 64 << 10
	maxCommand = 4 << 10
	maxWrote   = 20
)

// verificationPrefix starts the name of a verification in the state of a checkpoint.
const verificationPrefix = "verification-"

// Attest records the result of a command.
func (s *Service) Attest(ctx context.Context, a retake.Attestation) (retake.Verification, error) {
	ref := a.Ref
	if ref == "" {
		ref = "latest"
	}
	cp, err := s.Find(ctx, a.Workspace, ref)
	if err != nil {
		return retake.Verification{}, err
	}
	v, err := s.buildVerification(ctx, cp, attributeAttestation(ctx, a))
	if err != nil {
		return v, wrapError("not recorded", unchanged, err)
	}
	return v, wrapError("not recorded", unchanged, s.recordVerification(ctx, cp, v))
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
func (s *Service) buildVerification(ctx context.Context, cp retake.Checkpoint, a retake.Attestation) (retake.Verification, error) {
	if a.Command == "" && !a.Claim || len(a.Command) > maxCommand {
		return retake.Verification{}, &retake.Error{Kind: retake.Invalid, What: "which command? It is empty, or far too long", Safe: unchanged}
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
		v.Started = s.parts.Clock.Now()
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
func (s *Service) checkName(a retake.Attestation) string {
	if a.Name != "" {
		return a.Name
	}
	for _, st := range s.standingChecks(a.Workspace) {
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
func (s *Service) compareWithCheckpoint(ctx context.Context, cp retake.Checkpoint, v *retake.Verification) error {
	changes, _, err := s.compareLive(ctx, cp)
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
func (s *Service) recordVerification(ctx context.Context, cp retake.Checkpoint, v retake.Verification) error {
	if err := s.annotateCheckpoint(ctx, cp, verificationPrefix+string(v.ID)+".json", v); err != nil {
		return err
	}
	if err := s.parts.Catalog.PutVerification(ctx, v); err != nil {
		return err
	}
	s.invalidateGood(cp.Workspace)
	s.summarizer.request(cp) // the summary may now contradict the result
	return nil
}

// Verifications lists verifications, newest first.
func (s *Service) Verifications(ctx context.Context, q retake.VerificationQuery) ([]retake.Verification, error) {
	cq := catalog.VerificationQuery{Workspace: q.Workspace, Name: q.Name, Command: q.Command, Limit: q.Limit}
	if _, err := s.loadWorkspace(ctx, q.Workspace); err != nil {
		return nil, wrapError("no such workspace", unchanged, err)
	}
	if q.Ref != "" {
		cp, err := s.Find(ctx, q.Workspace, q.Ref)
		if err != nil {
			return nil, err
		}
		cq.Contents, cq.Output = []retake.ContentID{cp.Content}, true
	}
	out, err := s.parts.Catalog.Verifications(ctx, cq)
	if out == nil {
		out = []retake.Verification{}
	}
	return out, wrapError("the verifications cannot be listed", unchanged, err)
}

// Standing lists the standing checks of a workspace.
func (s *Service) Standing(ctx context.Context, ws retake.WorkspaceID) ([]retake.Standing, error) {
	if _, err := s.loadWorkspace(ctx, ws); err != nil {
		return nil, wrapError("no such workspace", unchanged, err)
	}
	return append([]retake.Standing{}, s.standingChecks(ws)...), nil
}

func (s *Service) standingChecks(ws retake.WorkspaceID) []retake.Standing {
	if s.parts.StandingChecks == nil {
		return nil
	}
	return s.parts.StandingChecks(ws)
}

// reassignVerifications moves the verifications of checkpoints that are being dropped to
// others with the same content that have no result of their own.
func (s *Service) reassignVerifications(ctx context.Context, w store.Writer, ws retake.WorkspaceID, stones []retake.Tombstone) error {
	going := map[retake.CheckpointID]bool{}
	for _, t := range stones {
		going[t.ID] = true
	}
	all, err := s.parts.Catalog.Verifications(ctx, catalog.VerificationQuery{Workspace: ws})
	all = slices.DeleteFunc(all, func(v retake.Verification) bool { return !going[v.Checkpoint] })
	if err != nil || len(all) == 0 {
		return err
	}
	contents := make([]retake.ContentID, len(all))
	for i, v := range all {
		contents[i] = v.Content
	}
	if all, err = s.parts.Catalog.Verifications(ctx, catalog.VerificationQuery{Workspace: ws, Contents: contents, Output: true}); err != nil {
		return err
	}
	for _, v := range all {
		if !going[v.Checkpoint] {
			continue
		}
		heirs, err := s.parts.Catalog.WithContent(ctx, ws, v.Content)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(heirs, func(cp retake.Checkpoint) bool { return !going[cp.ID] && !hasOwnResult(cp, v.Name, all) })
		if i < 0 {
			continue
		}
		v.Checkpoint, v.Number = heirs[i].ID, heirs[i].Number
		if err := writeVerification(ctx, w, v); err != nil {
			return err
		}
		if err := s.parts.Catalog.PutVerification(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

// hasOwnResult reports whether a checkpoint has its own result of a check.
func hasOwnResult(cp retake.Checkpoint, name string, all []retake.Verification) bool {
	return slices.ContainsFunc(all, func(v retake.Verification) bool {
		return v.Checkpoint == cp.ID && v.Name == name && !v.Claim && !v.Bisect && (v.Verdict == retake.Passed || v.Verdict == retake.Failed)
	})
}

// writeVerification adds a verification to the state of its checkpoint.
func writeVerification(ctx context.Context, w store.Writer, v retake.Verification) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	name := verificationPrefix + string(v.ID) + ".json"
	id, n, err := w.WriteFile(ctx, name, strings.NewReader(string(b)+"\n"))
	if err != nil {
		return err
	}
	err = w.Annotate(ctx, v.Number, []retake.Entry{{Name: name, Kind: retake.KindFile, Mode: 0o600, Size: n, Object: id}})
	if errors.Is(err, store.ErrNotFound) {
		return nil // that checkpoint was dropped meanwhile
	}
	return err
}

// refillVerifications writes the verifications in a checkpoint's state into the catalog.
// Unreadable ones are skipped.
func (s *Service) refillVerifications(ctx context.Context, st store.Store, l *store.Record) error {
	for _, e := range l.State {
		if !strings.HasPrefix(e.Name, verificationPrefix) {
			continue
		}
		var v retake.Verification
		if err := readStateDoc(ctx, st, e, &v); err != nil {
			continue // an unreadable one must not hide the others
		}
		if err := s.parts.Catalog.PutVerification(ctx, v); err != nil {
			return err
		}
	}
	return nil
}
