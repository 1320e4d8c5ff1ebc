package proc_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/internal/platform/proc"
)

func inode(t *testing.T, path string) proc.Inode {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return proc.Inode{Dev: uint64(st.Dev), Ino: st.Ino}
}

func someFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("bytes"), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestHoldersOfAFileAreFound(t *testing.T) {
	t.Parallel()
	for how, writes := range map[string]bool{
		"read": false, "path": false, "write": true, "both": true, "map": false, "map-private": false, "map-write": true, "cwd": false, "leader": false,
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			path := someFile(t)
			if how == "cwd" {
				path = filepath.Dir(path)
			}
			in := inode(t, path)
			pid := startAndWait(t, self(os.Getuid(), "holder", "hold", how, path))
			own, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer own.Close() // we are no holder
			want := []proc.FileUser{{PID: pid, Command: "holder hold " + how + " " + path, Inode: in, Writes: writes}}
			want[0].Command = want[0].Command[:min(len(want[0].Command), 80)]
			found, _, err := proc.FindFileUsers(t.Context(), map[proc.Inode]bool{in: true})
			if err != nil || !slices.Equal(found, want) {
				t.Errorf("found %+v (%v)\nwant  %+v", found, err, want)
			}
			other := proc.Inode{Dev: in.Dev + 1, Ino: in.Ino}
			found, _, err = proc.FindFileUsers(t.Context(), map[proc.Inode]bool{other: true, in: false})
			if err != nil || len(found) != 0 {
				t.Errorf("a file of another device is held by %+v (%v)", found, err)
			}
		})
	}
}

// Some file systems list a mapping under another device than the file says.
func TestMappingUnderAnotherDeviceIsFound(t *testing.T) {
	t.Parallel()
	path := someFile(t)
	in := inode(t, path)
	pid := startAndWait(t, self(os.Getuid(), "holder", "hold", "map", path))
	list, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/maps")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(list), "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasSuffix(l, path) })
	if at < 0 {
		t.Fatalf("it is not mapped:\n%s", list)
	}
	f := strings.Fields(lines[at]) // place, mode, offset, device, number, path
	for name, c := range map[string]struct {
		line string
		want int
	}{
		"as it is":              {lines[at], 1},
		"by the mapping itself": {strings.Join([]string{f[0], f[1], f[2], "00:01", f[4], "/gone (deleted)"}, " "), 1},
		"by its path":           {strings.Join([]string{"1000-2000", f[1], f[2], "00:01", f[4], path}, " "), 1},
		"by nothing":            {strings.Join([]string{"1000-2000", f[1], f[2], "00:01", f[4], "/gone"}, " "), 0},
		"another number":        {strings.Join([]string{f[0], f[1], f[2], f[3], f[4] + "1", path}, " "), 0},
		"no file":               {strings.Join([]string{f[0], f[1], f[2], "00:00", "0", "[heap]"}, " "), 0},
		"nothing":               {"", 0},
	} {
		if name == "by the mapping itself" && os.Geteuid() != 0 {
			continue // only root may ask it
		}
		got, err := proc.ScanMappingLine(pid, c.line, map[proc.Inode]bool{in: true})
		if err != nil || len(got) != c.want || c.want == 1 && got[0].Inode != in {
			t.Errorf("%s: %+v (%v), want %d", name, got, err, c.want)
		}
	}
}

func TestHoldersComeInOrderAndOnce(t *testing.T) {
	t.Parallel()
	one, two := someFile(t), someFile(t)
	want := map[proc.Inode]bool{inode(t, one): true, inode(t, two): true, inode(t, someFile(t)): true}
	var pids []int
	for _, path := range []string{one, two, one, two} {
		pids = append(pids, startAndWait(t, self(os.Getuid(), "holder", "hold", "both", path)))
	}
	slices.Sort(pids)
	found, _, err := proc.FindFileUsers(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, h := range found {
		got = append(got, h.PID)
	}
	if !slices.Equal(got, pids) {
		t.Errorf("found %v, want %v", got, pids)
	}
}

// A file that was replaced is still held by whoever opened it before.
func TestHoldersOfAReplacedFileAreFound(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"read", "map"} {
		path := someFile(t)
		in := inode(t, path)
		pid := startAndWait(t, self(os.Getuid(), "holder", "hold", how, path))
		if err := os.Rename(someFile(t), path); err != nil {
			t.Fatal(err)
		}
		for at, want := range map[proc.Inode]int{in: 1, inode(t, path): 0} {
			found, _, err := proc.FindFileUsers(t.Context(), map[proc.Inode]bool{at: true})
			if err != nil || len(found) != want || want == 1 && found[0].PID != pid {
				t.Errorf("%s: found %+v (%v), want %d", how, found, err, want)
			}
		}
	}
}

