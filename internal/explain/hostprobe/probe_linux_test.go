package hostprobe_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/hostprobe"
)

// long is enough on a busy machine.
const long = time.Minute

// machine makes a root with these files.
func machine(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func paths(files []hostprobe.File) []string {
	out := []string{}
	for _, f := range files {
		out = append(out, f.Path)
	}
	return out
}

// wanted are files that a probe tells of, in order.
var wanted = []string{
	"/etc/bash.bashrc",
	"/etc/cron.d/backup",
	"/etc/crontab",
	"/etc/profile",
	"/etc/profile.d/go.sh",
	"/etc/systemd/system/app.service",
	"/etc/systemd/system/app.service.d/limits.conf",
	"/home/u/.bash_profile",
	"/home/u/.bashrc",
	"/home/u/.config/fish/config.fish",
	"/home/u/.config/systemd/user/sync.timer",
	"/home/u/.local/lib/python3.12/site-packages/black-24.1.dist-info/METADATA",
	"/home/u/.npm-global/lib/node_modules/tsx/package.json",
	"/home/u/.nvm/versions/node/v22.1.0/lib/node_modules/npm/package.json",
	"/home/u/.profile",
	"/home/u/.zshrc",
	"/lib/apk/db/installed",
	"/usr/lib/node_modules/@scope/tool/package.json",
	"/usr/lib/node_modules/npm/package.json",
	"/usr/lib/python3/dist-packages/requests-2.31.dist-info/METADATA",
	"/usr/lib/python3/dist-packages/six.egg-info",
	"/usr/lib/sysimage/rpm/rpmdb.sqlite",
	"/usr/local/lib/node_modules/yarn/package.json",
	"/usr/local/lib/python3.11/dist-packages/flask-3.0.dist-info/METADATA",
	"/usr/local/lib/python3.11/site-packages/old-1.egg-info/PKG-INFO",
	"/var/lib/dpkg/status",
	"/var/spool/cron/crontabs/root",
}

func TestNamedPlacesAreListed(t *testing.T) {
	t.Parallel()
	all := map[string]string{
		"/etc/passwd": "no", "/etc/cron.d/deep/er": "no", "/home/u/.ssh/id_ed25519": "no", "/home/u/notes": "no", "/var/lib/dpkg/available": "no",
		"/usr/lib/node_modules/npm/index.js": "no", "/usr/lib/node_modules/npm/node_modules/semver/package.json": "no",
		"/usr/lib/python3/dist-packages/requests/api.py": "no", "/home/other/.bashrc": "no", "/usr/lib/python2.7/dist-packages/x.dist-info/METADATA": "no",
	}
	for _, p := range wanted {
		all[p] = "text of " + p
	}
	root := machine(t, all)
	files := hostprobe.Files(t.Context(), hostprobe.Options{Root: root, Home: "/home/u", Limit: long})
	if diff := cmp.Diff(wanted, paths(files)); diff != "" {
		t.Fatal(diff)
	}
	for _, f := range files {
		i, err := os.Stat(filepath.Join(root, f.Path))
		if err != nil {
			t.Fatal(err)
		}
		if f.Size != i.Size() || f.ModTime != i.ModTime().UnixNano() {
			t.Errorf("%s: %d bytes at %d, want %d at %d", f.Path, f.Size, f.ModTime, i.Size(), i.ModTime().UnixNano())
		}
		if got := read(t, f); got != "text of "+f.Path {
			t.Errorf("%s: %q", f.Path, got)
		}
	}
}

func read(t *testing.T, f hostprobe.File) string {
	t.Helper()
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWorkspaceIsNotOutside(t *testing.T) {
	t.Parallel()
	root := machine(t, map[string]string{"/etc/crontab": "", "/home/u/.bashrc": "", "/home/u/.local/lib/python3.12/site-packages/a.dist-info/METADATA": "", "/home/ux/.bashrc": ""})
	for skip, want := range map[string][]string{
		"":                 {"/etc/crontab", "/home/u/.bashrc", "/home/u/.local/lib/python3.12/site-packages/a.dist-info/METADATA"},
		"/home/u":          {"/etc/crontab"},
		"/home/u/":         {"/etc/crontab"},
		"/home/u/.local":   {"/etc/crontab", "/home/u/.bashrc"},
		"/home/u/.bash":    {"/etc/crontab", "/home/u/.bashrc", "/home/u/.local/lib/python3.12/site-packages/a.dist-info/METADATA"},
		"/etc":             {"/home/u/.bashrc", "/home/u/.local/lib/python3.12/site-packages/a.dist-info/METADATA"},
		"/":                {},
		"/somewhere/else/": {"/etc/crontab", "/home/u/.bashrc", "/home/u/.local/lib/python3.12/site-packages/a.dist-info/METADATA"},
	} {
		files := hostprobe.Files(t.Context(), hostprobe.Options{Root: root, Home: "/home/u", WorkspaceRoot: skip, Limit: long})
		if diff := cmp.Diff(want, paths(files)); diff != "" {
			t.Errorf("skip %q: %s", skip, diff)
		}
	}
	if files := hostprobe.Files(t.Context(), hostprobe.Options{Root: root, Limit: long}); !slices.Equal(paths(files), []string{"/etc/crontab"}) {
		t.Errorf("without a home: %v", paths(files))
	}
}

// Links that lead out of a place, and things that are no files, are not read.
func TestPlantedThingsAreLeftAlone(t *testing.T) {
	t.Parallel()
	root := machine(t, map[string]string{"/etc/shadow": "secret", "/etc/cron.d/real": "x", "/home/u/dotfiles/bashrc": "mine", "/home/secret": "no", "/usr/local/lib/node_modules/a/package.json": "{}"})
	for link, text := range map[string]string{
		"/etc/systemd/system/out.service": "../../shadow", "/etc/systemd/system/abs.service": "/etc/shadow", "/etc/systemd/system/up": "../..",
		"/etc/cron.d/shadow": "../shadow", "/home/u/.zshrc": "../secret", "/home/u/.bashrc": "dotfiles/bashrc", "/etc/cron.d/loop": "loop", "/etc/cron.d/gone": "nowhere",
		"/usr/local/lib/node_modules/b": "a", "/usr/local/lib/node_modules/c": "../../../../etc",
	} {
		at := filepath.Join(root, link)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(text, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, fifo := range []string{"/etc/cron.d/fifo", "/home/u/.profile"} {
		if err := syscall.Mkfifo(filepath.Join(root, fifo), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files := hostprobe.Files(t.Context(), hostprobe.Options{Root: root, Home: "/home/u", Limit: long})
	want := []string{"/etc/cron.d/real", "/home/u/.bashrc", "/usr/local/lib/node_modules/a/package.json"}
	if diff := cmp.Diff(want, paths(files)); diff != "" {
		t.Fatal(diff)
	}
	if got := read(t, files[1]); got != "mine" {
		t.Errorf("%q", got)
	}
	// What was a file may be something else when it is opened.
	at := filepath.Join(root, "/etc/cron.d/real")
	for name, plant := range map[string]func() error{
		"a pipe":      func() error { return syscall.Mkfifo(at, 0o644) },
		"a link":      func() error { return os.Symlink("../shadow", at) },
		"a directory": func() error { return os.Mkdir(at, 0o755) },
		"huge":        func() error { return sparse(at, 65<<20) },
	} {
		if err := os.Remove(at); err != nil {
			t.Fatal(err)
		}
		if err := plant(); err != nil {
			t.Fatal(err)
		}
		if r, err := files[0].Open(); err == nil {
			r.Close()
			t.Errorf("%s was opened", name)
		}
	}
}

func sparse(at string, size int64) error {
	f, err := os.Create(at)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Truncate(size)
}

func TestNumberOfFilesIsBounded(t *testing.T) {
	t.Parallel()
	all := map[string]string{}
	for i := range 4100 {
		all[fmt.Sprintf("/usr/lib/node_modules/p%04d/package.json", i)] = ""
	}
	root := machine(t, all)
	files := hostprobe.Files(t.Context(), hostprobe.Options{Root: root, Limit: long})
	if len(files) != 4000 || files[0].Path != "/usr/lib/node_modules/p0000/package.json" || files[3999].Path != "/usr/lib/node_modules/p3999/package.json" {
		t.Errorf("%d files, from %s to %s", len(files), files[0].Path, files[len(files)-1].Path)
	}
}

func TestWithoutTimeNothingIsKnown(t *testing.T) {
	t.Parallel()
	root := machine(t, map[string]string{"/etc/crontab": ""})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := hostprobe.Options{Root: root, Limit: long}
	if files := hostprobe.Files(ctx, o); files != nil {
		t.Errorf("%v", paths(files))
	}
	if ports := hostprobe.Ports(ctx, o); ports != nil {
		t.Errorf("%v", ports)
	}
	o.Root = t.TempDir()
	if files := hostprobe.Files(t.Context(), o); files == nil || len(files) != 0 {
		t.Errorf("an empty machine: %v", files)
	}
	if ports := hostprobe.Ports(t.Context(), o); ports == nil || len(ports) != 0 {
		t.Errorf("an empty machine: %v", ports)
	}
}

func TestProfilesAreDigests(t *testing.T) {
	t.Parallel()
	root := machine(t, map[string]string{
		"/home/u/.bashrc": "export TOKEN=abc\n", "/home/u/.zshrc": "export TOKEN=abc\n", "/etc/profile": "x", "/etc/profile.d/a.sh": "y", "/etc/crontab": "z", "/var/lib/dpkg/status": "",
		"/home/u/.config/fish/config.fish": "",
	})
	o := hostprobe.Options{Root: root, Home: "/home/u", Limit: long}
	traits := hostprobe.Profiles(hostprobe.Files(t.Context(), o))
	by := map[string]string{}
	for _, tr := range traits {
		if tr.Kind != retake.FactProfile || len(tr.Value) != 12 || strings.ContainsFunc(tr.Value, func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) }) {
			t.Errorf("%+v", tr)
		}
		by[tr.Name] = tr.Value
	}
	if len(by) != 5 || by["/home/u/.bashrc"] != by["/home/u/.zshrc"] || by["/home/u/.bashrc"] == by["/etc/profile"] || by["/etc/profile.d/a.sh"] == "" {
		t.Errorf("%v", by)
	}
	files := hostprobe.Files(t.Context(), o)
	if err := os.WriteFile(filepath.Join(root, "/home/u/.bashrc"), []byte("export TOKEN=abd\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(root, "/home/u/.zshrc")); err != nil {
		t.Fatal(err)
	}
	for _, tr := range hostprobe.Profiles(files) {
		switch tr.Name {
		case "/home/u/.bashrc":
			if tr.Value == by[tr.Name] {
				t.Error("the change is not seen")
			}
		case "/home/u/.zshrc":
			if tr.Value != "unreadable" {
				t.Errorf("what went: %+v", tr)
			}
		}
	}
}

// row is a line of a table of the kernel.
func row(local, state string, inode int) string {
	return fmt.Sprintf("   0: %s 00000000:0000 %s 00000000:00000000 00:00000000 00000000  1000        0 %d 1 0000000000000000 100 0 0 10 0\n", local, state, inode)
}

func TestPortsOfAMadeMachine(t *testing.T) {
	t.Parallel()
	const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	root := machine(t, map[string]string{
		"/proc/net/tcp":  head + row("0100007F:0BB8", "0A", 11) + row("00000000:0016", "0A", 12) + row("0100007F:0BB9", "01", 13) + row("zz", "0A", 14) + "short\n",
		"/proc/net/tcp6": head + row("00000000000000000000000000000000:0BB8", "0A", 15) + row("00000000000000000000000000000000:0050", "0A", 16),
		"/proc/net/udp":  head + row("00000000:0035", "07", 17) + row("00000000:EA60", "07", 18) + row("00000000:0043", "01", 19),
		"/proc/100/comm": "node\n", "/proc/101/comm": "nginx\n", "/proc/102/comm": "nginx\n", "/proc/103/comm": "caddy\n", "/proc/self/comm": "nobody\n",
	})
	for link, to := range map[string]string{
		"/proc/100/fd/0": "/dev/null", "/proc/100/fd/7": "socket:[11]", "/proc/100/fd/8": "socket:[15]", "/proc/100/fd/9": "socket:[999]",
		"/proc/101/fd/3": "socket:[16]", "/proc/102/fd/3": "socket:[16]", "/proc/103/fd/3": "socket:[16]", "/proc/103/fd/4": "socket:[bad", "/proc/self/fd/1": "socket:[12]",
	} {
		at := filepath.Join(root, link)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	want := []retake.Trait{
		{Kind: retake.FactPort, Name: "tcp 22"},
		{Kind: retake.FactPort, Name: "tcp 80", Value: "caddy, nginx"},
		{Kind: retake.FactPort, Name: "tcp 3000", Value: "node"},
		{Kind: retake.FactPort, Name: "udp 53"},
	}
	if diff := cmp.Diff(want, hostprobe.Ports(t.Context(), hostprobe.Options{Root: root, Limit: long})); diff != "" {
		t.Error(diff)
	}
}

// A port belongs to a workspace when its program works there, lies there, or was started by
// one of its agents.
func TestPortsThatBelongToAWorkspace(t *testing.T) {
	t.Parallel()
	const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	table, files := head, map[string]string{"/proc/7/stat": "7 (agent) S 1 7 7", "/proc/8/stat": "8 (a) (b) ) S 7 8 8"}
	for i, pid := range []int{101, 102, 103, 104, 105} {
		table += row(fmt.Sprintf("0100007F:%04X", pid), "0A", 10+i)
		files[fmt.Sprintf("/proc/%d/comm", pid)] = "node\n"
		files[fmt.Sprintf("/proc/%d/stat", pid)] = fmt.Sprintf("%d (node) S 1 1 1", pid)
	}
	files["/proc/net/tcp"], files["/proc/103/stat"] = table, "103 (node) S 8 1 1"
	root := machine(t, files)
	for link, to := range map[string]string{
		"/proc/101/cwd": "/srv/shop/api", "/proc/102/exe": "/srv/shop/bin/api", "/proc/103/cwd": "/", "/proc/104/cwd": "/srv/shopping",
		"/proc/101/fd/3": "socket:[10]", "/proc/102/fd/3": "socket:[11]", "/proc/103/fd/3": "socket:[12]", "/proc/104/fd/3": "socket:[13]",
	} {
		at := filepath.Join(root, link)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	var own []string
	for _, p := range hostprobe.Ports(t.Context(), hostprobe.Options{Root: root, WorkspaceRoot: "/srv/shop", AgentPIDs: []int{7}, Limit: long}) {
		if p.Direct {
			own = append(own, p.Name)
		}
	}
	if diff := cmp.Diff([]string{"tcp 101", "tcp 102", "tcp 103"}, own); diff != "" {
		t.Error(diff)
	}
	for _, p := range hostprobe.Ports(t.Context(), hostprobe.Options{Root: root, AgentPIDs: []int{7}, Limit: long}) {
		if p.Direct {
			t.Errorf("%+v belongs to no workspace", p)
		}
	}
}

func TestARealListenerIsSeen(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("tcp %d", l.Addr().(*net.TCPAddr).Port)
	comm, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	want := retake.Trait{Kind: retake.FactPort, Name: name, Value: strings.TrimSpace(string(comm))}
	o := hostprobe.Options{Root: "/", Limit: long}
	if got := hostprobe.Ports(t.Context(), o); !slices.Contains(got, want) {
		t.Errorf("%+v is not among %+v", want, got)
	}
	l.Close()
	if got := hostprobe.Ports(t.Context(), o); slices.Contains(got, want) {
		t.Errorf("%+v is there after its end", want)
	}
}
