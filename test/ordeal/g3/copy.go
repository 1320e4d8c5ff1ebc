//go:build linux

package g3

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() { harness.Children["g3-copy"] = copyChild }

// copyChild is how one goes back without care: what is not wanted is removed, then
// every path is removed and copied. It is killed before its nth step.
func copyChild(args []string) int {
	at, err := strconv.Atoi(args[2])
	if err == nil {
		err = copyOver(args[0], args[1], at)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func copyOver(from, to string, at int) error {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	step := func() {
		if at--; at == 0 {
			_ = self.Kill()
			select {}
		}
	}
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		rel := strings.TrimPrefix(path, from)
		if err != nil || rel == "" {
			return err
		}
		step()
		if d.IsDir() {
			if i, err := os.Lstat(to + rel); err == nil && i.IsDir() {
				return nil
			}
		}
		if err := os.RemoveAll(to + rel); err != nil {
			return err
		}
		step()
		if d.IsDir() {
			return os.Mkdir(to+rel, 0o755)
		}
		return exec.Command("cp", "-a", path, to+rel).Run()
	})
}
