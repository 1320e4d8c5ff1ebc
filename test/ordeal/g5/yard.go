//go:build linux

package g5

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/restore"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
)

// plots is how many of each kind of contested path there are.
const plots = 3

// yard is a root with all that lies around it: what is outside and must stay as it
// is, and a decoy that changes places with the root.
type yard struct {
	dir    string
	states [2]map[string]string // the root in two checkpoints: path to what is there
	plans  [2]retake.Plan       // from either to the other
	stored *memorytest.Store
	canary string // all that lies outside, before
	foes   *foes
	tale   raided
}

func (y *yard) at(name string) string { return y.dir + "/" + name }

// newYard makes the yard, and plans that lead from one state of the root to the other.
func newYard(o raid) (*yard, error) {
	syscall.Umask(0)
	y := &yard{dir: o.Dir, stored: memorytest.New(), tale: raided{Swaps: map[string]int64{}}}
	for _, d := range []string{"root", "outside", "decoy", "hold", "home", "home/index", "home/returns"} {
		if err := os.Mkdir(y.at(d), 0o755); err != nil {
			return nil, err
		}
	}
	y.states = [2]map[string]string{rootState(0), rootState(1)}
	if err := y.plan(); err != nil {
		return nil, fmt.Errorf("make plans: %w", err)
	}
	return y, y.plant()
}

func (y *yard) close() {
	if y.foes != nil {
		y.foes.end()
	}
}

// rootState is what the root holds: "mode text" of a file, "mode" of a directory.
// Whatever differs between the two states is written, made, dressed or deleted.
func rootState(n int) map[string]string {
	out := map[string]string{}
	text := func(path string) string { return fmt.Sprintf("644 %s in state %d\n", path, n) }
	for k := range plots {
		for _, dir := range []string{"d", "m"} {
			at := fmt.Sprintf("%s%d", dir, k)
			out[at] = []string{"755", "750"}[n]
			out[at+"/sub"] = "755"
			for _, file := range []string{"a", "b", "sub/c"} {
				out[at+"/"+file] = text(file)
			}
			out[at+"/mode"] = []string{"644 same\n", "600 same\n"}[n]
			out[fmt.Sprintf("%s/only%d", at, n)] = text("only")
			out[fmt.Sprintf("%s/dir%d", at, n)] = "755"
		}
		for _, file := range []string{"f", "h", "p", "s"} {
			out[fmt.Sprintf("%s%d", file, k)] = text(file)
		}
		out[fmt.Sprintf("w%d", k)] = []string{"644 same\n", "600 same\n"}[n]
	}
	return out
}

// old is long enough ago that a time which is put there shows.
var old = time.Unix(1_400_000_000, 0)

