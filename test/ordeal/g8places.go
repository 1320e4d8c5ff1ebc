//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// place is a file system on which trees are made.
type place struct {
	name string
	dir  string
	ends []func()
}

func (p *place) end() {
	for _, f := range slices.Backward(p.ends) {
		f()
	}
}

// mount mounts at a new directory, and unmounts at the end.
func (p *place) mount(source, at, kind string, flags uintptr, data string) error {
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(source, at, kind, flags, data); err != nil {
		return fmt.Errorf("mount %s: %w", kind, err)
	}
	p.ends = append(p.ends, func() { _ = unix.Unmount(at, unix.MNT_DETACH) }) // scratch
	return nil
}

// newPlace makes a file system of the given kind. One that this machine does not
// know is an error.
func (r *run) newPlace(kind string) (*place, error) {
	p := &place{name: kind, dir: r.scratch(kind)}
	at := p.dir + "/at"
	var err error
	switch kind {
	case "disk":
		err = os.Mkdir(at, 0o755)
	case "tmpfs":
		err = p.mount("tmpfs", at, "tmpfs", 0, "size=4g,nr_inodes=2m")
	case "xfs", "btrfs", "ext4":
		err = p.loop(kind, p.dir+"/image", at)
	default:
		err = fmt.Errorf("no place is called %s", kind)
	}
	if err != nil {
		p.end()
		return nil, fmt.Errorf("make place %s: %w", kind, err)
	}
	p.dir = at
	return p, nil
}

func (p *place) loop(kind, image, at string) error {
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

// overlaid puts an overlay over a tree that was made at lower, and answers where
// it is seen. The upper layer is beside it, or on a file system of its own.
func (p *place) overlaid(lower, name string, foreign bool) (string, error) {
	base := p.dir + "/over-" + name
	upper := base + "/upper"
	if foreign {
		if err := p.mount("tmpfs", upper, "tmpfs", 0, "size=64m"); err != nil {
			return "", err
		}
	}
	for _, d := range []string{upper + "/u", upper + "/w"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return "", err
		}
	}
	at := base + "/seen"
	return at, p.mount("overlay", at, "overlay", 0, fmt.Sprintf("lowerdir=%s,upperdir=%s/u,workdir=%s/w", lower, upper, upper))
}
