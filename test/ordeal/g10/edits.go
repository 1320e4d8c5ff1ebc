//go:build linux

package g10

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/test/ordeal/treebed"
)

const (
	bedDirs   = 6
	bedFiles  = 25
	mapped    = 16
	mappedLen = 4 * treebed.Block
)

// plant makes the files that are edited: some in plain directories, some that
// are mapped and never get shorter.
func (e *editor) plant() error {
	for d := range bedDirs {
		dir := fmt.Sprintf("%s/d%d", e.root, d)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		for i := range bedFiles {
			if err := os.WriteFile(fmt.Sprintf("%s/f%d", dir, i), e.noise(), 0o644); err != nil {
				return err
			}
		}
		if err := os.Symlink("first", dir+"/link"); err != nil {
			return err
		}
	}
	if err := os.Mkdir(e.root+"/map", 0o755); err != nil {
		return err
	}
	for i := range mapped {
		f, err := os.Create(fmt.Sprintf("%s/map/m%d", e.root, i))
		if err != nil {
			return err
		}
		_, err = f.Write(make([]byte, mappedLen))
		var view []byte
		if err == nil {
			view, err = unix.Mmap(int(f.Fd()), 0, mappedLen, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
			e.views = append(e.views, view)
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (e *editor) unmap() {
	for _, v := range e.views {
		_ = unix.Munmap(v) // scratch
	}
}

func (e *editor) noise() []byte {
	b := make([]byte, 1+e.rnd.Intn(9000))
	_, _ = e.rnd.Read(b) // never fails
	return b
}

func (e *editor) dir() string { return fmt.Sprintf("%s/d%d", e.root, e.rnd.Intn(bedDirs)) }

// file is one that is there; each directory has some.
func (e *editor) file() string {
	for {
		p := fmt.Sprintf("%s/f%d", e.dir(), e.rnd.Intn(bedFiles))
		if _, err := os.Lstat(p); err == nil {
			return p
		}
		if e.rnd.Intn(4) == 0 {
			_ = os.WriteFile(p, e.noise(), 0o644) // the next turn looks
		}
	}
}

type editKind struct {
	name string
	do   func(*editor, string) error
}

var (
	plainEdits = []editKind{
		{"append", (*editor).appendTo}, {"overwrite", (*editor).overwrite}, {"overwrite, time put back", (*editor).overwriteBack},
		{"rename over", (*editor).renameOver}, {"truncate", (*editor).truncate}, {"chmod", (*editor).chmod},
		{"replace by a hard link", (*editor).hardLink}, {"through a hard link elsewhere", (*editor).throughLink},
		{"delete", func(_ *editor, p string) error { return os.Remove(p) }}, {"create", (*editor).create},
		{"retarget a link", (*editor).retarget}, {"move across directories", (*editor).move},
	}
	mapEdits = []editKind{{"store to a mapping", (*editor).mapStore}, {"two stores to one page", (*editor).mapTwice}}
)

// edit makes one edit; one that an index of size and time alone would not see
// counts for the control.
func (e *editor) edit() (string, error) {
	k := e.kinds[e.rnd.Intn(len(e.kinds))]
	p := e.file()
	before, err := scanOne(p)
	if err != nil {
		return k.name, err
	}
	if err := k.do(e, p); err != nil {
		return k.name, err
	}
	after, err := scanOne(p)
	if e.mode == "" && err == nil && before.Size == after.Size && before.Mtime == after.Mtime && (before.Sum != after.Sum || before.Mode != after.Mode) {
		e.v.Caught++
	}
	return k.name, nil
}

func scanOne(p string) (treebed.Living, error) {
	d, err := os.Open(filepath.Dir(p))
	if err != nil {
		return treebed.Living{}, err
	}
	defer d.Close() //nolint:errcheck // nothing was written
	out := map[string]treebed.Living{}
	err = treebed.ScanName(d, filepath.Base(p), "", out)
	return out[""], err
}

func (e *editor) appendTo(p string) error {
	f, err := os.OpenFile(p, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(e.noise()[:1])
	return errors.Join(err, f.Close())
}

func (e *editor) overwrite(p string) error {
	i, err := os.Stat(p)
	if err != nil {
		return err
	}
	if i.Size() == 0 {
		return e.appendTo(p)
	}
	return treebed.Flip(p, e.rnd.Int63n(i.Size()))
}

func (e *editor) overwriteBack(p string) error {
	i, err := os.Stat(p)
	if err != nil {
		return err
	}
	return errors.Join(e.overwrite(p), os.Chtimes(p, i.ModTime(), i.ModTime()))
}

// renameOver replaces by a new file; half of the time one of the same size and time.
func (e *editor) renameOver(p string) error {
	i, err := os.Stat(p)
	if err != nil {
		return err
	}
	b, tmp := e.noise(), e.dir()+"/tmp"
	twin := e.rnd.Intn(2) == 0
	if twin {
		b = bytes.Repeat([]byte{byte(e.rnd.Intn(256))}, int(i.Size()))
	}
	if err := os.WriteFile(tmp, b, 0o644); err != nil {
		return err
	}
	if twin {
		if err := os.Chtimes(tmp, i.ModTime(), i.ModTime()); err != nil {
			return err
		}
	}
	return os.Rename(tmp, p)
}

func (e *editor) truncate(p string) error {
	i, err := os.Stat(p)
	if err != nil {
		return err
	}
	return os.Truncate(p, e.rnd.Int63n(i.Size()+1))
}

func (e *editor) chmod(p string) error { return os.Chmod(p, os.FileMode(0o600|e.rnd.Intn(0o100))) }

// hardLink replaces a file by another name of a second one.
func (e *editor) hardLink(p string) error {
	other, tmp := e.file(), e.dir()+"/tmp"
	if err := os.Link(other, tmp); err != nil {
		return err
	}
	if err := os.Rename(tmp, p); err != nil {
		return err
	}
	_ = os.Remove(tmp) // two names of one file: a rename does nothing
	return nil
}

// throughLink writes in place by a name in another directory.
func (e *editor) throughLink(p string) error {
	q := fmt.Sprintf("%s/f%d", e.dir(), e.rnd.Intn(bedFiles))
	if q != p {
		_ = os.Remove(q) // it may not be there
		if err := os.Link(p, q); err != nil {
			return err
		}
	}
	return e.overwrite(q)
}

func (e *editor) mapStore(string) error {
	e.views[e.rnd.Intn(mapped)][e.rnd.Intn(mappedLen)]++
	return nil
}

// mapTwice: the second store finds the page dirty and leaves no trace in the times.
func (e *editor) mapTwice(string) error {
	v, at := e.views[e.rnd.Intn(mapped)], e.rnd.Intn(mappedLen)
	v[at]++
	v[at^1]++
	return nil
}

func (e *editor) create(string) error {
	return os.WriteFile(fmt.Sprintf("%s/f%d", e.dir(), e.rnd.Intn(bedFiles)), e.noise(), 0o644)
}

func (e *editor) retarget(string) error {
	p := e.dir() + "/link"
	if err := os.Remove(p); err != nil {
		return err
	}
	return os.Symlink(fmt.Sprintf("to-%06x", e.rnd.Intn(1<<24)), p)
}

func (e *editor) move(p string) error {
	return os.Rename(p, fmt.Sprintf("%s/f%d", e.dir(), e.rnd.Intn(bedFiles)))
}
