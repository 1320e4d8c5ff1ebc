package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
)

const MaxStateFile = 16 << 20

const maxStateDoc = 64 << 20

// ReadStateDoc reads a JSON document from the state of a checkpoint.
func ReadStateDoc(ctx context.Context, st store.Trees, e retake.Entry, v any) error {
	r, err := st.File(ctx, e.Object)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(r, maxStateDoc))
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// replaceUnsynced replaces a small file of ours. A process that is killed leaves the old one or the
// new one; a power cut may leave an empty one.
func replaceUnsynced(d fsx.Dir, name string, b []byte) error {
	tmp := name + ".new"
	if err := d.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := d.Create(tmp, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return d.Rename(tmp, d, name)
}

// savedEnvironment is the user's environment when the workspace was protected; checks run
// in it.
type savedEnvironment struct {
	V   int       `json:"v"`
	At  time.Time `json:"at"`
	Env []string  `json:"env"`
}

func envFileName(ws retake.WorkspaceID) string { return string(ws) + ".env" }

func (s *Registry) SaveEnvironment(ws retake.WorkspaceID, env []string) error {
	if len(env) == 0 || s.SessionDir == "" {
		return nil
	}
	return s.WriteSessionFile(envFileName(ws), savedEnvironment{V: 1, At: s.Clock.Now(), Env: env})
}

func (s *Registry) CheckEnvironment(ws retake.WorkspaceID) []string {
	var e savedEnvironment
	if s.ReadSessionFile(envFileName(ws), &e) && len(e.Env) > 0 {
		return e.Env
	}
	return s.Environ()
}

// The newest document is not synced, since the hooks of agents would wait for the disk: a power cut
// may leave it empty. At least every sessionSyncInterval it is also written durably, under the name
// itself.
const (
	newestSuffix        = ".newest"
	sessionSyncInterval = 10 * time.Second
)

// sessionSyncs is when each document was written durably.
type sessionSyncs struct {
	mu sync.Mutex
	at map[string]time.Time // guarded by mu
}

// isDue reports whether a document has to be written durably now.
func (y *sessionSyncs) isDue(name string, now time.Time) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	if last, ok := y.at[name]; ok && now.Sub(last) < sessionSyncInterval && !now.Before(last) {
		return false
	}
	if y.at == nil {
		y.at = map[string]time.Time{}
	}
	y.at[name] = now
	return true
}

// SyncNextSessionFiles lets the next write of every document be durable.
func (s *Registry) SyncNextSessionFiles() {
	s.sessionSyncs.mu.Lock()
	defer s.sessionSyncs.mu.Unlock()
	clear(s.sessionSyncs.at)
}

// WriteSessionFile writes a small JSON document into the session directory.
func (s *Registry) WriteSessionFile(name string, doc any) error {
	b, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	dir, err := s.FS.OpenRoot(s.SessionDir)
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // a directory handle
	if err := replaceUnsynced(dir, name+newestSuffix, b); err != nil || !s.sessionSyncs.isDue(name, s.Clock.Now()) {
		return err
	}
	return fsx.WriteIn(dir, name, b)
}

// ReadSessionFile reads the newest document that WriteSessionFile wrote and that is whole. It
// reports whether there is one.
func (s *Registry) ReadSessionFile(name string, doc any) bool {
	if s.SessionDir == "" {
		return false
	}
	dir, err := s.FS.OpenRoot(s.SessionDir)
	if err != nil {
		return false
	}
	defer dir.Close() //nolint:errcheck // only read
	for _, name := range []string{name + newestSuffix, name} {
		if b := readStateFile(dir, name); json.Valid(b) {
			return json.Unmarshal(b, doc) == nil
		}
	}
	return false
}

// readStateFile returns the bytes of a small file, nil if it cannot be read.
func readStateFile(dir fsx.Dir, name string) []byte {
	f, err := dir.OpenFile(name)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(f, MaxStateFile))
	if err != nil {
		return nil
	}
	return b
}
