package history

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/store"
)

func (s *History) StandingChecks(ws retake.WorkspaceID) []retake.Standing {
	if s.standing == nil {
		return nil
	}
	return s.standing(ws)
}

// ReassignVerifications moves the verifications of checkpoints that are being dropped to
// others with the same content that have no result of their own.
func (s *History) ReassignVerifications(ctx context.Context, w store.Writer, ws retake.WorkspaceID, stones []retake.Tombstone) error {
	going := map[retake.CheckpointID]bool{}
	for _, t := range stones {
		going[t.ID] = true
	}
	all, err := s.workspaces.Catalog.Verifications(ctx, catalog.VerificationQuery{Workspace: ws})
	all = slices.DeleteFunc(all, func(v retake.Verification) bool { return !going[v.Checkpoint] })
	if err != nil || len(all) == 0 {
		return err
	}
	contents := make([]retake.ContentID, len(all))
	for i, v := range all {
		contents[i] = v.Content
	}
	if all, err = s.workspaces.Catalog.Verifications(ctx, catalog.VerificationQuery{Workspace: ws, Contents: contents, Output: true}); err != nil {
		return err
	}
	for _, v := range all {
		if !going[v.Checkpoint] {
			continue
		}
		heirs, err := s.workspaces.Catalog.WithContent(ctx, ws, v.Content)
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
		if err := s.workspaces.Catalog.PutVerification(ctx, v); err != nil {
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
	name := workspace.VerificationPrefix + string(v.ID) + ".json"
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
