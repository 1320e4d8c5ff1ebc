package track_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/track"
)

const poorRole = "TRACK_TEST_POOR"

// runUnprivileged runs the test once more as a user without rights over others, in a
// user namespace of its own, where limits can be set without hurting anybody.
// It returns true in there.
func runUnprivileged(t *testing.T) bool {
	t.Helper()
	if os.Getenv(poorRole) != "" {
		return true
	}
	c := exec.Command("/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.v")
	c.Env = append(os.Environ(), poorRole+"=1", ownMounts+"=") // mounts are not for the poor
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := c.CombinedOutput()
	switch {
	case len(out) == 0 && err != nil:
		t.Skipf("no user namespaces here: %v", err)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skipf("%s", out)
	case err != nil || !strings.Contains(string(out), "--- PASS"):
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// limit sets one limit of the user namespace.
func limit(t *testing.T, name, value string) {
	t.Helper()
	if err := os.WriteFile("/proc/sys/user/"+name, []byte(value), 0); err != nil {
		t.Skipf("limits cannot be set here: %v", err)
	}
}

func TestWithoutRights(t *testing.T) {
	t.Parallel()
	if !runUnprivileged(t) {
		return
	}
	a := newTestDir(t)
	if _, err := track.New(onlyMode(retake.TrackingFanotify)).Watch(a.dir); err == nil {
		t.Error("a mark on a file system without rights")
	}
	w := start(t, a.dir, track.Options{TrustUnreadable: true})
	if w.Mode() != retake.TrackingInotify {
		t.Errorf("mode %q", w.Mode())
	}
	wantNewFile(t, w, a.dir, "f")
	// The processes outside are not ours.
	strict := start(t, a.dir, track.Options{})
	for range 2 {
		d := strict.Drain()
		if !strings.HasPrefix(d.RescanReason, "the maps of ") || !strings.HasSuffix(d.RescanReason, " processes cannot be read") {
			t.Errorf("doubt %q", d.RescanReason)
		}
	}
}

func TestTooFewWatches(t *testing.T) {
	t.Parallel()
	if !runUnprivileged(t) {
		return
	}
	limit(t, "max_inotify_watches", "8")
	a := newTestDir(t)
	for i := range 6 {
		a.mkdir("d" + itoa(i))
	}
	w := start(t, a.dir, onlyMode(retake.TrackingInotify))
	a.mkdir("new") // the last one
	wantMarks(t, drainPaths(t, w), marks{"new": markAll})
	a.mkdir("one/too/many")
	for range 2 {
		wantRescan(t, w, "fs.inotify.max_user_watches")
	}
	must(t, w.Close())
	_, err := track.New(onlyMode(retake.TrackingInotify)).Watch(a.dir)
	if err == nil || !strings.Contains(err.Error(), "fs.inotify.max_user_watches") {
		t.Errorf("watched by 8 watches: %v", err)
	}
	a.remove("one")
	if _, err := track.New(onlyMode("")).Watch(a.dir); err != nil {
		t.Errorf("the watches were not given back: %v", err)
	}
}

func TestTooFewInstances(t *testing.T) {
	t.Parallel()
	if !runUnprivileged(t) {
		return
	}
	limit(t, "max_inotify_instances", "1")
	a := newTestDir(t)
	w := start(t, a.dir, onlyMode(retake.TrackingInotify))
	_, err := track.New(onlyMode(retake.TrackingInotify)).Watch(a.dir)
	if err == nil || !strings.Contains(err.Error(), "fs.inotify.max_user_instances") {
		t.Errorf("two instances: %v", err)
	}
	wantNewFile(t, w, a.dir, "f")
}

// A directory that may not be opened is reported each time, until it may be.
func TestDirectoriesWithoutRights(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may open everything")
	}
	a := newTestDir(t)
	a.mkdir("d/e")
	must(t, os.Chmod(a.at("d"), 0))
	t.Cleanup(func() { _ = os.Chmod(a.at("d"), 0o700) })
	w := start(t, a.dir, onlyMode(retake.TrackingInotify))
	wantMarks(t, drainPaths(t, w), marks{"d": markAll})
	must(t, os.Chmod(a.at("d"), 0o700))
	wantMarks(t, drainPaths(t, w), marks{"d": markAll})
	a.write("d/e/f", "")
	got := drainPaths(t, w)
	wantMarks(t, got, marks{"d/e/f": track.MarkName})
	if got["d"]&track.MarkTree != 0 {
		t.Errorf("still told each time: %v", got)
	}
}
