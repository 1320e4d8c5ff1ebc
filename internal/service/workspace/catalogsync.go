package workspace

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Marks in the catalog: how far it follows each workspace in the store, and in which boot
// of the machine it was last checked. Its rows are not synced one by one, because the store
// has them too; after a power cut, which means a new boot, it is compared with the store
// before it is read.
const (
	seqMark  = "seq:"
	bootMark = "boot"
	lastMark = "last:" // the highest number of a workspace whose newest checkpoints were lost
)

// SyncedMark says that the catalog has everything up to a head.
func SyncedMark(h store.Head) catalog.Mark {
	return catalog.Mark{Key: seqMark + string(h.Workspace.ID), Value: strconv.FormatInt(h.Seq, 10)}
}

// MarkCatalogSynced records that the catalog has everything up to this head.
func (s *Registry) MarkCatalogSynced(ctx context.Context, h store.Head) error {
	m := SyncedMark(h)
	return s.Catalog.SetMark(ctx, m.Key, m.Value)
}

// SyncCatalog brings the catalog up to a head of the store: rows, tombstones and pins.
func (s *Registry) SyncCatalog(ctx context.Context, st store.Store, h store.Head) error {
	ws := h.Workspace.ID
	mark, err := s.Catalog.Mark(ctx, seqMark+string(ws))
	if err != nil {
		return fmt.Errorf("read catalog: %w", err)
	}
	if mark == strconv.FormatInt(h.Seq, 10) || h.Seq == 0 {
		return nil
	}
	if _, err := s.refillCatalog(ctx, st, h); err != nil {
		return err
	}
	return s.MarkCatalogSynced(ctx, h)
}

// refillCatalog writes everything that the store has of a workspace into the catalog. It is
// idempotent.
func (s *Registry) refillCatalog(ctx context.Context, st store.Store, h store.Head) (retake.RebuildReport, error) {
	ctx = AsMaintainer(ctx)
	rep := retake.RebuildReport{Workspaces: 1, Pins: int64(len(h.Pins))}
	ws := h.Workspace
	if known, err := s.Catalog.Workspace(ctx, ws.ID); err == nil {
		ws.Root, ws.Dev, ws.Ino = known.Root, known.Dev, known.Ino // it may have moved since the last save
	}
	if err := s.Catalog.PutWorkspace(ctx, ws); err != nil {
		return rep, fmt.Errorf("fill catalog: %w", err)
	}
	err := st.Records(ctx, ws.ID, 0, func(l *store.Record, t *retake.Tombstone) error {
		if t != nil {
			rep.Tombstones++
			return s.Catalog.Bury(ctx, ws.ID, []retake.Tombstone{*t})
		}
		rep.Checkpoints++
		if err := s.Catalog.Append(ctx, l.Card.Checkpoint); err != nil {
			return err
		}
		return s.refillVerifications(ctx, st, l)
	})
	if err != nil {
		return rep, fmt.Errorf("fill catalog: %w", err)
	}
	if err := s.Catalog.SetPins(ctx, ws.ID, h.Pins); err != nil {
		return rep, fmt.Errorf("fill catalog: %w", err)
	}
	return rep, nil
}

// ensureCatalogCurrent compares the catalog with the store once after each boot and at each start
// of a daemon: a disk can also go and come back while the machine runs. If the catalog cannot be written, it is read as it is, and stale says why.
func (s *Registry) ensureCatalogCurrent(ctx context.Context) (stale string, err error) {
	err = s.syncCatalogAfterBoot(ctx)
	if errors.Is(err, catalog.ErrUnwritable) || errors.Is(err, fsx.ErrNoSpace) {
		return retake.AsError(err).Error(), nil
	}
	return "", err
}

// syncCatalogAfterBoot syncs the catalog with the heads of the store if that was not done
// since the boot or by this daemon. Damaged workspaces are skipped: the commands that need them report it.
func (s *Registry) syncCatalogAfterBoot(ctx context.Context) error {
	if s.BootID == "" || s.syncedAfterBoot.Load() {
		return nil
	}
	seen, err := s.Catalog.Mark(ctx, bootMark)
	if err != nil || seen == s.BootID && !s.Exclusive {
		s.syncedAfterBoot.Store(err == nil)
		return err
	}
	st, err := s.Store(ctx)
	if err != nil {
		if retake.IsKind(err, retake.NotFound) {
			return nil // no store yet: nothing to follow
		}
		return err
	}
	heads, err := st.Heads(ctx)
	if err != nil && !errors.Is(err, store.ErrDamaged) {
		return err
	}
	for _, h := range heads { // damaged ones are reported by the commands that need them
		if err := s.SyncCatalog(ctx, st, h); err != nil {
			return err
		}
	}
	s.syncedAfterBoot.Store(true)
	if seen == s.BootID {
		return nil
	}
	return s.Catalog.SetMark(ctx, bootMark, s.BootID)
}

