package crashbed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

// treeItem is one path of a tree as the harness sees it, by itself.
type treeItem struct {
	Kind retake.Kind
	mode uint32
	sum  [sha256.Size]byte // of the bytes or of the link's text
}

// TreeFacts maps the paths of a tree to what is there.
type TreeFacts map[string]treeItem

// Digest is one value for the whole tree.
func (t TreeFacts) Digest() string {
	h := sha256.New()
	paths := make([]string, 0, len(t))
	for p := range t {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for _, p := range paths {
		fmt.Fprintf(h, "%q %s %o %x\n", p, t[p].Kind, t[p].mode, t[p].sum)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// LiveTree reads a workspace with nothing but the standard library.
func LiveTree(root string) (TreeFacts, error) {
	t := TreeFacts{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, p) // both are below root
		if err != nil || rel == "." {
			return err
		}
		if rel == ".retake" { // the mark, where attributes do not exist
			return fs.SkipDir
		}
		i, err := d.Info()
		if err != nil {
			return err
		}
		item := treeItem{mode: uint32(i.Mode().Perm())}
		switch {
		case i.Mode().IsDir():
			item.Kind = retake.KindDir
		case i.Mode()&fs.ModeSymlink != 0:
			s, err := os.Readlink(p)
			if err != nil {
				return err
			}
			item.Kind, item.sum = retake.KindSymlink, sha256.Sum256([]byte(s))
		default:
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			item.Kind, item.sum = retake.KindFile, sha256.Sum256(b)
		}
		t[rel] = item
		return nil
	})
	return t, err
}

// StoredTree reads a checkpoint back through the service.
func StoredTree(ctx context.Context, s retake.Service, ws retake.WorkspaceID, ref string) (TreeFacts, error) {
	t := TreeFacts{}
	var walk func(dir string) error
	walk = func(dir string) error {
		entries, err := s.List(ctx, ws, ref, dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			p := path.Join(dir, e.Name)
			item := treeItem{Kind: e.Kind, mode: e.Mode}
			if e.Kind == retake.KindDir {
				t[p] = item
				if err := walk(p); err != nil {
					return err
				}
				continue
			}
			r, err := s.Bytes(ctx, e.Object)
			if err != nil {
				return err
			}
			if item.sum, err = sumOf(r); err != nil {
				return fmt.Errorf("%s: %w", p, err)
			}
			t[p] = item
		}
		return nil
	}
	return t, walk("")
}

func sumOf(r io.ReadCloser) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	_, err = io.Copy(h, r)
	h.Sum(sum[:0])
	return sum, errors.Join(err, r.Close())
}

// Missing names the first path in which got differs from want, or "". What lies
// under a gap may be absent; wrong it may never be.
func (t TreeFacts) Missing(got TreeFacts, gaps []retake.Gap) string {
	for p, w := range t {
		g, ok := got[p]
		if !ok && underGap(p, gaps) {
			continue
		}
		if !ok {
			return p + " is missing"
		}
		if g != w {
			return p + " is wrong"
		}
	}
	for p := range got {
		if _, ok := t[p]; !ok {
			return p + " was never there"
		}
	}
	return ""
}

// underGap: a gap stands for what lies below it. It ends in a slash when it is
// known to be a directory; what could not even be looked at may be one.
func underGap(p string, gaps []retake.Gap) bool {
	return slices.ContainsFunc(gaps, func(g retake.Gap) bool {
		at := strings.TrimSuffix(g.Path, "/")
		return !g.Reason.Held() && (p == at || strings.HasPrefix(p, at+"/"))
	})
}

// Edit makes one deterministic step of work in a workspace: new bytes, longer and
// shorter files, a removed one, a mode, a link. Every tenth step of a seed that is
// a multiple of ten writes more than one pack.
func Edit(root string, seed, step int64) error {
	rnd := rand.New(rand.NewPCG(uint64(seed), uint64(step)))
	n := 4
	if step == 0 {
		n = 14
	}
	for range n {
		dir := filepath.Join(root, fmt.Sprintf("d%d", rnd.IntN(3)), []string{"", "deep"}[rnd.IntN(2)])
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		b := make([]byte, rnd.IntN(12_000))
		for i := range b {
			b[i] = byte(rnd.Uint32() >> (rnd.IntN(2) * 5)) // half of it packs well
		}
		p := filepath.Join(dir, fmt.Sprintf("f%d", rnd.IntN(5)))
		if err := os.WriteFile(p, b, 0o644); err != nil {
			return err
		}
		if err := os.Chmod(p, []os.FileMode{0o644, 0o600, 0o755}[rnd.IntN(3)]); err != nil {
			return err
		}
	}
	gone := filepath.Join(root, fmt.Sprintf("d%d", rnd.IntN(3)), fmt.Sprintf("f%d", rnd.IntN(5)))
	link := filepath.Join(root, "link")
	if err := errors.Join(harness.IgnoreAbsent(os.Remove(gone)), harness.IgnoreAbsent(os.Remove(link))); err != nil {
		return err
	}
	if seed%10 == 0 && step%10 == 2 {
		if err := writeNoise(filepath.Join(root, "large"), rnd, 23<<20); err != nil {
			return err
		}
	}
	return os.Symlink(fmt.Sprintf("d0/f%d of step %d", rnd.IntN(5), step), link)
}

func writeNoise(path string, rnd *rand.Rand, n int) error {
	b := make([]byte, 0, n)
	for len(b) < n {
		v := rnd.Uint64()
		b = append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24), byte(v>>32), byte(v>>40), byte(v>>48), byte(v>>56))
	}
	return os.WriteFile(path, b, 0o644)
}
