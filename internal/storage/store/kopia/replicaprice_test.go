package kopia_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/internal/storage/store/replica"
	"github.com/retake-dev/retake/internal/storage/store/replica/places"
)

// bigTree is a tree of which a save writes only what changed.
type bigTree struct {
	ws   retake.Workspace
	rnd  *rand.Rand
	dirs [][]retake.Entry
	ids  []retake.Entry
}

func newBigTree(ctx context.Context, s store.Store, dirs, files int) (*bigTree, error) {
	b := &bigTree{
		ws:  retake.Workspace{ID: retake.WorkspaceID(retake.WorkspacePrefix + uuid.NewString()), Name: "w", Root: "/w"},
		rnd: rand.New(rand.NewPCG(1, 1)), dirs: make([][]retake.Entry, dirs), ids: make([]retake.Entry, dirs),
	}
	for d := range b.dirs {
		b.dirs[d] = make([]retake.Entry, files)
	}
	return b, b.save(ctx, s, dirs*files)
}

// save changes files, of which each is in another directory as far as there are enough, and seals.
func (b *bigTree) save(ctx context.Context, s store.Store, files int) error {
	w, err := s.Begin(ctx, b.ws)
	if err != nil {
		return err
	}
	defer w.Close() // sealed, or reported
	changed := map[int]bool{}
	for i := range files {
		d, f := i%len(b.dirs), i/len(b.dirs)
		if files < len(b.dirs) {
			d, f = b.rnd.IntN(len(b.dirs)), b.rnd.IntN(len(b.dirs[0]))
		}
		text := make([]byte, 1024)
		for j := range text {
			text[j] = byte(b.rnd.Uint32())
		}
		id, size, err := w.WriteFile(ctx, "f", strings.NewReader(string(text)))
		if err != nil {
			return err
		}
		b.dirs[d][f] = retake.Entry{Name: fmt.Sprintf("file-%d.go", f), Kind: retake.KindFile, Mode: 0o644, Size: size, Object: id}
		changed[d] = true
	}
	for d := range changed {
		id, sum, err := w.WriteDir(ctx, b.dirs[d], 1)
		if err != nil {
			return err
		}
		b.ids[d] = retake.Entry{Name: fmt.Sprintf("dir-%d", d), Kind: retake.KindDir, Mode: 0o755, Object: id, Sum: sum}
	}
	root, sum, err := w.WriteDir(ctx, slices.Clone(b.ids), 1)
	if err != nil {
		return err
	}
	cp := retake.Checkpoint{ID: retake.CheckpointID(retake.CheckpointPrefix + uuid.NewString()), Workspace: b.ws.ID, Number: w.Head().Latest + 1, Tree: root}
	return w.Seal(ctx, store.SealRequest{Card: retake.Card{V: retake.CardVersion, Checkpoint: cp}, Files: retake.Entry{Kind: retake.KindDir, Object: root, Sum: sum}})
}

// countedPlace counts, and waits before every put.
type countedPlace struct {
	replica.Place
	mu    sync.Mutex
	delay time.Duration
	puts  int
	bytes int64
}

func (c *countedPlace) Put(ctx context.Context, name string, data []byte) error {
	c.mu.Lock()
	c.puts++
	c.bytes += int64(len(data))
	delay := c.delay
	c.mu.Unlock()
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return c.Place.Put(ctx, name, data)
}

