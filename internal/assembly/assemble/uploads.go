package assemble

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service/carry"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/internal/storage/store/replica"
	"github.com/retake-dev/retake/internal/storage/store/replica/places"
)

// remotesDir is where what opens remotes is kept.
func remotesDir(data string) string { return filepath.Join(data, "remotes") }

// newUploadOptions returns how the store of a disk is copied to remotes.
func newUploadOptions(data string, c clock.Clock, derivation string) carry.UploadOptions {
	host, _ := os.Hostname() // without one the copy has no name of a machine
	return carry.UploadOptions{
		Dir:     remotesDir(data),
		Machine: replica.StoreInfo{Machine: host, OS: runtime.GOOS, Arch: runtime.GOARCH},
		Address: func(text string) (replica.Address, error) { return places.ParseAddress(text, c.Now) },
		Source: func(st store.Store) replica.Source {
			if s, ok := st.(*kopia.Store); ok {
				return kopia.NewReplicaSource(s)
			}
			return nil
		},
		Attach: newAttachOptions(data, c, derivation),
		Check: func(ctx context.Context, q carry.CheckRequest) (retake.ScrubReport, error) {
			return checkCopy(ctx, q, c)
		},
	}
}

// checkCopy opens a copy as somebody would who lost the store, and reads it.
func checkCopy(ctx context.Context, q carry.CheckRequest, c clock.Clock) (rep retake.ScrubReport, err error) {
	s, ok := q.Store.(*kopia.Store)
	if !ok {
		return rep, errors.New("this store has no copies")
	}
	password, err := kopia.PasswordOf(s)
	if err != nil {
		return rep, err
	}
	packs, err := listPacks(ctx, q.Place)
	if err != nil {
		return rep, err
	}
	back, err := openCopy(ctx, q.Place, password, q.Dir, packs, c)
	if err != nil {
		return rep, err
	}
	rep, err = back.Scrub(ctx, retake.ScrubQuery{Share: q.Share})
	return rep, errors.Join(err, back.Close())
}

// openCopy opens the copy at a place to read it. dir is for its indexes.
func openCopy(ctx context.Context, p replica.Place, password, dir string, packs map[string]int64, c clock.Clock) (*kopia.Store, error) {
	key, err := kopia.ReplicaSealer(password)
	if err != nil {
		return nil, err
	}
	h, err := replica.ReadHead(ctx, p, key)
	if err != nil {
		return nil, err
	}
	if h.Number == 0 {
		return nil, replica.ErrLost
	}
	return kopia.Open(ctx, kopia.Options{
		Dir: dir, FS: fsx.OS(), Locks: fsx.NewMemoryLocks(), Clock: c, Password: password,
		Copy: &kopia.CopyOptions{Indexes: h.Indexes, Clock: h.Clock, Get: p.Get, Packs: packs},
	})
}

// listPacks lists the packs of a copy with their sizes.
func listPacks(ctx context.Context, p replica.Place) (map[string]int64, error) {
	out := map[string]int64{}
	for _, kind := range []string{"p", "q"} {
		found, err := p.List(ctx, kind)
		if err != nil {
			return nil, fmt.Errorf("list packs of the copy: %w", err)
		}
		for _, o := range found {
			out[o.Name] = o.Size
		}
	}
	return out, nil
}

// CopyKey returns the key of the copies of the user's store, in groups.
func CopyKey(c config.Config) (string, error) {
	key, err := kopia.CopyKey(fsx.OS(), filepath.Join(c.DataDir, "store"))
	return key, recoveryError("there is no recovery key", err)
}

// ConfirmKey notes that the user has the recovery key elsewhere.
func ConfirmKey(c config.Config) error { return carry.ConfirmKey(remotesDir(c.DataDir)) }
