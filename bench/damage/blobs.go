//go:build linux

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
)

// The kinds of damage.
const (
	none = "none"
	flip = "flip"
	gone = "gone"
)

// harm is one damaged place of a repository.
type harm struct {
	Damage string `json:"damage"`
	Kind   string `json:"kind"`
	File   string `json:"file"`
	Nth    int    `json:"nth"` // of its kind, oldest first
	Offset int64  `json:"offset"`
	Bit    int    `json:"bit"`
	Size   int64  `json:"size"`
}

// blob is a regular file of a repository.
type blob struct {
	rel  string
	nth  int
	info fs.FileInfo
}

// listBlobs returns all regular files below dir by their kind, oldest first.
func listBlobs(dir string, kind func(rel string) string) (map[string][]blob, error) {
	out := map[string][]blob{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if k := kind(rel); err == nil && k != "" && info.Size() > 0 {
			out[k] = append(out[k], blob{rel: rel, info: info})
		}
		return err
	})
	for _, blobs := range out {
		slices.SortFunc(blobs, func(a, b blob) int {
			return cmp.Or(a.info.ModTime().Compare(b.info.ModTime()), cmp.Compare(a.rel, b.rel))
		})
		for i := range blobs {
			blobs[i].nth = i + 1
		}
	}
	return out, err
}

// chooseHarm spreads damage evenly over the kinds. Each file is removed at most once; if there are
// fewer files than half of the cases, the rest are further bit flips.
func chooseHarm(kinds map[string][]blob, cases int, seed int64) []harm {
	rnd := rand.New(rand.NewSource(seed))
	out := spread(rnd, kinds, gone, cases/2, false)
	out = append(out, spread(rnd, kinds, flip, cases-len(out), true)...)
	rnd.Shuffle(len(out), func(i, k int) { out[i], out[k] = out[k], out[i] })
	return out
}

// spread takes one file of each kind in turn, in a random order within the kind.
func spread(rnd *rand.Rand, kinds map[string][]blob, damage string, n int, again bool) (out []harm) {
	names := make([]string, 0, len(kinds))
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	order := map[string][]int{}
	for _, name := range names {
		order[name] = rnd.Perm(len(kinds[name]))
	}
	for round := 0; len(out) < n; round++ {
		before := len(out)
		for _, name := range names {
			blobs := kinds[name]
			if len(out) == n || !again && round >= len(blobs) {
				continue
			}
			b := blobs[order[name][round%len(blobs)]]
			out = append(out, harm{Damage: damage, Kind: name, File: b.rel, Nth: b.nth, Size: b.info.Size(),
				Offset: rnd.Int63n(b.info.Size()), Bit: rnd.Intn(8)})
		}
		if len(out) == before {
			break
		}
	}
	return out
}

// apply damages the repository below dir. Owner, mode and times of a flipped file stay.
func (h harm) apply(dir string) error {
	path := filepath.Join(dir, h.File)
	switch h.Damage {
	case none:
		return nil
	case gone:
		return os.Remove(path)
	}
	return flipBit(path, h.Offset, h.Bit)
}

func flipBit(path string, offset int64, bit int) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("flip bit: %w", err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("flip bit: %w", err)
	}
	b[offset] ^= 1 << bit
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrPermission) {
		if err = os.Chmod(path, 0o600); err == nil {
			file, err = os.OpenFile(path, os.O_WRONLY, 0)
		}
	}
	if err != nil {
		return fmt.Errorf("flip bit: %w", err)
	}
	_, err = file.WriteAt(b[offset:offset+1], offset)
	return errors.Join(err, file.Close(), os.Chmod(path, info.Mode()), os.Chtimes(path, info.ModTime(), info.ModTime()))
}
