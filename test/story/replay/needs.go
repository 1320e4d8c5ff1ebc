package replay

import (
	"context"
	"fmt"
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

// asks are small downloads that tell, by the same words, whether there is somewhere to
// download from.
var asks = map[string][]string{
	"apt": {"apt-get", "-qq", "download", "hostname"},
	"npm": {"npm", "view", "is-number@7.0.0", "version"},
	"go":  {"go", "mod", "download", "github.com/google/uuid@v1.6.0"},
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
		if asks[n] != nil && !answers(n) {
			return fmt.Sprintf("%s has nowhere to download from", n)
		}
	}
	return ""
}

var asked sync.Map // word to func() bool: each is asked once

func answers(word string) bool {
	ask, _ := asked.LoadOrStore(word, sync.OnceValue(func() bool {
		dir, err := os.MkdirTemp("", "retake-ask-")
		if err != nil {
			return false
		}
		defer os.RemoveAll(dir) //nolint:errcheck // scratch
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		c := exec.CommandContext(ctx, asks[word][0], asks[word][1:]...)
		c.Dir = dir
		return c.Run() == nil
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
