package g28

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

const (
	workspaces  = 6
	checkpoints = 50 // of each
	dirs        = 3
	filesPerDir = 4
)

// version is the text of one file, and the pack that holds it.
type version struct {
	text string
	pack string // "": not written yet
}

// oracle knows every byte that a store holds.
type oracle struct {
	dir   string
	ids   []retake.WorkspaceID
	state map[retake.WorkspaceID][]map[string]*version // by number from 1, path to text
}

func options(dir, locks string) kopia.Options {
	return kopia.Options{Dir: dir, FS: fsx.OS(), Locks: fsx.NewLocks(locks), Clock: clock.Wall, Exclusive: true, Derivation: harness.Derivation}
}

// fill writes the store and its oracle.
func fill(r *harness.Run) (*oracle, error) {
	o := &oracle{dir: r.Scratch("store"), state: map[retake.WorkspaceID][]map[string]*version{}}
	ctx, rnd := context.Background(), rand.New(rand.NewSource(r.Seed))
	s, err := kopia.Create(ctx, options(o.dir, r.Scratch("locks")))
	if err != nil {
		return nil, err
	}
	for range workspaces {
		o.ids = append(o.ids, retake.WorkspaceID(retake.WorkspacePrefix+uuid.NewString()))
	}
	known := map[string]bool{}
	for n := range checkpoints {
		for _, ws := range o.ids {
			now := o.next(ws, n, rnd)
			if err = seal(ctx, s, ws, now); err == nil {
				err = o.findPack(now, known)
			}
			if err != nil {
				return nil, errors.Join(err, s.Close())
			}
		}
	}
	return o, errors.Join(s.Maintain(ctx), s.Close())
}

// next makes the next state of a workspace: three files change.
func (o *oracle) next(ws retake.WorkspaceID, n int, rnd *rand.Rand) map[string]*version {
	now := map[string]*version{}
	for d := range dirs {
		for f := range filesPerDir {
			path := fmt.Sprintf("d%d/f%d", d, f)
			if n > 0 && rnd.Intn(filesPerDir) > 0 {
				now[path] = o.state[ws][n-1][path]
				continue
			}
			now[path] = &version{text: fmt.Sprintf("%s %d %s %s", ws, n, path, strings.Repeat(fmt.Sprint(rnd.Int63()), 1+rnd.Intn(40)))}
		}
	}
	o.state[ws] = append(o.state[ws], now)
	return now
}

// findPack notes the pack that the newest save wrote.
func (o *oracle) findPack(now map[string]*version, known map[string]bool) error {
	all, err := os.ReadDir(filepath.Join(o.dir, "blobs"))
	if err != nil {
		return err
	}
	pack := ""
	for _, e := range all {
		if strings.HasPrefix(e.Name(), "p") && !known[e.Name()] {
			known[e.Name()], pack = true, e.Name()
		}
	}
	for _, v := range now {
		if v.pack == "" {
			v.pack = pack
		}
	}
	return nil
}

// seal writes one state as a checkpoint.
func seal(ctx context.Context, s store.Store, ws retake.WorkspaceID, now map[string]*version) error {
	w, err := s.Begin(ctx, retake.Workspace{ID: ws, Name: "w", Root: "/w"})
	if err != nil {
		return err
	}
	defer w.Close() //nolint:errcheck // sealed, or reported
	files, err := writeFiles(ctx, w, now)
	if err != nil {
		return err
	}
	cp := retake.Checkpoint{ID: retake.CheckpointID(retake.CheckpointPrefix + uuid.NewString()), Workspace: ws, Number: w.Head().Latest + 1, Tree: files.Object}
	return w.Seal(ctx, store.SealRequest{Card: retake.Card{V: retake.CardVersion, Checkpoint: cp}, Files: files})
}

// writeFiles writes a state and returns its root.
func writeFiles(ctx context.Context, w store.Writer, now map[string]*version) (retake.Entry, error) {
	var top []retake.Entry
	for d := range dirs {
		var in []retake.Entry
		for f := range filesPerDir {
			name := fmt.Sprintf("f%d", f)
			id, n, err := w.WriteFile(ctx, name, strings.NewReader(now[fmt.Sprintf("d%d/%s", d, name)].text))
			if err != nil {
				return retake.Entry{}, err
			}
			in = append(in, retake.Entry{Name: name, Kind: retake.KindFile, Mode: 0o644, Size: n, Object: id})
		}
		id, sum, err := w.WriteDir(ctx, in, 1)
		if err != nil {
			return retake.Entry{}, err
		}
		top = append(top, retake.Entry{Name: fmt.Sprintf("d%d", d), Kind: retake.KindDir, Mode: 0o755, Object: id, Sum: sum})
	}
	id, sum, err := w.WriteDir(ctx, top, 1)
	return retake.Entry{Kind: retake.KindDir, Mode: 0o755, Object: id, Sum: sum}, err
}

// reader reads checkpoints of one store, each object once.
type reader struct {
	s     store.Store
	texts map[retake.ObjectID]string
	lists map[retake.ObjectID][]retake.Entry
	bad   map[retake.ObjectID]error
}

func newReader(s store.Store) *reader {
	return &reader{s, map[retake.ObjectID]string{}, map[retake.ObjectID][]retake.Entry{}, map[retake.ObjectID]error{}}
}

var errWrong = errors.New("wrong bytes")

// check reads a checkpoint and compares every byte.
func (r *reader) check(ctx context.Context, ws retake.WorkspaceID, number int64, want map[string]*version) error {
	rec, err := r.s.Record(ctx, ws, number)
	if err != nil {
		return err
	}
	got := map[string]string{}
	if err := r.walk(ctx, "", rec.Files.Object, got); err != nil {
		return err
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d files instead of %d: %w", len(got), len(want), errWrong)
	}
	for path, v := range want {
		if got[path] != v.text {
			return fmt.Errorf("%s: %w", path, errWrong)
		}
	}
	return nil
}

func (r *reader) walk(ctx context.Context, dir string, id retake.ObjectID, got map[string]string) error {
	if err := r.bad[id]; err != nil {
		return err
	}
	list, ok := r.lists[id]
	if !ok {
		var err error
		if list, err = r.s.Dir(ctx, id); err != nil {
			r.bad[id] = err
			return err
		}
		r.lists[id] = list
	}
	for _, e := range list {
		path := filepath.Join(dir, e.Name)
		if e.Kind == retake.KindDir {
			if err := r.walk(ctx, path, e.Object, got); err != nil {
				return err
			}
			continue
		}
		text, err := r.text(ctx, e.Object)
		if err != nil {
			return err
		}
		got[path] = text
	}
	return nil
}

func (r *reader) text(ctx context.Context, id retake.ObjectID) (string, error) {
	if err := r.bad[id]; err != nil {
		return "", err
	}
	if text, ok := r.texts[id]; ok {
		return text, nil
	}
	f, err := r.s.File(ctx, id)
	if err == nil {
		var b []byte
		if b, err = io.ReadAll(f); err == nil {
			r.texts[id] = string(b)
		}
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		r.bad[id] = err
	}
	return r.texts[id], err
}
