package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
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

// ReplaceFile atomically replaces a small file of ours. It is not synced: the content is
// context only.
func ReplaceFile(d fsx.Dir, name string, b []byte) error {
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
	return ReplaceFile(dir, name, b)
}

// ReadSessionFile reads a document that writeSessionFile wrote. It reports whether that
// worked.
func (s *Registry) ReadSessionFile(name string, doc any) bool {
	if s.SessionDir == "" {
		return false
	}
	dir, err := s.FS.OpenRoot(s.SessionDir)
	if err != nil {
		return false
	}
	defer dir.Close() //nolint:errcheck // only read
	f, err := dir.OpenFile(name)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(f, MaxStateFile))
	return err == nil && json.Unmarshal(b, doc) == nil
}
