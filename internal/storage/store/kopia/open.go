package kopia

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kopia/kopia/repo"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/mirror"
	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// Names in the directory of a store.
const (
	blobsDir     = "blobs"
	passwordFile = "password"
)

// Options say where a store is and what it uses.
type Options struct {
	Dir   string // an existing directory, ours alone; with a Bucket it holds the clock mark only, and may be lost
	FS    fsx.FS
	Locks fsx.Locks
	Clock clock.Clock

	// Bucket is where the blobs are; nil: in Dir. Locks must be the same for all who write to
	// it.
	Bucket *Bucket
	// Password opens the store. It is kept by the caller, and nowhere here; "": it is made
	// by Create and is stored in Dir.
	Password string

	// Copy is a copy of a store to read; nil: none. It needs the Password. Dir may be empty.
	Copy *CopyOptions

	// Base opens the copy that the store began as, for packs that are not here yet; nil: nothing does.
	Base func(ctx context.Context) (replica.GetFunc, error)

	// Exclusive promises that no other process writes to this store while it is open: the
	// caller holds a lock that makes it so. Then lists, histories and the view of the index
	// are kept in memory, and upkeep waits for Maintain.
	Exclusive bool

	// Derivation names how a new store makes its key from the password; "" is
	// UserDerivation, or in a program built with the tag "testing" one that costs
	// nothing.
	Derivation string

	// OnRepair is told what was repaired while the store was opened, and what could not be done to
	// keep it repairable; nil: nobody is.
	OnRepair func(text string)

	// MinPackAge is how old a pack in a bucket must be before a sweep deletes it. Two that
	// should not write to one bucket at once then have this long to find out.
	MinPackAge time.Duration
	// StillOwned is asked before every sweep whether the place is still ours; nil: it is.
	StillOwned func(ctx context.Context) error

	timeout time.Duration // with a bucket; 0 is ours
}

// UserDerivation is how the stores of users make their keys. The password is 256 random
// bits, so a slow derivation protects nothing; of the two that the engine knows this is the
// faster one, and every process without a daemon pays it at start.
const UserDerivation = "pbkdf2-sha256-600000"

// Store is a store.Store on a Kopia repository.
type Store struct {
	opts    Options
	homeDir fsx.Dir
	blobs   blobStore
	clock   *clock.Monotonic
	rep     repo.DirectRepository

	damage   damageList
	metadata metadata

	readGate       readGate      // of an exclusive store
	writerExit     time.Duration // how long new writers wait for present ones to end, for a sweep
	readerExit     time.Duration // how long a turn of a wipe keeps writers waiting for readers to end
	shortTurns     bool          // of a sweep, in tests
	waitingWriters atomic.Int32  // for a sweep to end

	mu              sync.Mutex // guards refreshes of rep's view, and all below
	closed          bool
	view            *indexView // of an exclusive store; nil: to be created
	cachedHistories map[retake.WorkspaceID]cachedHistory
	sealCount       int // since the last Maintain
	writerCount     int // of an exclusive store
	maintainCount   int // calls of Maintain on this view
}

var _ store.Store = (*Store)(nil)

// Exists reports whether there is a store: its password, or, if the caller has that, a
// complete repository.
func Exists(ctx context.Context, o Options) (bool, error) {
	if o.Password == "" && o.Bucket == nil {
		return hasPassword(o.FS, o.Dir)
	}
	s, err := openStorage(ctx, o, false)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for a store: %w", err)
	}
	there, err := repositoryExists(ctx, s.blobs)
	if err = errors.Join(err, s.Close()); err != nil {
		return false, fmt.Errorf("look for a store: %w", err)
	}
	return there, nil
}

// Create makes a store unless it exists, and opens it. Several processes may try at once; all
// end with the same store. The password or the first index is written last: without it there
// is no store, and Create starts again.
func Create(ctx context.Context, o Options) (*Store, error) {
	release, err := o.Locks.Lock(ctx, "create", true)
	if err != nil {
		return nil, fmt.Errorf("create store: %w", err)
	}
	defer release()
	if o.Password == "" && o.Bucket == nil {
		if there, err := hasPassword(o.FS, o.Dir); err != nil || there {
			if err != nil {
				return nil, err
			}
			return Open(ctx, o)
		}
	}
	s, err := openStorage(ctx, o, true)
	if err != nil {
		return nil, fmt.Errorf("create store: %w", err)
	}
	if err := s.createRepository(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("create store: %w", err), s.Close())
	}
	return s, nil
}