// lay makes a tree below a directory that is there.
func lay(at string, tree map[string]string) error {
	paths := make([]string, 0, len(tree))
	for p := range tree {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for _, p := range paths {
		mode, text, file := strings.Cut(tree[p], " ")
		var bits fs.FileMode
		_, err := fmt.Sscanf(mode, "%o", &bits)
		if err == nil && file {
			err = os.WriteFile(at+"/"+p, []byte(text), bits)
		} else if err == nil {
			err = os.Mkdir(at+"/"+p, bits)
		}
		if err != nil {
			return err
		}
	}
	for _, p := range slices.Backward(paths) { // what lies in a directory moves its time
		if err := os.Chtimes(at+"/"+p, old, old); err != nil {
			return err
		}
	}
	return os.Chtimes(at, old, old)
}

// clear empties a directory. Nobody may be at work.
func clearDir(at string) error {
	list, err := os.ReadDir(at)
	for _, e := range list {
		err = errors.Join(err, os.RemoveAll(at+"/"+e.Name()))
	}
	return err
}

// plan records both states in a store in memory, and plans the ways between them.
func (y *yard) plan() error {
	ctx := context.Background()
	cat, err := sqlite.Open(ctx, y.at("home/catalog.db"), "local", sqlite.Options{})
	if err != nil {
		return err
	}
	s := service.New(service.Parts{
		Parts: workspace.Parts{
			Catalog: cat, OpenStore: func(context.Context, bool) (store.Store, error) { return y.stored, nil },
			FS: fsx.OS(), IndexDir: y.at("home/index"), DataDir: y.at("home"), RestoreDir: y.at("home/returns"), Locks: fsx.NewMemoryLocks(),
			Clock: clock.Wall, BootID: "this run", HomeDir: "/nobody", LockWait: time.Minute,
			Policy: func(retake.WorkspaceID) retake.Policy { return retake.Policy{} }, MinFree: func(int64) int64 { return 0 },
		},
	})
	defer s.Close() //nolint:errcheck // scratch
	if err := lay(y.at("root"), y.states[0]); err != nil {
		return err
	}
	res, err := s.Init(ctx, retake.InitRequest{Dir: y.at("root")})
	if err != nil {
		return err
	}
	if err := errors.Join(clearDir(y.at("root")), lay(y.at("root"), y.states[1])); err != nil {
		return err
	}
	if _, err := s.Save(ctx, retake.SaveRequest{Workspace: res.Workspace.ID}); err != nil {
		return err
	}
	return y.ways(ctx, res.Workspace.ID)
}

// ways makes the plans from either checkpoint to the other.
func (y *yard) ways(ctx context.Context, ws retake.WorkspaceID) error {
	var files [2]retake.Entry
	for i := range files {
		leaf, err := y.stored.Record(ctx, ws, int64(i+1))
		if err != nil {
			return err
		}
		files[i] = leaf.Files
	}
	for i := range y.plans {
		var err error
		y.plans[i], err = restore.MakePlan(ctx, restore.Request{Course: retake.CourseRestore, Trees: y.stored, Now: files[i], Want: files[1-i], FileCount: 1})
		if err != nil {
			return err
		}
	}
	return nil
}

// plant makes what lies outside: the names of the root, all of them, with other bytes.
func (y *yard) plant() error {
	outside := map[string]string{}
	for _, state := range y.states {
		for p, what := range state {
			if mode, _, file := strings.Cut(what, " "); file {
				outside[p] = "666 a canary lives here: " + p + "\n"
			} else {
				outside[p] = mode
			}
		}
	}
	for _, d := range []string{"outside", "decoy"} {
		if err := errors.Join(clearDir(y.at(d)), lay(y.at(d), outside)); err != nil {
			return err
		}
	}
	var err error
	y.canary, err = y.hash()
	return err
}

// rearrange gives the root a state, with the things beside it that the adversaries
// exchange. They rest meanwhile.
func (y *yard) rearrange(state int) error {
	root := y.at("root")
	err := errors.Join(clearDir(y.at("hold")), clearDir(root), lay(root, y.states[state]))
	for k := range plots {
		at := func(kind string) string { return fmt.Sprintf("%s/%s%d.alt", root, kind, k) }
		far := func(kind string) string { return fmt.Sprintf("%s%d", y.at("outside/"+kind), k) }
		err = errors.Join(err, os.Symlink(far("d"), at("d")), os.Symlink(far("f"), at("f")), os.Link(far("h"), at("h")), os.Link(far("w"), at("w")),
			unix.Mkfifo(at("p"), 0o644), unix.Mknod(at("s"), unix.S_IFSOCK|0o644, 0))
	}
	return errors.Join(err, os.Chtimes(root, old, old))
}

// hash is every path outside with its type, mode, owner, time and bytes, one per line.
func (y *yard) hash() (string, error) {
	var out strings.Builder
	for _, d := range []string{"outside", "decoy"} {
		err := filepath.WalkDir(y.at(d), func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			i, err := e.Info()
			if err != nil {
				return err
			}
			st := i.Sys().(*syscall.Stat_t)
			fmt.Fprintf(&out, "%s %s %d:%d %d", path[len(y.dir):], i.Mode(), st.Uid, st.Gid, i.ModTime().UnixNano())
			if i.Mode().IsRegular() {
				b, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				fmt.Fprintf(&out, " %x", sha256.Sum256(b))
			}
			out.WriteByte('\n')
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	return out.String(), nil
}

// judge compares what lies outside with what lay there, and puts it right again.
func (y *yard) judge() error {
	now, err := y.hash()
	if err != nil || now == y.canary {
		return err
	}
	was := map[string]bool{}
	for line := range strings.Lines(y.canary) {
		was[line] = true
	}
	for line := range strings.Lines(now) {
		if !was[line] {
			y.tale.Escapes++
			if len(y.tale.Failures) < 5 {
				y.tale.Failures = append(y.tale.Failures, "changed outside: "+strings.TrimSpace(line))
			}
		}
		delete(was, line)
	}
	y.tale.Escapes += int64(len(was))
	return y.plant()
}
