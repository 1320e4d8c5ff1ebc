package kopia

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kopia/kopia/repo"
	"github.com/kopia/kopia/repo/format"
	"github.com/kopia/kopia/repo/maintenance"
	"github.com/kopia/kopia/snapshot/policy"

	"github.com/retake-dev/retake/internal/platform/clock"
)

// initialize writes the repository into an empty or partially created place.
func (s *Store) initialize(ctx context.Context, password string) error {
	if err := s.blobs.removePartial(ctx); err != nil {
		return err
	}
	kdf := s.opts.Derivation
	if kdf == "" {
		kdf = defaultDerivation
	}
	opt := &repo.NewRepositoryOptions{FormatBlockKeyDerivationAlgorithm: kdf}
	if err := repo.Initialize(ctx, s.blobs, opt, password); err != nil {
		return fmt.Errorf("initialize repository: %w", err)
	}
	if err := s.setEpochParameters(ctx, password); err != nil {
		return err
	}
	var err error
	if s.rep, err = openEngine(ctx, s.blobs, s.clock.Now, password); err != nil {
		return err
	}
	return s.writePolicy(ctx)
}

// epochAge is how long an index epoch lasts, by the times of its files. With the stock value of
// a day the index grows by one blob for every save.
const (
	epochAge    = time.Hour
	minEpochAge = 10 * time.Minute // the engine takes no shorter one
)

// setEpochParameters changes the format before the repository is opened for the first time,
// since an open one keeps what it has read.
func (s *Store) setEpochParameters(ctx context.Context, password string) error {
	fm, err := format.NewManager(ctx, s.blobs, "", format.DefaultRepositoryBlobCacheDuration, password, s.clock.Now)
	if err != nil {
		return fmt.Errorf("read format: %w", err)
	}
	mp, err := fm.GetMutableParameters(ctx)
	if err != nil {
		return fmt.Errorf("read format: %w", err)
	}
	cfg, err := fm.BlobCfgBlob(ctx)
	if err != nil {
		return fmt.Errorf("read format: %w", err)
	}
	age := max(epochAge/clock.Speed, minEpochAge)
	mp.EpochParameters.MinEpochDuration = age
	mp.EpochParameters.EpochRefreshFrequency = age / 3
	mp.EpochParameters.CleanupSafetyMargin = age
	if err := fm.SetParameters(ctx, mp, cfg, nil); err != nil {
		return fmt.Errorf("write format: %w", err)
	}
	return nil
}

// writePolicy writes the policy and the maintenance owner, so that a stock engine neither
// expires snapshots nor runs maintenance in this repository.
func (s *Store) writePolicy(ctx context.Context) error {
	v, err := s.newOwnSession(ctx)
	if err != nil {
		return err
	}
	p := maintenance.DefaultParams()
	p.Owner = sessionIdentity + "@" + sessionIdentity
	p.QuickCycle.Enabled, p.FullCycle.Enabled = false, false
	if err = policy.SetPolicy(ctx, v, policy.GlobalPolicySourceInfo, stockPolicy()); err == nil {
		err = maintenance.SetParams(ctx, v, &p)
	}
	if err == nil {
		err = v.Flush(ctx)
	}
	if err = errors.Join(err, v.Close(ctx)); err != nil {
		return fmt.Errorf("write rules: %w", err)
	}
	return nil
}
