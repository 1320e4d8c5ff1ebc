//go:build linux

package treebed

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

// Shop is a service and, beside it, a second view of its store for reading whole
// trees: by path the service would begin at the root for each name.
type Shop struct {
	place *Place
	Data  string
	kdf   string
	opts  assemble.Options
	Svc   *service.Service
	St    *kopia.Store
	sums  map[retake.ObjectID][32]byte
}

// NewShop makes a shop in memory: how a store stands a power cut is tried elsewhere.
func NewShop(r *harness.Run, ctx context.Context, kdf string) (*Shop, error) {
	return NewShopWith(r, ctx, assemble.Options{Derivation: kdf})
}

func NewShopWith(r *harness.Run, ctx context.Context, o assemble.Options) (*Shop, error) {
	p, err := NewPlace(r, "tmpfs")
	if err != nil {
		return nil, err
	}
	s := &Shop{place: p, Data: p.Dir + "/data", kdf: o.Derivation, opts: o, sums: map[retake.ObjectID][32]byte{}}
	if err := s.Open(ctx); err != nil {
		p.End()
		return nil, err
	}
	return s, nil
}

func (s *Shop) Open(ctx context.Context) error {
	settings, err := config.Load(s.Data + "/settings.json")
	if err != nil {
		return err
	}
	s.Svc, err = assemble.OpenService(ctx, config.Config{DataDir: s.Data, Home: "/nobody", BootID: "x"}, settings, s.opts)
	return err
}

// View opens the store beside the service; there must be one.
func (s *Shop) View(ctx context.Context) (*kopia.Store, error) {
	if s.St != nil {
		return s.St, nil
	}
	var err error
	s.St, err = kopia.Open(ctx, kopia.Options{
		Dir: filepath.Join(s.Data, "store"), FS: fsx.OS(), Locks: fsx.NewLocks(filepath.Join(s.Data, "locks")), Clock: clock.Wall, Derivation: s.kdf,
	})
	return s.St, err
}

// End closes the shop and throws it away.
func (s *Shop) End() {
	_ = s.Close() // scratch
	s.place.End()
}

func (s *Shop) Close() error {
	if s.St != nil {
		if err := s.St.Close(); err != nil {
			return err
		}
		s.St = nil
	}
	return s.Svc.Close()
}

// kept is one entry of a checkpoint and the digest of its bytes.
type kept struct {
	retake.Entry
	sum [32]byte
}

// Read reads a whole checkpoint, every byte of it.
func (s *Shop) Read(ctx context.Context, cp retake.Checkpoint) (map[string]kept, error) {
	st, err := s.View(ctx)
	if err != nil {
		return nil, err
	}
	leaf, err := st.Record(ctx, cp.Workspace, cp.Number)
	if err != nil {
		return nil, err
	}
	out := map[string]kept{"": {Entry: leaf.Files}}
	return out, s.below(ctx, "", leaf.Files.Object, out)
}

func (s *Shop) below(ctx context.Context, dir string, id retake.ObjectID, out map[string]kept) error {
	entries, err := s.St.Dir(ctx, id)
	if err != nil {
		return fmt.Errorf("list %q: %w", dir, err)
	}
	for _, e := range entries {
		path := strings.TrimPrefix(dir+"/"+e.Name, "/")
		k := kept{Entry: e}
		if e.Kind == retake.KindDir {
			err = s.below(ctx, path, e.Object, out)
		} else {
			k.sum, err = s.Digest(ctx, e.Object)
		}
		if err != nil {
			return err
		}
		out[path] = k
	}
	return nil
}

func (s *Shop) Digest(ctx context.Context, id retake.ObjectID) ([32]byte, error) {
	if sum, ok := s.sums[id]; ok {
		return sum, nil
	}
	r, err := s.Svc.Bytes(ctx, id)
	if err != nil {
		return [32]byte{}, err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return [32]byte{}, err
	}
	s.sums[id] = [32]byte(h.Sum(nil))
	return s.sums[id], nil
}

// Compare tells how a checkpoint differs from the live tree. What a gap of an
// allowed reason names is not in it, and must not be; any other gap is a difference.
func Compare(live map[string]Living, got map[string]kept, gaps []retake.Gap, allowed ...retake.Reason) []string {
	var out []string
	say := func(path, format string, a ...any) {
		out = append(out, fmt.Sprintf("%.200q: ", path)+fmt.Sprintf(format, a...))
	}
	hidden := func(path string) bool {
		return slices.ContainsFunc(gaps, func(g retake.Gap) bool {
			return g.Path == path || strings.HasSuffix(g.Path, "/") && strings.HasPrefix(path+"/", g.Path)
		})
	}
	for _, g := range gaps {
		if !slices.Contains(allowed, g.Reason) {
			say(g.Path, "gap %s %s", g.Reason, g.Detail)
		}
	}
	for path, l := range live {
		k, ok := got[path]
		switch {
		case !ok && hidden(path):
		case !ok:
			say(path, "is not in the checkpoint")
		default:
			compareEntry(&l, &k, func(format string, a ...any) { say(path, format, a...) })
		}
	}
	for path := range got {
		if _, ok := live[path]; !ok {
			say(path, "is in the checkpoint and not there")
		}
	}
	return append(out, compareGroups(live, got)...)
}

