//go:build linux

package treebed

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// Pick lists what can be reached by path below root, by type; paths that are too
// long for one call are left alone.
func Pick(root string) (files, dirs, links []string, err error) {
	dirs = append(dirs, root)
	for i := 0; i < len(dirs); i++ {
		if len(dirs[i]) > 3000 {
			continue
		}
		list, err := os.ReadDir(dirs[i])
		if err != nil {
			return nil, nil, nil, err
		}
		for _, e := range list {
			p := dirs[i] + "/" + e.Name()
			switch {
			case e.IsDir():
				dirs = append(dirs, p)
			case e.Type().IsRegular():
				files = append(files, p)
			case e.Type() == fs.ModeSymlink:
				links = append(links, p)
			}
		}
	}
	dirs = slices.DeleteFunc(dirs, func(d string) bool { return len(d) > 3000 })
	return files, dirs, links, nil
}

// Churn makes n random edits.
func Churn(rnd *rand.Rand, root string, n int) error {
	for range n {
		files, dirs, links, err := Pick(root)
		if err != nil {
			return err
		}
		c := churner{rnd, files, dirs, links}
		if err := c.edit(); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

type churner struct {
	rnd                *rand.Rand
	files, dirs, links []string
}

func (c *churner) one(of []string) string { return of[c.rnd.Intn(len(of))] }

func (c *churner) fresh() string {
	return fmt.Sprintf("%s/e%x", c.one(c.dirs), c.rnd.Int63())
}

func (c *churner) edit() error {
	if len(c.files) == 0 {
		return os.WriteFile(c.fresh(), []byte("first"), 0o644)
	}
	file := c.one(c.files)
	switch c.rnd.Intn(12) {
	case 0:
		return os.WriteFile(c.fresh(), []byte(fmt.Sprint(c.rnd.Int63())), 0o600)
	case 1:
		return c.patch(file)
	case 2:
		return os.Remove(file)
	case 3:
		return unix.Chmod(c.one(c.files), fileModes[c.rnd.Intn(len(fileModes))])
	case 4:
		return os.Rename(file, c.fresh())
	case 5:
		return SetTime(c.one(append(c.files, c.dirs[1:]...)), c.rnd.Int63n(1.8e18))
	case 6:
		return unix.Lsetxattr(c.one(append(c.files, c.dirs...)), "user.e", []byte(fmt.Sprint(c.rnd.Int63())), 0)
	case 7:
		return os.Mkdir(c.fresh(), 0o711)
	case 8:
		return os.Link(file, c.fresh())
	case 9:
		return c.relink()
	case 10:
		return c.punch(file)
	default:
		return os.Lchown(c.one(append(append(c.files, c.links...), c.dirs[1:]...)), c.rnd.Intn(9), c.rnd.Intn(9))
	}
}

// patch overwrites in place, or appends.
func (c *churner) patch(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	i, err := f.Stat()
	if err == nil {
		_, err = f.WriteAt([]byte(fmt.Sprint(c.rnd.Int63())), c.rnd.Int63n(i.Size()+1))
	}
	return errors.Join(err, f.Close())
}

func (c *churner) relink() error {
	if len(c.links) == 0 {
		return os.Symlink("somewhere", c.fresh())
	}
	p := c.one(c.links)
	if err := os.Remove(p); err != nil {
		return err
	}
	return os.Symlink(fmt.Sprintf("to-%x", c.rnd.Int63()), p)
}

// punch makes a hole in a large file.
func (c *churner) punch(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // the call tells
	i, err := f.Stat()
	if err != nil || i.Size() < 128<<10 {
		return err
	}
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 4096*c.rnd.Int63n(i.Size()/4096-8), 32<<10)
}

// Spoil changes one thing in the way that shows least, and names it.
func Spoil(rnd *rand.Rand, root string) (string, error) {
	files, dirs, links, err := Pick(root)
	if err != nil || len(files) == 0 {
		return "", err
	}
	file := files[rnd.Intn(len(files))]
	i, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	back := func(what string, err error) (string, error) {
		return what, errors.Join(err, SetTime(file, i.ModTime().UnixNano()))
	}
	switch rnd.Intn(7) {
	case 0:
		if i.Size() > 0 {
			return back("byte", Flip(file, rnd.Int63n(i.Size())))
		}
		return "time", SetTime(file, i.ModTime().UnixNano()+1)
	case 1:
		return back("mode", unix.Chmod(file, uint32(i.Mode().Perm())^0o001))
	case 2:
		return back("attribute", unix.Lsetxattr(file, "user.spoilt", []byte("1"), 0))
	case 3:
		return "time", SetTime(file, i.ModTime().UnixNano()+1)
	case 4:
		near := dirs[:min(len(dirs), 300)] // listed from the top: none is too deep
		return "attribute of a directory", unix.Lsetxattr(near[rnd.Intn(len(near))], "user.spoilt", []byte("1"), 0)
	case 5:
		d := filepath.Dir(file)
		return "group", os.Link(file, d+"/spoilt")
	default:
		if len(links) > 0 {
			return "owner of a link", os.Lchown(links[0], 4242, 4242)
		}
		return "owner", os.Lchown(file, 4242, 4242)
	}
}

// Flip changes one byte in place.
func Flip(file string, at int64) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	b := make([]byte, 1)
	if _, err = f.ReadAt(b, at); err == nil {
		b[0] ^= 0x40
		_, err = f.WriteAt(b, at)
	}
	return errors.Join(err, f.Close())
}

const (
	Block  = 4096
	Blocks = 256
)
