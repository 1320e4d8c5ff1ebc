//go:build linux

package access

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

const (
	aclAttribute        = "system.posix_acl_access"
	defaultACLAttribute = "system.posix_acl_default"
	capabilityAttribute = "security.capability"
)

// grow makes a tree of some forty files with all kinds of rights.
func (t *trial) grow() error {
	for _, dir := range []string{"src", "src/inner", "bin", "shared"} {
		if err := os.Mkdir(filepath.Join(t.root, dir), 0o755); err != nil {
			return err
		}
	}
	for range 40 {
		if err := t.addFile(); err != nil {
			return err
		}
	}
	return t.change(80)
}

// paths lists the files and directories of the tree.
func (t *trial) paths() (files, dirs []string, err error) {
	err = filepath.WalkDir(t.root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".retake":
			return fs.SkipDir
		case d.IsDir():
			dirs = append(dirs, path)
		default:
			files = append(files, path)
		}
		return nil
	})
	slices.Sort(files)
	return files, dirs, err
}

func (t *trial) addFile() error {
	_, dirs, err := t.paths()
	if err != nil {
		return err
	}
	path := filepath.Join(dirs[t.rnd.Intn(len(dirs))], fmt.Sprintf("f%06d", t.rnd.Intn(1e6)))
	return os.WriteFile(path, fmt.Appendf(nil, "%d\n", t.rnd.Int()), 0o640)
}

// change does n things to random files and directories.
func (t *trial) change(n int) error {
	for range n {
		files, dirs, err := t.paths()
		if err != nil {
			return err
		}
		if len(files) < 10 {
			if err := t.addFile(); err != nil {
				return err
			}
			continue
		}
		file, dir := files[t.rnd.Intn(len(files))], dirs[t.rnd.Intn(len(dirs))]
		if err := t.changeOne(file, dir); err != nil {
			return err
		}
	}
	return nil
}

func (t *trial) changeOne(file, dir string) error {
	either := file
	if t.rnd.Intn(4) == 0 && dir != t.root {
		either = dir
	}
	switch t.rnd.Intn(11) {
	case 0:
		return t.addFile()
	case 1:
		return os.Remove(file)
	case 2: // takes capabilities away too
		return os.WriteFile(file, fmt.Appendf(nil, "%d\n", t.rnd.Int()), 0o640)
	case 3:
		return os.Chmod(either, fs.FileMode(t.rnd.Intn(0o1000)))
	case 4:
		return unix.Chmod(file, uint32(t.rnd.Intn(0o10000)))
	case 5:
		return os.Chown(either, int(t.id()), int(t.id()))
	case 6:
		return unix.Setxattr(either, aclAttribute, t.randomACL(), 0)
	case 7:
		return ignoreNoData(unix.Removexattr(either, aclAttribute))
	case 8:
		if t.rnd.Intn(3) == 0 {
			return ignoreNoData(unix.Removexattr(dir, defaultACLAttribute))
		}
		return unix.Setxattr(dir, defaultACLAttribute, t.randomACL(), 0)
	case 9:
		return unix.Setxattr(file, capabilityAttribute, t.randomCapability(), 0)
	default:
		return unix.Setxattr(either, fmt.Sprintf("user.note%d", t.rnd.Intn(3)), fmt.Appendf(nil, "%d", t.rnd.Int()), 0)
	}
}

func ignoreNoData(err error) error {
	if errors.Is(err, unix.ENODATA) {
		return nil
	}
	return err
}

func (t *trial) id() uint32 {
	if t.rnd.Intn(4) == 0 {
		return 0
	}
	return t.base + 1001 + uint32(t.rnd.Intn(3))
}

// randomACL returns a list as the kernel reads it: for the owner, a user, the group, a group, the
// mask and others, in this order.
func (t *trial) randomACL() []byte {
	const none = 0xffffffff
	out := binary.LittleEndian.AppendUint32(nil, 2)
	add := func(tag uint16, id uint32) {
		out = binary.LittleEndian.AppendUint16(out, tag)
		out = binary.LittleEndian.AppendUint16(out, uint16(t.rnd.Intn(8)))
		out = binary.LittleEndian.AppendUint32(out, id)
	}
	add(0x01, none)
	add(0x02, t.base+1001+uint32(t.rnd.Intn(3)))
	add(0x04, none)
	if t.rnd.Intn(2) == 0 {
		add(0x08, t.base+1001+uint32(t.rnd.Intn(3)))
	}
	add(0x10, none)
	add(0x20, none)
	return out
}

// randomCapability returns capabilities of the second version of their form.
func (t *trial) randomCapability() []byte {
	out := binary.LittleEndian.AppendUint32(nil, 0x02000001)
	out = binary.LittleEndian.AppendUint32(out, 1<<(t.rnd.Intn(14)))
	return append(out, make([]byte, 12)...)
}

// stripACL removes the list of one file, and returns its path, or "" if none has one.
func (t *trial) stripACL() (string, error) {
	files, _, err := t.paths()
	if err != nil {
		return "", err
	}
	for _, path := range files {
		if _, err := unix.Getxattr(path, aclAttribute, nil); err == nil { // else some file systems remove none without a word
			return path, unix.Removexattr(path, aclAttribute)
		}
	}
	return "", nil
}
