package carry

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// remoteState is what is kept of a remote, in a file that only the user can read.
type remoteState struct {
	V          int                          `json:"v"`
	Name       string                       `json:"name"`
	URL        string                       `json:"url"`
	Access     retake.RemoteAccess          `json:"access"`
	Workspaces []retake.WorkspaceID         `json:"workspaces,omitempty"` // none: all
	Rate       int64                        `json:"rate,omitempty"`
	Store      string                       `json:"store"` // the name of our copy there
	Created    time.Time                    `json:"created"`
	Begun      bool                         `json:"begun,omitempty"`    // the copy has a head
	Lines      map[retake.WorkspaceID]int64 `json:"lines,omitempty"`    // the newest checkpoint that is there
	Erased     []retake.WorkspaceID         `json:"erased,omitempty"`   // histories that have to leave the copy
	Uploaded   *time.Time                   `json:"uploaded,omitempty"` // when all was there
	Swept      time.Time                    `json:"swept,omitzero"`
	Sent       int64                        `json:"sent,omitempty"`
	Damaged    int64                        `json:"damaged,omitempty"`
	Protection retake.RemoteProtection      `json:"protection"`
	Check      *retake.RemoteCheck          `json:"check,omitempty"`
	Trouble    *retake.BackupTrouble        `json:"trouble,omitempty"`
	Told       bool                         `json:"told,omitempty"` // somebody was warned of the trouble
}

const (
	remoteStateVersion = 1
	stateSuffix        = ".json"
	storeNameFile      = "store"
	keyConfirmedFile   = "key-confirmed"
)

func isRemoteName(name string) bool {
	plain := strings.Trim(name, "0123456789abcdefghijklmnopqrstuvwxyz-") == ""
	return plain && name != "" && len(name) <= 64 && name[0] != '-'
}

// clone returns a copy that may be used after the lock is released.
func (s remoteState) clone() remoteState {
	s.Lines, s.Erased = maps.Clone(s.Lines), slices.Clone(s.Erased)
	return s
}

func (s remoteState) save(dir string) error {
	s.V = remoteStateVersion
	b, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = fsx.ReplaceFile(filepath.Join(dir, s.Name+stateSuffix), append(b, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write down the remote: %w", err)
	}
	return nil
}

func removeState(dir, name string) error {
	if err := os.Remove(filepath.Join(dir, name+stateSuffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(cacheDir(dir, name))
}

// cacheDir is where indexes of a copy are kept.
func cacheDir(dir, name string) string { return filepath.Join(dir, name+".cache") }

func loadRemotes(dir string) ([]remoteState, error) {
	files, err := os.ReadDir(dir) // the name of the directory may look like a pattern
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	case err != nil:
		err = workspace.WrapError("what is kept of the remotes can't be read", workspace.Unchanged, err)
	}
	var out []remoteState
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), stateSuffix) {
			continue
		}
		file := filepath.Join(dir, f.Name())
		var s remoteState
		b, rerr := os.ReadFile(file)
		if rerr == nil {
			rerr = json.Unmarshal(b, &s)
		}
		name := strings.TrimSuffix(filepath.Base(file), stateSuffix)
		switch {
		case rerr == nil && s.V > remoteStateVersion:
			rerr = errors.New("a newer version of Retake wrote it")
		case rerr == nil && (s.Name != name || !isRemoteName(name) || !replica.IsStoreName(s.Store)):
			rerr = errors.New("it is not what was written")
		}
		if rerr != nil {
			err = errors.Join(err, &retake.Error{
				Kind: retake.Damaged, What: "what is kept of the remote " + name + " can't be read", Err: rerr, Safe: workspace.Unchanged,
				Hint: "remove " + file + ", restart the daemon, and add the remote again",
			})
			continue
		}
		out = append(out, s)
	}
	return out, err
}

// storeName returns the name of this store in remotes. It is made once: a remote that is added again goes on
// with the copy that is there.
func storeName(dir string, another bool) (string, error) {
	file := filepath.Join(dir, storeNameFile)
	b, err := os.ReadFile(file)
	if name := strings.TrimSpace(string(b)); err == nil && replica.IsStoreName(name) && !another {
		return name, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	raw := make([]byte, 8)
	_, _ = rand.Read(raw) // never fails; the runtime ends the process instead
	name := hex.EncodeToString(raw)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return name, fsx.ReplaceFile(file, []byte(name+"\n"), 0o600)
}

func isKeyConfirmed(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, keyConfirmedFile))
	return err == nil
}

// ConfirmKey notes that somebody has the recovery key elsewhere.
func ConfirmKey(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return fsx.ReplaceFile(filepath.Join(dir, keyConfirmedFile), nil, 0o600)
}
