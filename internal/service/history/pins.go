package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store"
)

const maxPinName = 100

// Pin keeps a checkpoint under a name.
func (s *History) Pin(ctx context.Context, id retake.WorkspaceID, ref, name string) (retake.Pin, error) {
	if err := s.checkPinName(name); err != nil {
		return retake.Pin{}, err
	}
	cp, err := s.Find(ctx, id, ref)
	if err != nil {
		return retake.Pin{}, err
	}
	pin := retake.Pin{Name: name, Checkpoint: cp.ID, Number: cp.Number, Time: s.workspaces.Clock.Now()}
	err = s.updatePins(ctx, id, func(pins []retake.Pin) ([]retake.Pin, error) {
		if i := slices.IndexFunc(pins, func(p retake.Pin) bool { return p.Name == name }); i >= 0 {
			if pins[i].Checkpoint == cp.ID { // asked for the second time
				pin = pins[i]
				return pins, nil
			}
			return nil, &retake.Error{Kind: retake.Exists, What: fmt.Sprintf("the name %s is that of checkpoint %d", name, pins[i].Number), Safe: workspace.Unchanged, Hint: "remove it first: retake unpin " + name}
		}
		return append(pins, pin), nil
	})
	return pin, workspace.WrapError("not pinned", workspace.Unchanged, err)
}

// checkPinName refuses names that would be read as another ref.
func (s *History) checkPinName(name string) error {
	r, err := retake.ParseRef(name, s.workspaces.Clock.Now())
	bad := err != nil || r.Form != retake.RefName || len(name) > maxPinName || name == LiveRef || strings.TrimSpace(name) != name || strings.HasPrefix(name, "-")
	if !bad {
		return nil
	}
	return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("%q cannot be a name: it reads as something else", name), Safe: workspace.Unchanged, Hint: "use a word, such as before-migration"}
}

// Unpin removes a pin.
func (s *History) Unpin(ctx context.Context, id retake.WorkspaceID, name string) error {
	err := s.updatePins(ctx, id, func(pins []retake.Pin) ([]retake.Pin, error) {
		i := slices.IndexFunc(pins, func(p retake.Pin) bool { return p.Name == name })
		if i < 0 {
			return nil, &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("no checkpoint is pinned as %s", name), Safe: workspace.Unchanged, Hint: "list checkpoints: retake log"}
		}
		return slices.Delete(pins, i, i+1), nil
	})
	return workspace.WrapError("not unpinned", workspace.Unchanged, err)
}

// updatePins changes the pins of a workspace in the store, then in the catalog.
func (s *History) updatePins(ctx context.Context, id retake.WorkspaceID, change func([]retake.Pin) ([]retake.Pin, error)) error {
	ws, err := s.workspaces.LoadWorkspace(ctx, id)
	if err != nil {
		return err
	}
	return s.workspaces.WithWriter(ctx, ws, func(w store.Writer) error {
		pins, err := change(slices.Clone(w.Head().Pins))
		if err != nil {
			return err
		}
		slices.SortFunc(pins, func(a, b retake.Pin) int { return strings.Compare(a.Name, b.Name) })
		if err := w.Amend(ctx, w.Head().Workspace, pins); err != nil {
			return err
		}
		return s.workspaces.Catalog.SetPins(ctx, id, pins)
	})
}

// Forget drops checkpoints from the timeline and leaves tombstones.
func (s *History) Forget(ctx context.Context, id retake.WorkspaceID, refs []string) ([]retake.Tombstone, error) {
	at := s.workspaces.Clock.Now()
	var stones []retake.Tombstone
	for _, ref := range refs {
		cp, err := s.Find(ctx, id, ref)
		if err != nil {
			return nil, err
		}
		t := retake.Tombstone{Number: cp.Number, ID: cp.ID, Parent: cp.Parent, Time: cp.Time, At: at}
		if !slices.ContainsFunc(stones, func(o retake.Tombstone) bool { return o.ID == t.ID }) {
			stones = append(stones, t)
		}
	}
	err := s.forgetCheckpoints(ctx, id, stones)
	if errors.Is(err, store.ErrRequired) {
		return nil, &retake.Error{Kind: retake.Denied, What: "the newest checkpoint and pinned ones stay", Safe: workspace.Unchanged, Hint: "remove a pin: retake help unpin", Err: err}
	}
	if err != nil {
		return nil, workspace.WrapError("not forgotten", workspace.Unchanged, err)
	}
	return stones, nil
}

// forgetCheckpoints replaces checkpoints by tombstones, in the store and then in the
// catalog. Verifications move to other checkpoints with the same content first.
func (s *History) forgetCheckpoints(ctx context.Context, id retake.WorkspaceID, stones []retake.Tombstone) error {
	ws, err := s.workspaces.LoadWorkspace(ctx, id)
	if err != nil {
		return err
	}
	return s.workspaces.WithWriter(ctx, ws, func(w store.Writer) error {
		if err := s.ReassignVerifications(ctx, w, id, stones); err != nil {
			return err
		}
		if err := w.Forget(ctx, stones); err != nil {
			return err
		}
		return s.workspaces.Catalog.Bury(workspace.AsMaintainer(ctx), id, stones)
	})
}
