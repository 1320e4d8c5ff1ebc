// Package assemble makes a Service of its parts: which store, which catalog, near
// or far. It is the only place, beside tests, that names a driver.
//
// It may make the directories of a new store. It never decides a use case.
package assemble

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/backup"
	"github.com/retake-dev/retake/internal/explain/hostprobe"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/diag"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/track"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/service/maintenance"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// Namespace of a service without tenants.
const localNamespace = "local"

// writerTimeout is how long a save waits for another one of the same workspace.
const writerTimeout = 60 * time.Second

// Options replace parts, for harnesses.
type Options struct {
	FS         fsx.FS
	Clock      clock.Clock
	Derivation string // see kopia.Options
	OneShot    bool   // the process ends with this service
	Exclusive  bool   // this process owns the store alone and for long
	Track      track.Options
	OnEvent    EventSink      // hears what happens; nil: nobody does
	Diag       *diag.Recorder // what happens in the background; nil: nobody looks

	// Other rows and other bytes than those on this disk.
	Catalog func(ctx context.Context) (catalog.Catalog, error)
	Store   func(ctx context.Context, create bool) (store.Store, error)
}

// OpenService opens the service in this process: disk and SQLite.
func OpenService(ctx context.Context, c config.Config, s *config.Settings, o Options) (*service.Service, error) {
	if o.FS == nil {
		o.FS = fsx.OS()
	}
	if o.Clock == nil {
		o.Clock = clock.Wall
	}
	places, err := makeDataDirs(c.DataDir)
	if err != nil {
		return nil, err
	}
	// The store is told from the workspace by its inode; a link to it would hide it.
	data, err := filepath.EvalSymlinks(c.DataDir)
	if err != nil {
		return nil, fmt.Errorf("find the store: %w", err)
	}
	if o.Catalog == nil {
		o.Catalog = func(ctx context.Context) (catalog.Catalog, error) {
			return openCatalog(ctx, places.catalog, sqlite.Options{Durable: c.BootID == "", OneShot: o.OneShot}, o.Clock)
		}
	}
	if o.Store == nil {
		o.Store = func(ctx context.Context, create bool) (store.Store, error) { return openStore(ctx, places, create, o) }
	}
	cat, err := o.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	if o.OnEvent != nil {
		cat = notifyingCatalog{cat, o.Clock, o.OnEvent}
	}
	if o.Exclusive && c.System == 0 {
		o.Diag.Note(settingsTask, s.KeepCopy()) // of the daemon: nobody else looks at them for long
	}
	o.Diag.Watch(settingsTask, s.Damage)
	riskRules := openRiskFile(c.RiskFile(), o.Diag)
	parts := service.Parts{
		Parts: workspace.Parts{
			Catalog: cat, OpenStore: o.Store,
			FS: o.FS, IndexDir: places.indexes, DataDir: data, Clock: o.Clock, BootID: c.BootID, HomeDir: c.Home,
			RestoreDir: places.returns, Locks: fsx.NewLocks(places.locks),
			SignalDir: places.signals, SessionDir: places.sessions, Habits: riskRules.addTo(s.Habits, o.Diag),
			Policy: s.Policy, MinFree: s.Floor, LockWait: writerTimeout, Exclusive: o.Exclusive, Diag: o.Diag,
		},
		Maintenance: maintenance.Options{Budget: s.Budget, Within: s.KeepWithin, GoneAfter: s.GoneAfter},
		KernelFence: true,
		LocalAgents: true,
	}
	parts.StandingChecks, parts.Insight.VerifyLimit, parts.Maintenance.DrillEnabled, parts.Environ = s.Standing, s.VerifyLimit, s.DrillsEnabled, c.VerifyEnv
	parts.Insight.Readers = newReaderPool(c.Executable, filepath.Join(data, "reader.key"))
	parts.Backup.Worker = backup.New(backup.Options{Dir: places.backups, Path: c.SearchPath(), Locks: fsx.NewLocks(places.locks), Clock: o.Clock})
	parts.Uploads = newUploadOptions(data, o.Clock, o.Derivation)
	if c.System > 0 {
		parts.Protection = "separate-user"
	}
	if o.Exclusive {
		parts.Tracker = newTracker(s, o.Track)
		parts.Insight.HostProbe = &hostprobe.Options{Root: "/", Home: c.Home}
	}
	return service.New(parts), nil
}

// settingsTask is how a settings file that cannot be read is called in the status.
const settingsTask = "read the settings"

// newTracker is what the harness asks for, else what the user's settings do.
func newTracker(s *config.Settings, o track.Options) *track.Tracker {
	if o == (track.Options{}) {
		o.Mode, o.TrustUnreadable = s.Tracker()
	}
	if o.Mode == retake.TrackingScan {
		return nil
	}
	return track.New(o)
}

type dataPaths struct{ store, locks, indexes, returns, signals, sessions, backups, remotes, catalog string }

func makeDataDirs(data string) (dataPaths, error) {
	p := dataPaths{
		store: filepath.Join(data, "store"), locks: filepath.Join(data, "locks"),
		indexes: filepath.Join(data, "index"), returns: filepath.Join(data, "returns"), catalog: config.CatalogFile(data),
		signals: config.SignalsDir(data), sessions: filepath.Join(data, "sessions"), backups: filepath.Join(data, "backup"), remotes: remotesDir(data),
	}
	for _, d := range []string{p.store, p.locks, p.indexes, p.returns, p.signals, p.sessions} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return p, &retake.Error{Kind: retake.Away, What: "the directory of the store cannot be made", Safe: "Nothing was changed.", Hint: "put it elsewhere: RETAKE_HOME=DIR", Err: err}
		}
	}
	return p, nil
}

// openCatalog opens the rows. A damaged file is put aside and begun anew: the
// service fills it from the store before anything is read.
func openCatalog(ctx context.Context, path string, opts sqlite.Options, c clock.Clock) (catalog.Catalog, error) {
	cat, err := sqlite.Open(ctx, path, localNamespace, opts)
	if err == nil || !retake.IsKind(err, retake.Damaged) {
		return cat, err
	}
	aside := fmt.Sprintf("%s.damaged-%d", path, c.Now().Unix())
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if rerr := os.Rename(path+suffix, aside+suffix); rerr != nil && !errors.Is(rerr, os.ErrNotExist) {
			return nil, errors.Join(err, rerr)
		}
	}
	return sqlite.Open(ctx, path, localNamespace, opts)
}

func openStore(ctx context.Context, p dataPaths, create bool, o Options) (store.Store, error) {
	opts := kopia.Options{Dir: p.store, FS: o.FS, Locks: fsx.NewLocks(p.locks), Clock: o.Clock, Derivation: o.Derivation, Exclusive: o.Exclusive}
	opts.Base = func(ctx context.Context) (replica.GetFunc, error) { return openBase(ctx, p.remotes, o.Clock) }
	opts.OnRepair = func(text string) { o.Diag.Log().Warn("opened the store", "note", text) }
	if create {
		return kopia.Create(ctx, opts)
	}
	st, err := kopia.Open(ctx, opts)
	if errors.Is(err, store.ErrNotFound) {
		return nil, &retake.Error{Kind: retake.NotFound, What: "there is no store yet", Safe: "Nothing was changed.", Hint: "protect a directory: retake init"}
	}
	return st, err
}