func TestHolderIsNamedByItsCommand(t *testing.T) {
	t.Parallel()
	path := someFile(t)
	in := inode(t, path)
	long := self(os.Getuid(), "ü"+strings.Repeat("üü", 100), "hold", "read", path)
	bare := self(os.Getuid(), "")
	bare.Env = []string{"TEST_PROGRAM=hold:read:" + path}
	pids := map[int]string{startAndWait(t, long): strings.Repeat("ü", 40)}
	pid := startAndWait(t, bare)
	comm, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	if err != nil {
		t.Fatal(err)
	}
	pids[pid] = strings.TrimSpace(string(comm))
	odd := self(os.Getuid(), "a"+strings.Repeat("ü", 100), "hold", "read", path)
	pids[startAndWait(t, odd)] = "a" + strings.Repeat("ü", 39)
	found, _, err := proc.FindFileUsers(t.Context(), map[proc.Inode]bool{in: true})
	if err != nil || len(found) != len(pids) {
		t.Fatalf("found %+v (%v)", found, err)
	}
	for _, h := range found {
		if h.Command != pids[h.PID] || h.Command == "" || !utf8.ValidString(h.Command) {
			t.Errorf("it is called %q, want %q", h.Command, pids[h.PID])
		}
	}
}

func TestWhatWeMayNotSeeIsCounted(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can be two users")
	}
	ours, shared := someFile(t), someFile(t)
	if err := errors.Join(os.Chmod(filepath.Dir(filepath.Dir(shared)), 0o755), os.Chmod(shared, 0o666)); err != nil {
		t.Fatal(err)
	}
	startAndWait(t, self(0, "holder", "hold", "read", ours))
	theirs := startAndWait(t, self(nobody, "holder", "hold", "map", shared))
	for at, want := range map[proc.Inode]int{inode(t, ours): 0, inode(t, shared): theirs} {
		out, err := self(nobody, "asker", "ask", strconv.FormatUint(at.Dev, 10), strconv.FormatUint(at.Ino, 10)).Output()
		var a scanResult
		if err == nil {
			err = json.Unmarshal(out, &a)
		}
		if err != nil || a.Err != "" {
			t.Fatalf("%v %s", err, a.Err)
		}
		if a.Hidden == 0 {
			t.Error("nobody sees every process of root")
		}
		has := slices.ContainsFunc(a.Found, func(h proc.FileUser) bool { return h.PID == want })
		if want == 0 && len(a.Found) > 0 || want != 0 && !has {
			t.Errorf("nobody finds %+v", a.Found)
		}
	}
}

func TestProcessesWithoutFilesAreNotHidden(t *testing.T) {
	t.Parallel()
	for stat, want := range map[string]bool{
		"2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0":              true,
		"7 (gone) Z 1 7 7 0 -1 4227084 0 0 0 0":                  true,
		"9 (sh) S 1 9 9 0 -1 4194560 0 0 0 0":                    false,
		"9 (a) Z 1 7 7 0 -1 2129984) S 1 9 9 0 -1 4194560 0 0 0": false,
		"9 (sh) S": false,
		"":         false,
	} {
		if got := proc.StatHasNoFiles(stat); got != want {
			t.Errorf("%q: %v", stat, got)
		}
	}
}

func TestProcessesThatEndAreNoError(t *testing.T) {
	t.Parallel()
	path := someFile(t)
	done := make(chan error, 1)
	go func() {
		for range 150 {
			if err := exec.Command("/bin/true").Run(); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	want := map[proc.Inode]bool{inode(t, path): true, inode(t, "/bin/true"): true, inode(t, "/"): true}
	for {
		if _, _, err := proc.FindFileUsers(t.Context(), want); err != nil {
			t.Error(err)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if _, _, err := proc.FindFileUsers(ended, want); !errors.Is(err, context.Canceled) {
				t.Errorf("nobody waits, and yet: %v", err)
			}
			return
		default:
		}
	}
}

// manyFiles is how much each of the processes opens that are searched for time.
const manyFiles = 2500

func TestHoldersAreFoundQuickly(t *testing.T) { // alone: it looks at the clock
	path, held := someFile(t), someFile(t)
	for range 8 {
		startAndWait(t, self(os.Getuid(), "holder", "hold", "many", path))
	}
	pid := startAndWait(t, self(os.Getuid(), "holder", "hold", "read", held))
	best := time.Duration(math.MaxInt64)
	for range 5 {
		begin := time.Now()
		found, _, err := proc.FindFileUsers(t.Context(), map[proc.Inode]bool{inode(t, held): true})
		best = min(best, time.Since(begin))
		if err != nil || len(found) != 1 || found[0].PID != pid {
			t.Fatalf("found %+v (%v)", found, err)
		}
	}
	t.Logf("%v", best)
	if best > 5*time.Second { // a hundred times what it takes on an idle machine
		t.Errorf("20000 open files take %v", best)
	}
}
