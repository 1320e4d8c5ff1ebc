// Package mirror keeps a second copy of the small files of a store that describe all others, and
// puts a file back when it is lost or damaged. Files with one name never change; they are added
// and removed.
//
// It may touch the directory of the store, through fsx. It never removes a file of the store, and
// never puts one back that the store removed itself.
package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

const (
	copiesDir = "copies"
	// intactFile says that the store has removed no file since the copies were last compared: a
	// copy whose file is not there means that the file was lost. It is removed before the store
	// removes a file. Removing needs no space, so a full disk can still be cleaned up.
	intactFile = "intact"
)

// Mirror keeps the copies of the files in one directory of a store.
type Mirror struct {
	home   fsx.Dir // of the store
	files  string  // the name of the directory in home
	wanted func(name string) bool

	working  sync.Mutex   // held by Update and Restore
	marking  sync.Mutex   // held while intactFile is removed
	changed  atomic.Bool  // files were added or removed since the last Update
	removing sync.RWMutex // shared by those who remove files, exclusive while Update decides what was lost
}

// New returns the mirror of the files in a directory of home that are wanted.
func New(home fsx.Dir, files string, wanted func(name string) bool) *Mirror {
	m := &Mirror{home: home, files: files, wanted: wanted}
	m.changed.Store(true)
	return m
}

// Added says that a file may be new.
func (m *Mirror) Added(name string) {
	if m.wanted(name) {
		m.changed.Store(true)
	}
}

// Removing must be called before a file is removed. The file is removed before done is called.
func (m *Mirror) Removing(name string) (done func(), err error) {
	if !m.wanted(name) {
		return func() {}, nil
	}
	m.removing.RLock()
	m.changed.Store(true)
	m.marking.Lock() // nobody goes on before it is durable
	err = m.markRemoval()
	m.marking.Unlock()
	if err != nil {
		m.removing.RUnlock()
		return nil, fmt.Errorf("remove %s: %w", name, err)
	}
	return m.removing.RUnlock, nil
}

func (m *Mirror) markRemoval() error {
	copies, err := m.home.OpenDir(copiesDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer copies.Close() //nolint:errcheck // a directory handle
	if err := copies.Remove(intactFile); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	return copies.Sync()
}

// Update copies new files, unless there is no room for them, removes the copies of files that the
// store removed, and puts back files that were lost. It returns the names of those. Nobody else
// may write to the store.
func (m *Mirror) Update(ctx context.Context, room bool) (restored []string, err error) {
	m.working.Lock()
	defer m.working.Unlock()
	if !m.changed.Swap(false) {
		return nil, nil
	}
	defer func() {
		if err != nil || !room {
			m.changed.Store(true)
		}
	}()
	p, err := m.open(true)
	if err != nil {
		return nil, fmt.Errorf("copy metadata: %w", err)
	}
	defer p.close()
	if room {
		err = m.copyNew(ctx, p)
	}
	restored, serr := m.settle(p)
	if err = errors.Join(err, serr); err != nil {
		return restored, fmt.Errorf("copy metadata: %w", err)
	}
	return restored, nil
}

// copyNew copies the files that have no copy. A file that is removed meanwhile is passed over; one
// that cannot be read keeps no other from its copy.
func (m *Mirror) copyNew(ctx context.Context, p *pair) error {
	files, copies, err := p.names(m.wanted)
	if err != nil {
		return err
	}
	n := 0
	var unread error
	for name := range files {
		if copies[name] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		data, err := readFile(p.files, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			unread = err
			continue
		}
		if err := fsx.WriteIn(p.copies, name, withSum(name, data)); err != nil {
			return err
		}
		n++
	}
	if n > 0 {
		return errors.Join(unread, p.copies.Sync())
	}
	return unread
}

// settle decides about each copy whose file is not there. It was lost, or else the store removed
// it.
func (m *Mirror) settle(p *pair) (restored []string, err error) {
	m.removing.Lock()
	defer m.removing.Unlock()
	files, copies, err := p.names(m.wanted)
	if err == nil {
		err = p.removeTemps()
	}
	if err != nil {
		return nil, err
	}
	intact := p.isIntact()
	for name := range copies {
		if files[name] {
			continue
		}
		if data, ok := ReadCopy(p.copies, name); intact && ok {
			if err := fsx.ReplaceIn(p.files, name, data); err != nil {
				return restored, err
			}
			restored = append(restored, name)
		} else if err := p.copies.Remove(name); err != nil {
			return restored, err
		}
	}
	if intact {
		return restored, nil
	}
	if err := p.copies.Sync(); err != nil { // the copies are gone before their files count as lost again
		return restored, err
	}
	return restored, fsx.ReplaceIn(p.copies, intactFile, nil)
}

// Restore compares files with their copies and puts back those that were lost or damaged. It
// returns their names. A quick comparison looks at the sizes only. The damaged ones stay in the
// directory of damaged files, with the suffix stamp.
func (m *Mirror) Restore(ctx context.Context, stamp string, quick bool) (restored []string, err error) {
	p, err := m.open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("compare metadata with its copy: %w", err)
	}
	defer p.close()
	m.working.Lock()
	defer m.working.Unlock()
	m.removing.Lock()
	defer m.removing.Unlock()
	_, copies, err := p.names(m.wanted)
	intact := p.isIntact()
	for name := range copies {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			break
		}
		var done bool
		if done, err = m.restoreOne(p, name, stamp, intact, quick); done {
			restored = append(restored, name)
		}
	}
	if err != nil {
		return restored, fmt.Errorf("compare metadata with its copy: %w", err)
	}
	return restored, nil
}

