//go:build linux

package treebed

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/test/ordeal/crashbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

// SmallDisk makes an ext4 of that size.
func SmallDisk(r *harness.Run, size int64) (*Place, error) {
	dir := r.Scratch("disk")
	p := &Place{name: "ext4", Dir: filepath.Join(dir, "at")}
	image := filepath.Join(dir, "image")
	err := os.Mkdir(p.Dir, 0o755)
	for _, args := range [][]string{
		{"truncate", "-s", fmt.Sprint(size), image}, {"mkfs.ext4", "-q", "-F", image}, {"mount", "-o", "loop", image, p.Dir},
	} {
		if err == nil {
			err = crashbed.Command(args[0], args[1:]...)
		}
	}
	if err != nil {
		return nil, err
	}
	p.ends = append(p.ends, func() { _ = exec.Command("umount", "-l", p.Dir).Run() }) // scratch
	return p, nil
}

func DiskOf(dir string) (total, free int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, err
	}
	return int64(st.Blocks) * st.Frsize, int64(st.Bavail) * st.Frsize, nil
}

// Place is a file system on which trees are made.
type Place struct {
	name string
	Dir  string
	ends []func()
}

// AtEnd lets f be called at the end, before what was made earlier goes.
func (p *Place) AtEnd(f func()) { p.ends = append(p.ends, f) }

func (p *Place) End() {
	for _, f := range slices.Backward(p.ends) {
		f()
	}
}

// Mount mounts at a new directory, and unmounts at the end.
func (p *Place) Mount(source, at, kind string, flags uintptr, data string) error {
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(source, at, kind, flags, data); err != nil {
		return fmt.Errorf("mount %s: %w", kind, err)
	}
	p.ends = append(p.ends, func() { _ = unix.Unmount(at, unix.MNT_DETACH) }) // scratch
	return nil
}

// NewPlace makes a file system of the given kind. One that this machine does not
// know is an error.
func NewPlace(r *harness.Run, kind string) (*Place, error) {
	p := &Place{name: kind, Dir: r.Scratch(kind)}
	at := p.Dir + "/at"
	var err error
	switch kind {
	case "disk":
		err = os.Mkdir(at, 0o755)
	case "tmpfs":
		err = p.Mount("tmpfs", at, "tmpfs", 0, "size=4g,nr_inodes=2m")
	case "xfs", "btrfs", "ext4":
		err = p.loop(kind, p.Dir+"/image", at)
	default:
		err = fmt.Errorf("no place is called %s", kind)
	}
	if err != nil {
		p.End()
		return nil, fmt.Errorf("make place %s: %w", kind, err)
	}
	p.Dir = at
	return p, nil
}

func (p *Place) loop(kind, image, at string) error {
	f, err := os.Create(image)
	if err != nil {
		return err
	}
	if err := f.Truncate(3 << 30); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Mkdir(at, 0o755); err != nil {
		return err
	}
	for _, args := range [][]string{{"mkfs." + kind, "-q", image}, {"mount", "-o", "loop", image, at}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
		}
	}
	p.ends = append(p.ends, func() { _ = exec.Command("umount", "-l", at).Run() }) // scratch
	return nil
}

// Overlaid puts an overlay over a tree that was made at lower, and answers where
// it is seen. The upper layer is beside it, or on a file system of its own.
func (p *Place) Overlaid(lower, name string, foreign bool) (string, error) {
	base := p.Dir + "/over-" + name
	upper := base + "/upper"
	if foreign {
		if err := p.Mount("tmpfs", upper, "tmpfs", 0, "size=64m"); err != nil {
			return "", err
		}
	}
	for _, d := range []string{upper + "/u", upper + "/w"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return "", err
		}
	}
	at := base + "/seen"
	return at, p.Mount("overlay", at, "overlay", 0, fmt.Sprintf("lowerdir=%s,upperdir=%s/u,workdir=%s/w", lower, upper, upper))
}
