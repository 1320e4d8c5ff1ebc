//go:build linux

package g31

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/internal/platform/config"
)

// attackReport is what the attacker tells: how often he tried what, and what should not have worked.
type attackReport struct {
	Kinds     map[string]int
	Successes []string
}

// attacker is a process of the user.
type attacker struct {
	rng           *rand.Rand
	pid           int
	socket, store string
	workspace     string
	http          *http.Client
	out           attackReport
}

func attackerChild(args []string) int {
	a := attacker{out: attackReport{Kinds: map[string]int{}}}
	var n int
	var seed uint64
	var control bool
	f := flag.NewFlagSet("g31-attacker", flag.ContinueOnError)
	f.IntVar(&n, "n", 0, "how many attacks")
	f.Uint64Var(&seed, "seed", 1, "of the attacks")
	f.IntVar(&a.pid, "pid", 0, "of the daemon")
	f.BoolVar(&control, "control", false, "attack a daemon of the user")
	if f.Parse(args) != nil {
		return 2
	}
	a.rng = rand.New(rand.NewPCG(seed, 31))
	a.find(control)
	for range n {
		k := a.pickAttack()
		a.out.Kinds[k.name]++
		if told := k.try(&a); told != "" && !control && len(a.out.Successes) < 20 {
			a.out.Successes = append(a.out.Successes, k.name+": "+told)
		}
	}
	if json.NewEncoder(os.Stdout).Encode(a.out) != nil {
		return 1
	}
	return 0
}

// find learns what any process of the user can know.
func (a *attacker) find(control bool) {
	a.socket, a.store = config.SystemSocket(userID), config.SystemStore(userID)
	var st struct {
		About struct {
			PID  int    `json:"pid"`
			Home string `json:"home"`
		} `json:"about"`
		Socket string `json:"socket"`
	}
	if out, err := a.retake("daemon", "status", "--json"); err == nil && json.Unmarshal(out, &st) == nil && control {
		a.socket, a.store, a.pid = st.Socket, st.About.Home, st.About.PID
	}
	a.http = &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", a.socket)
	}}}
	var all struct {
		Workspaces []struct {
			ID string `json:"id"`
		} `json:"workspaces"`
	}
	if body, status := a.request(http.MethodGet, "/v1/workspaces", ""); status == http.StatusOK && json.Unmarshal(body, &all) == nil && len(all.Workspaces) > 0 {
		a.workspace = all.Workspaces[0].ID
	}
}

func (a *attacker) request(method, path, body string) ([]byte, int) {
	req, err := http.NewRequest(method, "http://daemon"+path, strings.NewReader(body))
	if err != nil {
		return nil, 0
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := a.http.Do(req)
	if err != nil {
		return nil, 0
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return b, resp.StatusCode
}

func (a *attacker) retake(args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "retake", args...)
	cmd.Dir, cmd.WaitDelay = "/", time.Second
	if i, err := os.Stat(projDir); err == nil && i.IsDir() {
		cmd.Dir = projDir
	}
	return cmd.Output()
}

// attack is one kind of attack. It tells what worked and must not, or "".
type attack struct {
	name   string
	weight int // how often it is tried beside the others
	try    func(a *attacker) string
}

var attacks = []attack{
	{"signal", 12, (*attacker).signal},
	{"trace", 12, (*attacker).trace},
	{"look into the process", 12, (*attacker).lookInside},
	{"limits of the process", 6, (*attacker).limits},
	{"files of the store", 20, (*attacker).touchStore},
	{"store by a name space", 3, (*attacker).enterByNamespace},
	{"socket file", 6, (*attacker).touchSocket},
	{"settings", 6, (*attacker).touchSettings},
	{"requests that lose history", 20, (*attacker).askToLose},
	{"commands that lose history", 2, (*attacker).commandToLose},
	{"broken requests", 3, (*attacker).sendGarbage},
	{"forged credentials", 8, (*attacker).forge},
	{"own files", 1, (*attacker).damageOwn},
	{"links in the workspace", 1, (*attacker).link},
	{"restores and forks elsewhere", 2, (*attacker).writeElsewhere},
	{"full quota", 1, (*attacker).fill},
}

// pickAttack prefers those that are over at once.
func (a *attacker) pickAttack() attack {
	sum := 0
	for _, k := range attacks {
		sum += k.weight
	}
	n := a.rng.IntN(sum)
	for _, k := range attacks {
		if n -= k.weight; n < 0 {
			return k
		}
	}
	return attacks[0]
}

func (a *attacker) pick(list ...string) string { return list[a.rng.IntN(len(list))] }

func (a *attacker) signal() string {
	sig := syscall.Signal(1 + a.rng.IntN(31))
	if sig == syscall.SIGWINCH {
		sig = syscall.SIGKILL
	}
	if err := syscall.Kill(a.pid, sig); err == nil {
		return fmt.Sprintf("signal %d was sent", sig)
	}
	return ""
}

func (a *attacker) trace() string {
	for _, request := range []uintptr{unix.PTRACE_ATTACH, unix.PTRACE_SEIZE} {
		if _, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, request, uintptr(a.pid), 0, 0, 0, 0); errno == 0 {
			return "it was attached to"
		}
	}
	var b [8]byte
	local := []unix.Iovec{{Base: &b[0], Len: 8}}
	if n, err := unix.ProcessVMReadv(a.pid, local, []unix.RemoteIovec{{Base: 0x400000, Len: 8}}, 0); err == nil && n > 0 {
		return "its memory was read"
	}
	return ""
}

