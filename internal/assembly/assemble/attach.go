package assemble

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service/carry"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/internal/storage/store/replica"
	"github.com/retake-dev/retake/internal/storage/store/replica/places"
)

// newAttachOptions returns how the store of a disk is made of a copy.
func newAttachOptions(data string, c clock.Clock, derivation string) carry.AttachOptions {
	return carry.AttachOptions{
		Key: decodeKey,
		Heads: func(ctx context.Context, p replica.Place, k carry.CopyKey) ([]store.Head, error) {
			return readHeads(ctx, p, k.Password, c)
		},
		Create: func(ctx context.Context, p replica.Place, k carry.CopyKey, h *replica.Head) error {
			b, err := readBase(ctx, p, h)
			if err != nil {
				return err
			}
			return kopia.CreateFrom(ctx, kopia.Options{
				Dir: filepath.Join(data, "store"), FS: fsx.OS(), Locks: fsx.NewLocks(filepath.Join(data, "locks")), Clock: c, Password: k.Password, Derivation: derivation,
			}, b)
		},
		Fetch: func(ctx context.Context, st store.Store, tree retake.ObjectID) error {
			if s, ok := st.(*kopia.Store); ok {
				return kopia.FetchBase(ctx, s, kopia.FetchRequest{Tree: tree})
			}
			return nil
		},
		Needs: func(st store.Store) bool {
			s, ok := st.(*kopia.Store)
			return ok && kopia.NeedsBase(s)
		},
	}
}

func decodeKey(text string) (out carry.CopyKey, err error) {
	if out.Password, err = kopia.DecodeCopyKey(text); err != nil {
		return out, err
	}
	if out.Family, err = kopia.FamilyOf(out.Password); err != nil {
		return out, err
	}
	out.Sealer, err = kopia.ReplicaSealer(out.Password)
	return out, err
}

// readHeads lists the histories of a copy.
func readHeads(ctx context.Context, p replica.Place, password string, c clock.Clock) ([]store.Head, error) {
	dir, err := os.MkdirTemp("", "retake-attach-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is looked at no more
	s, err := openCopy(ctx, p, password, dir, nil, c)
	if err != nil {
		return nil, err
	}
	defer s.Close() //nolint:errcheck // only read
	return s.Heads(ctx)
}

// readBase reads what a store needs to begin as a copy.
func readBase(ctx context.Context, p replica.Place, h *replica.Head) (kopia.Base, error) {
	b := kopia.Base{Head: h, Indexes: h.Indexes, Get: p.Get, Format: map[string][]byte{}}
	found, err := p.List(ctx, "kopia.")
	for _, o := range found {
		if err == nil {
			b.Format[o.Name], err = p.Get(ctx, o.Name, 0, -1)
		}
	}
	if err != nil {
		return b, fmt.Errorf("read what opens the copy: %w", err)
	}
	b.Packs, err = listPacks(ctx, p)
	return b, err
}

// openBase opens the copy that the store began as.
func openBase(ctx context.Context, dir string, c clock.Clock) (replica.GetFunc, error) {
	text, err := os.ReadFile(filepath.Join(dir, carry.BaseFile))
	var b carry.BaseState
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err != nil {
		return nil, fmt.Errorf("read where the history began: %w", err)
	}
	at, err := places.ParseAddress(b.URL, c.Now)
	if err != nil {
		return nil, err
	}
	p, err := at.Open(ctx, b.Name, b.Access)
	if err != nil {
		return nil, err
	}
	return p.Get, nil
}