// LastNumber returns the highest number that a workspace ever had, as far as the catalog knows: the
// next one is above it, also when the store has lost the newest checkpoints.
func (s *Registry) LastNumber(ctx context.Context, ws retake.WorkspaceID) (int64, error) {
	mark, err := s.Catalog.Mark(ctx, lastMark+string(ws))
	if err != nil {
		return 0, err
	}
	last, _ := strconv.ParseInt(mark, 10, 64) // none: 0
	row, err := s.Catalog.Latest(ctx, ws, 0)
	if errors.Is(err, catalog.ErrNotFound) {
		return last, nil
	}
	return max(last, row.Number), err
}

// NoteLastNumber remembers that a workspace had a number, so that it is not given again.
func NoteLastNumber(ctx context.Context, s *Registry, ws retake.WorkspaceID, number int64) error {
	last, err := s.LastNumber(ctx, ws)
	if err != nil {
		return err
	}
	return s.Catalog.SetMark(ctx, lastMark+string(ws), strconv.FormatInt(max(last, number), 10))
}

// lastNumbers returns the numbers that the heads of the store do not know any more.
func (s *Registry) lastNumbers(ctx context.Context, heads []store.Head) map[retake.WorkspaceID]int64 {
	out := map[retake.WorkspaceID]int64{}
	for _, h := range heads {
		if n, err := s.LastNumber(ctx, h.Workspace.ID); err == nil && n > h.Latest { // a catalog that cannot be read knows none
			out[h.Workspace.ID] = n
		}
	}
	return out
}

// Rebuild rebuilds the catalog from the store alone.
func (s *Registry) Rebuild(ctx context.Context) (retake.RebuildReport, error) {
	var rep retake.RebuildReport
	st, err := s.Store(ctx)
	if err != nil {
		return rep, WrapError("not rebuilt", Unchanged, err)
	}
	heads, damage := st.Heads(ctx)
	if damage != nil && (len(heads) == 0 || !errors.Is(damage, store.ErrDamaged)) { // an empty catalog is worth less than an old one
		return rep, WrapError("not rebuilt", Unchanged, damage)
	}
	s.CatalogMu.Lock()
	s.catalogChanges.Add(1)
	defer func() {
		s.catalogChanges.Add(1)
		s.CatalogMu.Unlock()
	}()
	ctx = context.WithoutCancel(ctx) // half a catalog is worse than an old one
	last := s.lastNumbers(AsMaintainer(ctx), heads)
	if err := s.Catalog.Reset(AsMaintainer(ctx)); err != nil {
		return rep, WrapError("not rebuilt", Unchanged, err)
	}
	for _, h := range heads {
		one, err := s.refillCatalog(ctx, st, h)
		if err == nil {
			err = s.MarkCatalogSynced(ctx, h)
		}
		if n := last[h.Workspace.ID]; err == nil && n > 0 {
			err = s.Catalog.SetMark(ctx, lastMark+string(h.Workspace.ID), strconv.FormatInt(n, 10))
		}
		if err != nil {
			return rep, WrapError("rebuilt in part", "The store is intact; run it again.", err)
		}
		rep.Workspaces += one.Workspaces
		rep.Checkpoints += one.Checkpoints
		rep.Pins += one.Pins
		rep.Tombstones += one.Tombstones
	}
	if s.BootID != "" {
		if err := s.Catalog.SetMark(ctx, bootMark, s.BootID); err != nil {
			return rep, WrapError("rebuilt in part", "The store is intact; run it again.", err)
		}
	}
	return rep, WrapError("some workspaces could not be read", "The others are listed again.", damage)
}

// AsMaintainer returns a context for rows that follow what the store already holds,
// independent of the permissions of the caller.
func AsMaintainer(ctx context.Context) context.Context {
	if a, ok := retake.ActorOf(ctx); ok && a.Kind == retake.KeyMaintainer {
		return ctx // keep its identity
	}
	return retake.WithActor(ctx, retake.Actor{Kind: retake.KeyMaintainer, Name: "server"})
}

// VerificationPrefix starts the name of a verification in the state of a checkpoint.
const VerificationPrefix = "verification-"

// refillVerifications writes the verifications in a checkpoint's state into the catalog.
// Unreadable ones are skipped.
func (s *Registry) refillVerifications(ctx context.Context, st store.Store, l *store.Record) error {
	for _, e := range l.State {
		if !strings.HasPrefix(e.Name, VerificationPrefix) {
			continue
		}
		var v retake.Verification
		if err := ReadStateDoc(ctx, st, e, &v); err != nil {
			continue // an unreadable one must not hide the others
		}
		if err := s.Catalog.PutVerification(ctx, v); err != nil {
			return err
		}
	}
	return nil
}
