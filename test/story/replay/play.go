package replay

import (
	"bytes"
	"context"
	_ "embed" // the prelude
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/retake-dev/retake"
)

//go:embed prelude.sh
var prelude string

// authorities are the roots of trust of the system; programs that bring their own are
// told to use them too.
const authorities = "/etc/ssl/certs/ca-certificates.crt"

// Between is called with the tree as it stands after a turn. Turn 0 is the tree before
// the first one; nothing was there before it.
type Between func(turn int, t Turn, before, after Walk) error

// Play makes the tree of the run in dir, which must be empty, and runs its turns one
// after the other.
func (r Run) Play(ctx context.Context, dir string, between Between) error {
	s, err := r.stage(dir)
	if err != nil {
		return err
	}
	defer s.strike()
	turns := append([]Turn{{script: r.setup}}, r.Turns...)
	before := Walk{}
	for _, t := range turns {
		if t.Facts, err = s.act(ctx, t.script); err != nil {
			return fmt.Errorf("play turn %d of %s: %w", t.Number, r.Name, err)
		}
		after, err := TakeWalk(dir)
		if err != nil {
			return fmt.Errorf("walk after turn %d of %s: %w", t.Number, r.Name, err)
		}
		t.Paths = Compare(before, after)
		if err := between(t.Number, t, before, after); err != nil {
			return err
		}
		before = after
	}
	return nil
}

// Verify runs the check of the run in dir and answers whether it passes.
func (r Run) Verify(ctx context.Context, dir string) (bool, error) {
	c := exec.CommandContext(ctx, "/bin/sh", "-c", r.Check)
	c.Dir = dir
	c.Env = []string{"PATH=" + r.path(), "HOME=" + os.TempDir(), "LANG=C.UTF-8"}
	err := c.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return false, nil
	}
	return err == nil, err
}

// stage is where one play happens.
type stage struct {
	dir, own string
	env      []string
}

func (r Run) stage(dir string) (*stage, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find root: %w", err)
	}
	own, err := os.MkdirTemp("", "retake-story-")
	if err != nil {
		return nil, fmt.Errorf("make stage: %w", err)
	}
	s := &stage{dir: dir, own: own}
	cache := filepath.Join(os.TempDir(), "retake-story-cache-"+strconv.Itoa(os.Getuid()))
	home := filepath.Join(own, "home")
	for _, d := range []string{dir, home, cache} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			s.strike()
			return nil, fmt.Errorf("make stage: %w", err)
		}
	}
	s.env = []string{
		"PATH=" + r.path(), "HOME=" + home, "TRUTH=" + s.truth(), "CACHE=" + cache, "LANG=C.UTF-8", "TZ=UTC",
		"PYTHONDONTWRITEBYTECODE=1", "SQLITE_HISTORY=/dev/null", "npm_config_cache=" + filepath.Join(cache, "npm"),
		"GOMODCACHE=" + filepath.Join(cache, "gomod"), "GOCACHE=" + filepath.Join(cache, "gobuild"),
		"GOFLAGS=-mod=mod -modcacherw", "GOTOOLCHAIN=local", "GOSUMDB=off", "GOWORK=off", "GOTELEMETRY=off",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_AUTHOR_NAME=story", "GIT_AUTHOR_EMAIL=story@localhost", "GIT_COMMITTER_NAME=story", "GIT_COMMITTER_EMAIL=story@localhost",
	}
	if _, err := os.Stat(authorities); err == nil {
		s.env = append(s.env, "NODE_EXTRA_CA_CERTS="+authorities)
	}
	return s, nil
}

func (s *stage) truth() string { return filepath.Join(s.own, "truth") }

// strike takes the stage away; what stays behind is only litter.
func (s *stage) strike() { _ = os.RemoveAll(s.own) }

// act runs one script and answers the facts that it told.
func (s *stage) act(ctx context.Context, script string) ([]retake.Fact, error) {
	file := filepath.Join(s.own, "script.sh")
	if err := os.WriteFile(file, []byte(prelude+"\n"+script), 0o600); err != nil {
		return nil, fmt.Errorf("write script: %w", err)
	}
	if err := os.WriteFile(s.truth(), nil, 0o600); err != nil {
		return nil, fmt.Errorf("write truth: %w", err)
	}
	c := exec.CommandContext(ctx, "/bin/sh", file)
	c.Dir, c.Env, c.WaitDelay = s.dir, s.env, 5*time.Second
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("run script: %w\n%s", err, out)
	}
	text, err := os.ReadFile(s.truth())
	if err != nil {
		return nil, fmt.Errorf("read truth: %w", err)
	}
	return decodeFacts(text)
}

func decodeFacts(text []byte) ([]retake.Fact, error) {
	var facts []retake.Fact
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	for {
		var f retake.Fact
		err := d.Decode(&f)
		if errors.Is(err, io.EOF) {
			return facts, nil
		}
		if err != nil {
			return nil, fmt.Errorf("decode fact %d: %w", len(facts)+1, err)
		}
		if !slices.Contains(factKinds, f.Kind) || !slices.Contains(factWhats, f.What) || f.Name == "" {
			return nil, fmt.Errorf("fact %d says %q %q of %q", len(facts)+1, f.Kind, f.What, f.Name)
		}
		facts = append(facts, f)
	}
}

// Scripts tell of the tree alone: ports and profiles lie outside.
var (
	factKinds = []retake.FactKind{
		retake.FactPackage, retake.FactEnv, retake.FactSetting, retake.FactTable, retake.FactRows, retake.FactIndex,
		retake.FactUnit, retake.FactCron, retake.FactExecutable, retake.FactMode, retake.FactSecret,
	}
	factWhats = []retake.Difference{retake.Added, retake.Deleted, retake.Edited}
)