// restoreOne puts one file back if it is not as its copy is, and reports whether it did.
func (m *Mirror) restoreOne(p *pair, name, stamp string, intact, quick bool) (bool, error) {
	if quick {
		if same, err := p.sameSize(name); same || err != nil {
			return false, err
		}
	}
	kept, ok := ReadCopy(p.copies, name)
	switch data, err := readFile(p.files, name); {
	case errors.Is(err, fs.ErrNotExist):
		if !ok || !intact {
			return false, nil
		}
	case err != nil: // a bad sector; the copy has what it held
		if !ok {
			return false, err
		}
	case !ok: // the next Update makes it again
		m.changed.Store(true)
		return false, p.copies.Remove(name)
	case bytes.Equal(data, kept):
		return false, nil
	default:
		if err := keepDamaged(m.home, name+"."+stamp, data); err != nil {
			return false, err
		}
	}
	return true, fsx.ReplaceIn(p.files, name, kept)
}

// Uncopied returns the names of the wanted files that have no copy.
func (m *Mirror) Uncopied() ([]string, error) {
	p, err := m.open(false)
	if errors.Is(err, fs.ErrNotExist) { // nothing was ever copied
		return m.names()
	}
	if err != nil {
		return nil, err
	}
	defer p.close()
	files, copies, err := p.names(m.wanted)
	maps.DeleteFunc(files, func(name string, _ bool) bool { return copies[name] })
	return slices.Collect(maps.Keys(files)), err
}

// names lists the wanted files.
func (m *Mirror) names() ([]string, error) {
	files, err := m.home.OpenDir(m.files)
	if err != nil {
		return nil, err
	}
	defer files.Close() //nolint:errcheck // a directory handle
	all, err := files.Names()
	return slices.DeleteFunc(all, func(name string) bool { return !m.wanted(name) }), err
}

// Size returns the bytes of all copies.
func (m *Mirror) Size() (int64, error) {
	copies, err := m.home.OpenDir(copiesDir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer copies.Close() //nolint:errcheck // a directory handle
	names, err := copies.Names()
	var n int64
	for _, name := range names {
		if i, serr := copies.Lstat(name); serr == nil {
			n += i.Size
		}
	}
	return n, err
}