// What an upload takes: puts and bytes for a group of saves, of a tree with 20,000 files of which ten change.
func TestPriceOfAnUpload(t *testing.T) {
	saves, dirs, files := 40, 20, 20
	if n, err := strconv.Atoi(os.Getenv("SAVES")); err == nil {
		saves, dirs, files = n, 200, 100
	}
	for _, group := range []int{1, 5, 20} {
		s, err := kopia.Create(t.Context(), kopia.Options{Dir: t.TempDir(), FS: fsx.OS(), Locks: fsx.NewLocks(t.TempDir()), Clock: clock.Wall, Exclusive: true, Derivation: derivation})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		tree, err := newBigTree(t.Context(), s, dirs, files)
		if err != nil {
			t.Fatal(err)
		}
		dir, err := places.OpenDir(fsx.OS(), t.TempDir(), clock.Wall.Now)
		if err != nil {
			t.Fatal(err)
		}
		p := &countedPlace{Place: dir}
		r := replica.New(replica.Options{Source: kopia.NewReplicaSource(s), Place: p, Clock: clock.Wall, Writer: "here"})
		defer r.Close(t.Context())
		sync := func() {
			if _, err := r.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		size := func() int64 {
			n, err := s.Size(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		began := time.Now()
		sync()
		t.Logf("first upload: %d MB of %d MB in %d puts, %v", p.bytes>>20, size()>>20, p.puts, time.Since(began).Round(time.Millisecond))
		p.puts, p.bytes = 0, 0
		before := size()
		var syncing time.Duration
		for n := range saves {
			if err := tree.save(t.Context(), s, 10); err != nil {
				t.Fatal(err)
			}
			if n%group == group-1 {
				began := time.Now()
				sync()
				syncing += time.Since(began)
			}
		}
		groups := saves / group
		grown := size() - before
		puts, bytes := float64(p.puts)/float64(groups), float64(p.bytes)/float64(grown)
		t.Logf("groups of %d: %.2f puts a group, %.2f times the bytes that the store grew by, %v a group", group, puts, bytes, (syncing / time.Duration(groups)).Round(10*time.Microsecond))
		if puts > 2.5 {
			t.Errorf("%.2f puts a group", puts)
		}
	}
}

// memoryPlace is a place that takes nothing from the disk on which the store is, as one elsewhere.
type memoryPlace struct {
	replica.Place
	mu      sync.Mutex
	objects map[string][]byte
}

func (m *memoryPlace) Put(_ context.Context, name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.objects[name]; ok {
		return replica.ErrExists
	}
	m.objects[name] = slices.Clone(data)
	return nil
}

func (m *memoryPlace) Get(_ context.Context, name string, offset, length int64) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.objects[name]
	if !ok {
		return nil, replica.ErrMissing
	}
	if length < 0 {
		length = int64(len(data)) - offset
	}
	return data[offset : offset+length], nil
}

func (m *memoryPlace) List(_ context.Context, prefix string) ([]replica.Object, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []replica.Object
	for name, data := range m.objects {
		if strings.HasPrefix(name, prefix) {
			out = append(out, replica.Object{Name: name, Size: int64(len(data))})
		}
	}
	slices.SortFunc(out, func(a, b replica.Object) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func (m *memoryPlace) Delete(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, name)
	return nil
}

// deadPlace never answers.
type deadPlace struct{ replica.Place }

func (deadPlace) Put(ctx context.Context, _ string, _ []byte) error {
	<-ctx.Done()
	return ctx.Err()
}

// What a save takes beside an upload that is quick, slow, or hangs: the four take turns in one run.
func TestSavesBesideUploads(t *testing.T) {
	rounds, err := strconv.Atoi(os.Getenv("SAVES"))
	if err != nil {
		rounds = 1
	}
	s, err := kopia.Create(t.Context(), kopia.Options{Dir: t.TempDir(), FS: fsx.OS(), Locks: fsx.NewLocks(t.TempDir()), Clock: clock.Wall, Exclusive: true, Derivation: derivation})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tree, err := newBigTree(t.Context(), s, 50, 20)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"none", "quick", "slow", "dead"}
	beside := map[string]*replica.Replica{}
	for _, name := range names[1:] {
		m := &memoryPlace{objects: map[string][]byte{}}
		var p replica.Place = &countedPlace{Place: m, delay: map[string]time.Duration{"slow": 300 * time.Millisecond}[name]}
		if name == "dead" {
			p = deadPlace{m}
		}
		beside[name] = replica.New(replica.Options{Source: kopia.NewReplicaSource(s), Place: p, Clock: clock.Wall, Writer: "here"})
	}
	took := map[string][]time.Duration{}
	for range rounds {
		for _, name := range names {
			ctx, stop := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			if r := beside[name]; r != nil {
				wg.Go(func() {
					for ctx.Err() == nil {
						_, _ = r.Sync(ctx) // it may be cut off
						select {
						case <-time.After(time.Second):
						case <-ctx.Done():
						}
					}
				})
			}
			for range 8 {
				began := time.Now()
				if err := tree.save(t.Context(), s, 10); err != nil {
					t.Fatal(err)
				}
				took[name] = append(took[name], time.Since(began))
				<-time.After(50 * time.Millisecond) // an agent thinks, too
			}
			stop()
			wg.Wait()
		}
	}
	for _, name := range names {
		slices.Sort(took[name])
		slices.Sort(took["none"])
		mid := len(took[name]) / 2
		t.Logf("%-5s  median %v, p95 %v: %.2f times of none", name, took[name][mid].Round(10*time.Microsecond), took[name][len(took[name])*95/100].Round(10*time.Microsecond),
			float64(took[name][mid])/float64(took["none"][mid]))
	}
}