func (a *attacker) lookInside() string {
	path := fmt.Sprintf("/proc/%d/%s", a.pid, a.pick("mem", "maps", "environ", "fd", "root", "cwd", "exe", "map_files", "auxv", "stack", "oom_score_adj"))
	if strings.HasSuffix(path, "oom_score_adj") {
		if os.WriteFile(path, []byte("1000"), 0) == nil {
			return path + " was written"
		}
		return ""
	}
	if _, err := os.ReadDir(path); err == nil {
		return path + " was listed"
	}
	if b, err := os.ReadFile(path); err == nil && len(b) > 0 {
		return path + " was read"
	}
	if fd, err := unix.PidfdOpen(a.pid, 0); err == nil {
		defer unix.Close(fd) //nolint:errcheck // only read
		if got, err := unix.PidfdGetfd(fd, 3+a.rng.IntN(20), 0); err == nil {
			_ = unix.Close(got)
			return "a descriptor was taken"
		}
	}
	return ""
}

func (a *attacker) limits() string {
	which := []int{unix.RLIMIT_NOFILE, unix.RLIMIT_FSIZE, unix.RLIMIT_AS, unix.RLIMIT_CPU}[a.rng.IntN(4)]
	if unix.Prlimit(a.pid, which, &unix.Rlimit{Cur: 1, Max: 1}, nil) == nil {
		return "a limit was set"
	}
	return ""
}

// storePaths are names that every store has, and below them.
func (a *attacker) storePath() string {
	return filepath.Join(a.store, a.pick("", "catalog.db", "catalog.db-wal", "store", "store/password", "store/blobs", "store/keys", "index", "locks", "locks/daemon", "signals", "sessions", "../../retake"))
}

func (a *attacker) touchStore() string {
	path := a.storePath()
	own := filepath.Join(homeDir, fmt.Sprintf("own-%d", a.rng.IntN(1000)))
	tries := []struct {
		what string
		err  func() error
	}{
		{"removed", func() error { return os.RemoveAll(path + "/.") }},
		{"removed", func() error { return os.Remove(path) }},
		{"renamed", func() error { return os.Rename(path, own) }},
		{"cut", func() error { return os.Truncate(path, 0) }},
		{"opened", func() error { f, err := os.OpenFile(path, os.O_RDWR, 0); _ = f.Close(); return err }},
		{"read", func() error { f, err := os.Open(path); _ = f.Close(); return err }},
		{"made readable", func() error { return os.Chmod(path, 0o777) }},
		{"given away", func() error { return os.Chown(path, userID, userID) }},
		{"linked", func() error { defer os.Remove(own); return os.Link(path, own) }}, //nolint:errcheck // it may not be there
		{"written beside", func() error { return os.WriteFile(filepath.Join(path, "x"), nil, 0o644) }},
		{"reached by a link", func() error {
			defer os.Remove(own) //nolint:errcheck // it may not be there
			if err := os.Symlink(path, own); err != nil {
				return err
			}
			f, err := os.Open(own)
			_ = f.Close()
			return err
		}},
	}
	t := tries[a.rng.IntN(len(tries))]
	if err := t.err(); err == nil && t.what != "removed" || err == nil && a.gone(path) {
		return path + " was " + t.what
	}
	return ""
}

// gone reports whether something that could be seen is away: what cannot be seen proves nothing.
func (a *attacker) gone(path string) bool {
	_, err := os.Lstat(path)
	return os.IsNotExist(err)
}

// enterByNamespace becomes root of a user name space, and reaches for the store from there.
func (a *attacker) enterByNamespace() string {
	script := a.pick(
		"ls "+a.store, "rm -rf "+a.store+"/*", "mount --bind "+a.store+" /mnt && ls /mnt", "cat /proc/"+fmt.Sprint(a.pid)+"/maps",
		"kill -9 "+fmt.Sprint(a.pid), "setpriv --regid 0 --clear-groups ls "+a.store,
	)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "unshare", "-Urm", "sh", "-c", script+" && echo entered").Output(); err == nil && bytes.Contains(out, []byte("entered")) && !strings.Contains(script, "rm -rf") {
		return script
	}
	return ""
}

func (a *attacker) touchSocket() string {
	switch a.rng.IntN(4) {
	case 0:
		if os.Remove(a.socket) == nil {
			return "it was removed"
		}
	case 1:
		if os.Chmod(a.socket, 0) == nil {
			return "it was closed"
		}
	case 2:
		if os.Rename(a.socket, a.socket+".old") == nil {
			return "it was renamed"
		}
	case 3:
		if l, err := net.Listen("unix", filepath.Join(filepath.Dir(a.socket), "other.sock")); err == nil {
			_ = l.Close()
			return "another one was put beside it"
		}
	}
	return ""
}

func (a *attacker) touchSettings() string {
	path := config.SystemSettings(userID)
	if os.WriteFile(path, []byte(`{"keep":"1h","budget":"1MB"}`), 0o644) == nil {
		return "they were written"
	}
	if os.Remove(path) == nil || os.Rename(filepath.Dir(path), homeDir+"/moved") == nil {
		return "they were removed"
	}
	return ""
}
