//go:build linux

package g8

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/retake-dev/retake/test/ordeal/harness"
)

const kopiaModule = "github.com/kopia/kopia"

// stockKopia answers the path of a stock program: the one on the PATH, else one
// that is built here once from the unpacked sources of the module, without our tags.
var stockKopia = sync.OnceValues(func() (string, error) {
	if p, err := exec.LookPath("kopia"); err == nil {
		return p, nil
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return "", fmt.Errorf("find the cache: %w", err)
	}
	from, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", kopiaModule).Output()
	if err != nil {
		return "", fmt.Errorf("find %s: %w", kopiaModule, err)
	}
	src := strings.TrimSpace(string(from))
	home := filepath.Join(filepath.Dir(strings.TrimSpace(string(cache))), "retake-ordeal")
	out := filepath.Join(home, filepath.Base(src), "kopia")
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	return out, buildKopia(src, home, out)
})

func buildKopia(src, home, out string) error {
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(home, "src-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // scratch
	if err := os.CopyFS(tmp+"/k", os.DirFS(src)); err != nil {
		return fmt.Errorf("copy %s: %w", src, err)
	}
	c := exec.Command("go", "build", "-o", out+".new", ".")
	c.Dir = tmp + "/k"
	c.Env = append(c.Environ(), "GOFLAGS=-mod=mod -buildvcs=false", "GOWORK=off")
	if b, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("build kopia: %w: %.2000s", err, b)
	}
	return os.Rename(out+".new", out)
}

// stockTool is a stock program that is connected to the repository of a shop.
type stockTool struct {
	bin, config, password string
}

func connectStock(r *harness.Run, data string) (*stockTool, error) {
	bin, err := stockKopia()
	if err != nil {
		return nil, err
	}
	word, err := os.ReadFile(data + "/store/password")
	if err != nil {
		return nil, err
	}
	dir := r.Scratch("kopia")
	k := &stockTool{bin: bin, config: dir + "/config", password: strings.TrimSpace(string(word))}
	_, err = k.do("repository", "connect", "filesystem", "--path", data+"/store/blobs", "--cache-directory", dir+"/cache", "--no-check-for-updates")
	return k, err
}

// do runs the program and answers what it prints.
func (k *stockTool) do(args ...string) ([]byte, error) {
	c := exec.Command(k.bin, append(args, "--config-file", k.config, "--no-progress", "--log-dir", filepath.Dir(k.config)+"/logs")...)
	c.Env = append(c.Environ(), "KOPIA_CHECK_FOR_UPDATES=false", "KOPIA_PASSWORD="+k.password)
	out, err := c.Output()
	if err != nil {
		var x *exec.ExitError
		if errors.As(err, &x) {
			err = fmt.Errorf("%w: %.1000s", err, x.Stderr)
		}
		return out, fmt.Errorf("kopia %s %s: %w", args[0], args[min(1, len(args)-1)], err)
	}
	return out, nil
}

// stockSnapshot is what the program tells of a snapshot.
type stockSnapshot struct {
	ID     string `json:"id"`
	Source struct {
		User string `json:"userName"`
		Path string `json:"path"`
	} `json:"source"`
	Root struct {
		Object string `json:"obj"`
	} `json:"rootEntry"`
	Tags map[string]string `json:"tags"`
}

// snapshots lets the program scan directories by itself, answers the root of
// each, and removes the snapshots again.
func (k *stockTool) snapshots(roots []string) (map[string]string, error) {
	out, err := k.do(append([]string{"snapshot", "create", "--json"}, roots...)...)
	if err != nil {
		return nil, err
	}
	ids := []string{"snapshot", "delete", "--delete"}
	got := map[string]string{}
	d := json.NewDecoder(strings.NewReader(string(out)))
	for d.More() {
		var s stockSnapshot
		if err := d.Decode(&s); err != nil {
			return nil, fmt.Errorf("read the answer of kopia: %w", err)
		}
		got[s.Source.Path] = s.Root.Object
		ids = append(ids, s.ID)
	}
	_, err = k.do(ids...)
	return got, err
}
