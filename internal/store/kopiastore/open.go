package kopiastore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kopia/kopia/repo"
	"github.com/kopia/kopia/repo/format"
	"github.com/kopia/kopia/repo/maintenance"
	"github.com/kopia/kopia/snapshot/policy"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/clock"
	"github.com/retake-dev/retake/internal/fsx"
	"github.com/retake-dev/retake/internal/store"
)

// Names in the directory of a store.
const (
	blobsDir     = "blobs"
	passwordFile = "password"
)

// Options say where a store lies and what it stands on.
type Options struct {
	Dir   string // an existing directory, ours alone
	FS    fsx.FS
	Locks fsx.Locks
	Clock clock.Clock

	// Sole promises that no other process writes to this store while it is open: the
	// caller holds a lock that makes it so. Then lists, lines and the view of the
	// index are kept in memory, and upkeep waits for Tend.
	Sole bool

	// Derivation names how a new store makes its key from the password; "" is
	// ours. Harnesses that make thousands of stores are built with the engine's
	// tag "testing" and use "testing-only-insecure", which costs nothing.
	Derivation string
}

// The password is 256 random bits, so a slow derivation protects nothing; of the
// two that the engine knows this is the faster one, and every process without a
// daemon pays it at start.
const keyDerivation = "pbkdf2-sha256-600000"

// Store is a store.Store on a Kopia repository.
type Store struct {
	opts  Options
	home  fsx.Dir
	disk  *disk
	clock *clock.Monotone
	rep   repo.DirectRepository

	reads   sync.RWMutex // of a sole owner: shared by who reads, held alone while packs move
	waiting atomic.Int32 // for reads

	mu      sync.Mutex // guards refreshes of rep's view, and all below
	closed  bool
	view    *view // of a sole owner; nil: to be made
	lines   map[retake.WorkspaceID]kept
	seals   int // since the last Tend
	writers int // of a sole owner
	tended  int // Tends on this view
}

var _ store.Store = (*Store)(nil)

// Exists reports whether a store lies in the directory.
func Exists(fsys fsx.FS, dir string) (bool, error) {
	d, err := fsys.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for a store: %w", err)
	}
	defer d.Close() //nolint:errcheck // only looked
	_, err = d.Lstat(passwordFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Create makes a store in an existing directory and opens it. Two processes may
// try at once; both end with the same open store. The password is made durable
// last: without it there is no store, and Create begins again.
func Create(ctx context.Context, o Options) (*Store, error) {
	release, err := o.Locks.Lock(ctx, "create", true)
	if err != nil {
		return nil, fmt.Errorf("create store: %w", err)
	}
	defer release()
	if there, err := Exists(o.FS, o.Dir); err != nil || there {
		if err != nil {
			return nil, err
		}
		return Open(ctx, o)
	}
	s, err := mount(ctx, o, true)
	if err != nil {
		return nil, fmt.Errorf("create store: %w", err)
	}
	password := newPassword()
	if err := s.initialize(ctx, password); err != nil {
		return nil, errors.Join(fmt.Errorf("create store: %w", err), s.Close())
	}
	if err := writePassword(s.home, password); err != nil {
		return nil, errors.Join(fmt.Errorf("create store: %w", err), s.Close())
	}
	return s, nil
}

// Open opens the store in a directory. store.ErrNotFound when there is none.
func Open(ctx context.Context, o Options) (*Store, error) {
	s, err := mount(ctx, o, false)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	password, err := readPassword(s.home)
	if err == nil {
		s.rep, err = openEngine(ctx, s.disk, password)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), s.Close())
	}
	return s, nil
}

