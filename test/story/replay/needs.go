package replay

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// tools are the programs behind each word of a run's needs.
var tools = map[string][]string{
	"apt":     {"apt-get", "dpkg"},
	"npm":     {"npm", "node"},
	"node":    {"node"},
	"go":      {"go"},
	"python3": {"python3"},
	"sqlite3": {"sqlite3"},
	"git":     {"git"},
	"root":    {},
}

// registries are where downloads come from, by the same words.
var registries = map[string]string{
	"apt": "packages.example:80",
	"npm": "packages.example:443",
	"go":  "packages.example:443",
}

// standard directories hold the programs of a usual system; others are added only for
// what a run needs and these do not have.
var standard = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// Missing says why the run cannot be played here, and nothing when it can.
func (r Run) Missing() string {
	if runtime.GOOS != "linux" {
		return "runs are played on Linux"
	}
	for _, n := range append([]string{"python3"}, r.Needs...) {
		for _, program := range tools[n] {
			if whereIs(program) == "" {
				return "there is no " + program
			}
		}
		if n == "root" && os.Getuid() != 0 {
			return "only root can"
		}
		if at := registries[n]; at != "" && !reachable(at) {
			return fmt.Sprintf("%s does not answer", at)
		}
	}
	return ""
}

var dialed sync.Map // address to func() bool: each is asked once

func reachable(address string) bool {
	ask, _ := dialed.LoadOrStore(address, sync.OnceValue(func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return false
		}
		return c.Close() == nil
	}))
	return ask.(func() bool)()
}

// whereIs answers the directory of a program.
func whereIs(program string) string {
	for _, dir := range standard {
		if info, err := os.Stat(filepath.Join(dir, program)); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return dir
		}
	}
	if at, err := exec.LookPath(program); err == nil {
		if dir, err := filepath.Abs(filepath.Dir(at)); err == nil {
			return dir
		}
	}
	return ""
}

func (r Run) path() string {
	dirs := slices.Clone(standard)
	for _, n := range append([]string{"python3"}, r.Needs...) {
		for _, program := range tools[n] {
			if dir := whereIs(program); dir != "" && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return strings.Join(dirs, string(os.PathListSeparator))
}
