//go:build linux

package g30

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/retake-dev/retake/test/ordeal/crashbed"
)

// condition is something that a checkpoint needs and that is taken away.
type condition struct {
	name  string
	saves bool // it must not keep checkpoints from being taken
	apply func(*bed) error
	lift  func(*bed) error // nil: it stays
}

var conditions = []condition{
	{"the disk is full", false, fillDisk, func(b *bed) error { return os.Remove(filepath.Join(b.home, "filler")) }},
	{"no inodes are left", false, takeInodes, func(b *bed) error { return os.RemoveAll(filepath.Join(b.home, "inodes")) }},
	{"the minimum of free space is reached", false, setFloor("1GB"), setFloor("1MB")},
	{"the home is read-only", false, remount("ro"), nil}, // nothing can be written down, and so no row tells of it later
	{"the socket is gone", true, func(b *bed) error { return os.RemoveAll(filepath.Join(b.home, "run")) }, nil},
	{"the settings are empty", false, func(b *bed) error { return os.Truncate(filepath.Join(b.home, "config.json"), 0) }, nil},
	{"the password is gone", true, func(b *bed) error {
		b.run(commandLimit, nil, "daemon", "stop")
		return os.Remove(filepath.Join(b.home, "data/store/password"))
	}, nil},
	{"the password and its copy are gone", false, func(b *bed) error {
		b.run(commandLimit, nil, "daemon", "stop")
		return errors.Join(os.Remove(filepath.Join(b.home, "data/store/password")), os.RemoveAll(filepath.Join(b.home, "data/store/keys")))
	}, nil},
	{"the daemon hangs", false, func(b *bed) error { b.signal("STOP"); return nil }, func(b *bed) error { b.signal("CONT"); return nil }},
	{"the daemon was killed", true, func(b *bed) error { b.signal("KILL"); return nil }, nil},
	{"the clock jumps ten years ahead", true, setClock(87600 * time.Hour), nil},
	{"the clock jumps ten years back", true, setClock(-87600 * time.Hour), nil},
	{"changes cannot be watched", true, withoutWatches, nil},
	{"the disk of the workspace is lost", false, loseWorkspace, nil},
	{"the blobs are gone", false, func(b *bed) error {
		b.run(commandLimit, nil, "daemon", "stop")
		return os.Rename(filepath.Join(b.home, "data/store/blobs"), filepath.Join(b.home, "data/store/away"))
	}, nil},
}

// fillDisk writes until nothing fits.
func fillDisk(b *bed) error {
	f, err := os.Create(filepath.Join(b.home, "filler"))
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it is full
	for block := make([]byte, 1<<20); len(block) > 0; {
		switch _, err := f.Write(block); {
		case errors.Is(err, syscall.ENOSPC):
			block = block[:len(block)/2]
		case err != nil:
			return err
		}
	}
	return nil
}

// takeInodes makes files until there can be no more.
func takeInodes(b *bed) error {
	dir := filepath.Join(b.home, "inodes")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for i := 0; ; i++ {
		f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
		if errors.Is(err, syscall.ENOSPC) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
}

func setClock(shift time.Duration) func(*bed) error {
	return func(b *bed) error { return os.WriteFile(b.clock(), []byte(shift.String()), 0o600) }
}

// withoutWatches starts the daemon again where the kernel refuses to watch files.
func withoutWatches(b *bed) error {
	b.run(commandLimit, nil, "daemon", "stop")
	cmd := exec.Command("unshare", "-U", "-r", "sh", "-c", "echo 0 >/proc/sys/user/max_inotify_instances && exec \"$0\" daemon start", b.exe)
	cmd.Dir, cmd.Env = b.ws, b.environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("start the daemon: %w: %s", err, out)
	}
	return nil
}

// loseWorkspace lets every read and write of the disk of the workspace fail, with a change on it
// that was not saved.
func loseWorkspace(b *bed) error {
	if err := b.edit("lost"); err != nil {
		return err
	}
	mount, err := os.Open(filepath.Dir(b.ws))
	if err != nil {
		return err
	}
	defer mount.Close() //nolint:errcheck // a directory handle
	crashbed.CutPower(mount)
	b.lost = true
	return nil
}

func setFloor(size string) func(*bed) error {
	return func(b *bed) error {
		if out := b.run(commandLimit, nil, "config", "floor", size); out.code != 0 {
			return fmt.Errorf("config: %s", out.text)
		}
		return nil
	}
}

func remount(how string) func(*bed) error {
	return func(b *bed) error {
		b.run(commandLimit, nil, "daemon", "stop") // who has files open for writing keeps the disk
		if out, err := exec.Command("mount", "-o", "remount,"+how, b.home).CombinedOutput(); err != nil {
			return fmt.Errorf("remount: %w: %s", err, out)
		}
		return nil
	}
}