// mount opens the directories and starts the clock.
func mount(ctx context.Context, o Options, create bool) (*Store, error) {
	home, err := o.FS.OpenRoot(o.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	if create {
		err := home.Mkdir(blobsDir, 0o700)
		if err == nil || errors.Is(err, fs.ErrExist) {
			err = home.Sync() // the directory is there before the password that says so
		}
		if err != nil {
			return nil, errors.Join(err, home.Close())
		}
	}
	dir, err := home.OpenDir(blobsDir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = store.ErrNotFound
		}
		return nil, errors.Join(err, home.Close())
	}
	s := &Store{opts: o, home: home, clock: clock.NewMonotone(o.Clock, time.Time{})}
	s.disk = &disk{dir: dir, now: s.clock.Now, list: listing{now: s.clock.Now, sole: o.Sole}, free: func() (int64, int64, error) {
		return o.FS.Free(filepath.Join(o.Dir, blobsDir))
	}}
	if err := startClock(ctx, s.clock, home, s.disk); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// initialize writes the repository into an empty or half-made directory.
func (s *Store) initialize(ctx context.Context, password string) error {
	if err := s.clearBlobs(); err != nil {
		return err
	}
	if err := s.writeShards(); err != nil {
		return err
	}
	kdf := s.opts.Derivation
	if kdf == "" {
		kdf = keyDerivation
	}
	opt := &repo.NewRepositoryOptions{FormatBlockKeyDerivationAlgorithm: kdf}
	if err := repo.Initialize(ctx, s.disk, opt, password); err != nil {
		return fmt.Errorf("initialize repository: %w", err)
	}
	if err := s.tuneEpochs(ctx, password); err != nil {
		return err
	}
	var err error
	if s.rep, err = openEngine(ctx, s.disk, password); err != nil {
		return err
	}
	return s.writeRules(ctx)
}

// clearBlobs removes what an interrupted Create left; without a password nothing can be in it.
func (s *Store) clearBlobs() error {
	names, err := s.disk.dir.Names()
	if err != nil {
		return err
	}
	for _, n := range names {
		if n[0] == 'p' { // an interrupted Create has written no files of anybody
			return fmt.Errorf("blobs are there and their password is not: put %s back: %w", passwordFile, store.ErrDamaged)
		}
	}
	for _, n := range names {
		if err := s.disk.dir.Remove(n); err != nil {
			return fmt.Errorf("clear a half-made store: %w", err)
		}
	}
	return s.disk.list.renew(s.disk.dir)
}

func (s *Store) writeShards() error {
	f, err := s.disk.dir.Create(shardsFile, 0o600)
	if err != nil {
		return fmt.Errorf("write layout: %w", err)
	}
	if _, err = f.Write([]byte(shards)); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = s.disk.dir.Sync()
	}
	if err != nil {
		return fmt.Errorf("write layout: %w", err)
	}
	return nil
}

// epochAge is how long an index epoch lasts; the stock day lets the index grow
// by one blob for every save.
const epochAge = time.Hour

// tuneEpochs changes the format before the repository is opened for the first
// time: one that is open goes on with what it has read.
func (s *Store) tuneEpochs(ctx context.Context, password string) error {
	fm, err := format.NewManager(ctx, s.disk, "", format.DefaultRepositoryBlobCacheDuration, password, s.clock.Now)
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
	mp.EpochParameters.MinEpochDuration = epochAge
	mp.EpochParameters.EpochRefreshFrequency = epochAge / 3
	mp.EpochParameters.CleanupSafetyMargin = epochAge
	if err := fm.SetParameters(ctx, mp, cfg, nil); err != nil {
		return fmt.Errorf("write format: %w", err)
	}
	return nil
}

// writeRules writes the policy and the maintenance owner, so that a stock engine
// that meets this repository neither expires snapshots nor runs maintenance.
func (s *Store) writeRules(ctx context.Context) error {
	v, err := s.ownSession(ctx)
	if err != nil {
		return err
	}
	p := maintenance.DefaultParams()
	p.Owner = identity + "@" + identity
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

func newPassword() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails; the runtime ends the process instead
	return hex.EncodeToString(b)
}

// writePassword makes the password durable, and with it the store.
func writePassword(home fsx.Dir, password string) error {
	const tmp = passwordFile + ".new"
	if err := home.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write password: %w", err)
	}
	f, err := home.Create(tmp, 0o600)
	if err != nil {
		return fmt.Errorf("write password: %w", err)
	}
	if _, err = f.Write([]byte(password + "\n")); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = home.Rename(tmp, home, passwordFile)
	}
	if err == nil {
		err = home.Sync()
	}
	if err != nil {
		return fmt.Errorf("write password: %w", err)
	}
	return nil
}

func readPassword(home fsx.Dir) (string, error) {
	f, err := home.OpenFile(passwordFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", store.ErrNotFound
	}
	if err != nil {
		return "", fmt.Errorf("read password: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	b, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return "", fmt.Errorf("read password: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}