// createRepository writes the repository. If the caller has the password, another process may
// have completed it meanwhile; otherwise the password is made here and written last.
func (s *Store) createRepository(ctx context.Context) error {
	password := s.opts.Password
	if password == "" {
		password = newPassword()
		if err := s.initialize(ctx, password); err != nil {
			return err
		}
		if err := writePassword(s.homeDir, password); err != nil {
			return err
		}
		s.copyKeysIfOurs()
		return nil
	}
	there, err := repositoryExists(ctx, s.blobs)
	if err != nil {
		return err
	}
	if there {
		s.rep, err = openEngine(ctx, s.blobs, s.clock.Now, password)
		return err
	}
	return s.initialize(ctx, password)
}

// Open opens a store. It returns store.ErrNotFound if there is none.
func Open(ctx context.Context, o Options) (*Store, error) {
	s, err := openStorage(ctx, o, false)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if err := s.openRepository(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), s.Close())
	}
	return s, nil
}

func (s *Store) openRepository(ctx context.Context) error {
	password := s.opts.Password
	if password == "" {
		var err error
		password, err = readPassword(s.homeDir)
		if kept, ok := readKeyCopy(s.homeDir, passwordFile); errors.Is(err, store.ErrNotFound) && ok {
			password, err = strings.TrimSpace(string(kept)), fsx.ReplaceIn(s.homeDir, passwordFile, kept)
		}
		if err != nil {
			return err
		}
	} else if there, err := repositoryExists(ctx, s.blobs); err != nil || !there {
		return errors.Join(err, store.ErrNotFound)
	}
	s.damage.read()
	if s.opts.Exclusive {
		if _, err := s.metadata.restore(ctx, true); err != nil {
			s.reportRepair(err.Error()) // a store that cannot be written to can still be read
		}
	}
	if err := s.openOrRepair(ctx, password); err != nil {
		return err
	}
	if s.opts.Exclusive {
		if err := (recovery{s}).recoverLostIndexes(ctx); err != nil {
			s.reportRepair(err.Error()) // what an index names can be read
		}
	}
	return nil
}

// openStorage opens the blob storage and starts the clock.
func openStorage(ctx context.Context, o Options, create bool) (*Store, error) {
	if o.Bucket != nil {
		if err := o.Bucket.validate(o.Password); err != nil {
			return nil, err
		}
	}
	home, err := o.FS.OpenRoot(o.Dir)
	if errors.Is(err, fs.ErrNotExist) && o.Bucket == nil {
		return nil, store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	s := &Store{opts: o, homeDir: home, readerExit: readerExit, writerExit: writerExit, clock: clock.NewMonotonic(o.Clock, time.Time{})}
	s.damage.s, s.metadata.s = s, s
	switch {
	case o.Copy != nil:
		s.clock.RaiseTo(o.Copy.Clock)
		b := newCopyBlobs(o.Copy.Indexes, o.Copy.Get)
		b.packs = o.Copy.Packs
		s.blobs = b
	case o.Bucket != nil:
		s.blobs, err = newBucket(ctx, o, s.clock.Now)
	default:
		s.blobs, err = s.openDisk(create)
	}
	if err != nil {
		return nil, errors.Join(err, home.Close())
	}
	if err := startClock(ctx, s.clock, home, s.blobs); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// openDisk opens the directory of the blobs, and creates it if create is set.
func (s *Store) openDisk(create bool) (blobStore, error) {
	if create {
		err := s.homeDir.Mkdir(blobsDir, 0o700)
		if err == nil || errors.Is(err, fs.ErrExist) {
			err = s.homeDir.Sync() // the directory is there before the password that says so
		}
		if err != nil {
			return nil, err
		}
	}
	dir, err := s.homeDir.OpenDir(blobsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	free := func() (int64, int64, error) { return s.opts.FS.FreeSpace(filepath.Join(s.opts.Dir, blobsDir)) }
	s.metadata.mirror = mirror.New(s.homeDir, blobsDir, isMirrored)
	d := newDisk(dir, s.metadata.mirror, free, s.clock.Now, s.opts.Clock.Now, s.opts.Exclusive)
	out, err := withBase(d, s.homeDir, s.opts.Base)
	if err != nil {
		return nil, errors.Join(err, d.Close(context.Background()))
	}
	return out, nil
}
