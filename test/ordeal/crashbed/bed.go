// Package crashbed holds what ordeals of crashes and faults stand on: stores in memory and
// on disks that are cut off.
package crashbed

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/retake-dev/retake/test/ordeal/harness"
)

// Bed is a file system of its own on a loop device, whose power can be cut.
type Bed struct {
	kind string // ext4 or xfs
	Dir  string // holds the image and, on another file system than it, the workspace
	img  string
	Mnt  string
}

// Long commit intervals, so that only our own syncs bring anything to the disk.
var bedOptions = map[string]string{"ext4": "loop,commit=3000", "xfs": "loop"}

var (
	bedsMu sync.Mutex
	bedsUp = map[string]bool{} // guarded by bedsMu; mount points
	bedsOn sync.Once
)

// NewBed makes and mounts a file system.
func NewBed(r *harness.Run, kind string) (*Bed, error) {
	bedsOn.Do(unmountOnSignal)
	dir := harness.FastDir(r, kind)
	b := &Bed{kind: kind, Dir: dir, img: filepath.Join(dir, "image"), Mnt: filepath.Join(dir, "mnt")}
	make := []string{"mkfs.ext4", "-q", "-F", b.img}
	if kind == "xfs" {
		make = []string{"mkfs.xfs", "-q", "-f", "-m", "reflink=1", b.img}
	}
	err := errors.Join(os.Mkdir(b.Mnt, 0o755), Command("truncate", "-s", "512M", b.img))
	if err == nil {
		err = Command(make[0], make[1:]...)
	}
	if err == nil {
		err = b.mount()
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func Command(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(string(out)))
	}
	return nil
}

func (b *Bed) mount() error {
	bedsMu.Lock()
	defer bedsMu.Unlock()
	if err := Command("mount", "-t", b.kind, "-o", bedOptions[b.kind], b.img, b.Mnt); err != nil {
		return err
	}
	bedsUp[b.Mnt] = true
	return nil
}

// unmount takes the file system down for good. A child that is being started
// holds copies of all handles until it runs, and a process in a mount namespace
// of its own keeps the file system alive: to mount it then would show the same
// one, still without power.
func (b *Bed) unmount() error {
	bedsMu.Lock()
	up := bedsUp[b.Mnt]
	bedsMu.Unlock()
	if !up {
		return nil
	}
	defer func() {
		bedsMu.Lock()
		defer bedsMu.Unlock()
		delete(bedsUp, b.Mnt)
	}()
	if err := insist(func() error { return Command("umount", b.Mnt) }); err != nil {
		return errors.Join(err, Command("umount", "-l", b.Mnt)) // it must not outlive us
	}
	return insist(func() error {
		out, err := exec.Command("losetup", "-j", b.img).CombinedOutput()
		if err == nil && len(out) > 0 {
			err = fmt.Errorf("somebody keeps the file system alive: %s", out)
		}
		return err
	})
}

// insist tries for some seconds.
func insist(try func() error) error {
	err := try()
	if err == nil {
		return nil
	}
	again, enough := time.NewTicker(20*time.Millisecond), time.After(15*time.Second)
	defer again.Stop()
	for {
		select {
		case <-again.C:
			if err = try(); err == nil {
				return nil
			}
		case <-enough:
			return err
		}
	}
}

// Remount shows what is on the disk.
func (b *Bed) Remount() error {
	if err := b.unmount(); err != nil {
		return err
	}
	return b.mount()
}

func (b *Bed) Close() error {
	return errors.Join(b.unmount(), os.RemoveAll(b.Dir))
}

// unmountOnSignal leaves no mount behind when somebody ends the program.
func unmountOnSignal() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-c
		bedsMu.Lock()
		for m := range bedsUp {
			_ = Command("umount", "-l", m)
			_ = os.RemoveAll(filepath.Dir(m))
		}
		os.Exit(1)
	}()
}

// CutsPerBed bounds the history that one file system gathers.
const CutsPerBed = 10
