//go:build linux

package access

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/treebed"
)

// mount is a kind of mount on which a workspace is.
type mount struct {
	name string
	base uint32 // of the ids of users
	make func(r *harness.Run, store string) (*treebed.Place, string, error)
}

// errUnknownMount means that this machine cannot make such a mount.
var errUnknownMount = errors.New("not on this machine")

const mappedBase = 100000

var mounts = []mount{
	{"ext4", 0, plain("ext4")},
	{"xfs", 0, plain("xfs")},
	{"btrfs", 0, plain("btrfs")},
	{"tmpfs", 0, plain("tmpfs")},
	{"overlay on ext4", 0, overlaid},
	{"bind mount of the disk of the store", 0, bound},
	{"idmapped mount of ext4", mappedBase, mapped},
}

func plain(kind string) func(*harness.Run, string) (*treebed.Place, string, error) {
	return func(r *harness.Run, _ string) (*treebed.Place, string, error) {
		place, err := treebed.NewPlace(r, kind)
		if err != nil {
			return nil, "", err
		}
		return place, place.Dir, nil
	}
}

func overlaid(r *harness.Run, store string) (*treebed.Place, string, error) {
	p, dir, err := plain("ext4")(r, store)
	if err != nil {
		return nil, "", err
	}
	for _, name := range []string{"lower", "upper", "work"} {
		err = errors.Join(err, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	if err == nil {
		err = p.Mount("overlay", dir+"/seen", "overlay", 0, fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", dir))
	}
	return endIf(err, p, dir+"/seen")
}

// bound is a workspace on the file system of the store that is seen through a mount of its own, as
// containers are given one: no name can be moved between the two.
func bound(r *harness.Run, store string) (*treebed.Place, string, error) {
	p, seen, given := &treebed.Place{}, r.Scratch("bound"), filepath.Join(filepath.Dir(store), "given")
	err := os.Mkdir(given, 0o755)
	if err == nil {
		err = p.Mount(given, seen+"/work", "", unix.MS_BIND, "")
	}
	return endIf(err, p, seen)
}

func endIf(err error, p *treebed.Place, at string) (*treebed.Place, string, error) {
	if err != nil {
		p.End()
		return nil, "", err
	}
	return p, at, nil
}

// mapped shows the owners of files as other ids.
func mapped(r *harness.Run, store string) (*treebed.Place, string, error) {
	p, dir, err := plain("ext4")(r, store)
	if err != nil {
		return nil, "", err
	}
	at := dir + "/seen"
	err = errors.Join(os.Mkdir(dir+"/given", 0o755), os.Mkdir(at, 0o755))
	if err == nil {
		err = mapIDs(p, dir+"/given", at)
	}
	return endIf(err, p, at)
}

// mapIDs mounts from at to, where the ids of users are higher by mappedBase.
func mapIDs(p *treebed.Place, from, to string) error {
	holder := exec.Command("sleep", "60")
	ids := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1000}, {ContainerID: 1000, HostID: mappedBase + 1000, Size: 1000}}
	holder.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: ids, GidMappings: ids, GidMappingsEnableSetgroups: true}
	if err := holder.Start(); err != nil {
		return fmt.Errorf("%w: no user namespace: %w", errUnknownMount, err)
	}
	defer holder.Wait()         //nolint:errcheck // it was killed
	defer holder.Process.Kill() //nolint:errcheck // it may have ended
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/user", holder.Process.Pid))
	if err != nil {
		return err
	}
	defer ns.Close() //nolint:errcheck // a handle
	tree, err := unix.OpenTree(unix.AT_FDCWD, from, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return fmt.Errorf("%w: open tree: %w", errUnknownMount, err)
	}
	defer unix.Close(tree) //nolint:errcheck // a handle
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_IDMAP, Userns_fd: uint64(ns.Fd())}
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, &attr); err != nil {
		return fmt.Errorf("%w: map ids: %w", errUnknownMount, err)
	}
	if err := unix.MoveMount(tree, "", unix.AT_FDCWD, to, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("move mount: %w", err)
	}
	p.AtEnd(func() { _ = unix.Unmount(to, unix.MNT_DETACH) }) // scratch
	return nil
}