func compareEntry(l *Living, k *kept, say func(string, ...any)) {
	if l.Kind != k.Kind {
		say("kind %s, stored %s", l.Kind, k.Kind)
	}
	if l.Mode != k.Mode || l.Uid != k.UID || l.Gid != k.GID {
		say("mode and owner %o %d %d, stored %o %d %d", l.Mode, l.Uid, l.Gid, k.Mode, k.UID, k.GID)
	}
	if l.Mtime != k.ModTime {
		say("time %d, stored %d", l.Mtime, k.ModTime)
	}
	if l.Kind != retake.KindDir && (l.Sum != k.sum || l.Size != k.Size) {
		say("bytes differ: %d long, stored %d", l.Size, k.Size)
	}
	compareExtra(l, k, say)
}

func compareExtra(l *Living, k *kept, say func(string, ...any)) {
	var x retake.Extra
	if k.Extra != nil {
		x = *k.Extra
	}
	if len(l.Xattrs) != len(x.Xattrs) {
		say("%d attributes, stored %d", len(l.Xattrs), len(x.Xattrs))
	}
	for name, v := range l.Xattrs {
		if string(x.Xattrs[name]) != v {
			say("attribute %s differs", name)
		}
	}
	// Small files are not worth their holes.
	if !slices.Equal(l.Holes, x.Holes) && (l.Size >= 64<<10 || len(x.Holes) > 0) {
		say("holes %v, stored %v", l.Holes, x.Holes)
	}
}

// compareGroups holds the partition into hard links against the one by inode.
func compareGroups(live map[string]Living, got map[string]kept) []string {
	byInode, byGroup := map[[2]uint64][]string{}, map[string][]string{}
	for path, l := range live {
		if _, ok := got[path]; ok && l.Kind == retake.KindFile {
			byInode[l.Inode] = append(byInode[l.Inode], path)
		}
	}
	for path, k := range got {
		if k.Extra != nil && k.Extra.Group != "" {
			byGroup[k.Extra.Group] = append(byGroup[k.Extra.Group], path)
		}
	}
	a, b := map[string]bool{}, map[string]bool{}
	for _, paths := range byInode {
		if len(paths) > 1 {
			slices.Sort(paths)
			a[strings.Join(paths, "\x00")] = true
		}
	}
	for _, paths := range byGroup {
		slices.Sort(paths)
		b[strings.Join(paths, "\x00")] = true
	}
	var out []string
	for g := range a {
		if !b[g] {
			out = append(out, fmt.Sprintf("%.200q: hard links are not stored as such", g))
		}
	}
	for g := range b {
		if !a[g] {
			out = append(out, fmt.Sprintf("%.200q: stored as hard links and are none", g))
		}
	}
	return out
}

// ByService reads some paths as a face does, by List and Open, and holds them
// against what was read by address.
func (s *Shop) ByService(ctx context.Context, cp retake.Checkpoint, got map[string]kept, most int) []string {
	var out []string
	ref := strconv.FormatInt(cp.Number, 10)
	for path, k := range got {
		if most--; most < 0 {
			break
		}
		if k.Kind == retake.KindDir {
			list, err := s.Svc.List(ctx, cp.Workspace, ref, path)
			if err != nil {
				out = append(out, fmt.Sprintf("list %.200q: %v", path, err))
			}
			for _, e := range list {
				if want := got[strings.TrimPrefix(path+"/"+e.Name, "/")]; want.Object != e.Object {
					out = append(out, fmt.Sprintf("list %.200q: %q is another object", path, e.Name))
				}
			}
			continue
		}
		r, _, err := s.Svc.Open(ctx, cp.Workspace, ref, path)
		if err != nil {
			out = append(out, fmt.Sprintf("open %.200q: %v", path, err))
			continue
		}
		h := sha256.New()
		if _, err := io.Copy(h, r); err != nil || [32]byte(h.Sum(nil)) != k.sum {
			out = append(out, fmt.Sprintf("open %.200q: other bytes: %v", path, err))
		}
		_ = r.Close() // nothing was written
	}
	return out
}
