package grow

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// Random chooses n different text files of the whole tree, others in each round.
func (p *Plan) Random(n int, round uint64) []int {
	r := rand.New(rand.NewPCG(p.seed+round, 5))
	seen := map[int]bool{}
	var out []int
	for len(out) < n && len(seen) < len(p.home) {
		i := r.IntN(len(p.home))
		if !seen[i] && p.isText(i) {
			out = append(out, i)
		}
		seen[i] = true
	}
	return out
}

// sharedDirs is how many directories the files of one Shared edit lie in.
const sharedDirs = 8

// Shared chooses n text files of the same few directories of src: those with the
// most files, and other files of them in each round.
func (p *Plan) Shared(n int, round uint64) []int {
	hot := map[int32]bool{}
	for _, d := range p.fullest() {
		hot[d] = true
	}
	var all []int
	for i, d := range p.home {
		if hot[d] && p.isText(i) {
			all = append(all, i)
		}
	}
	r := rand.New(rand.NewPCG(p.seed+round, 6))
	r.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
	return all[:min(n, len(all))]
}

// fullest are the directories of src with the most files.
func (p *Plan) fullest() []int32 {
	count := make([]int, p.src)
	for _, d := range p.home {
		if int(d) < p.src {
			count[d]++
		}
	}
	dirs := make([]int32, p.src)
	for i := range dirs {
		dirs[i] = int32(i)
	}
	slices.SortStableFunc(dirs, func(a, b int32) int { return count[b] - count[a] })
	return dirs[:min(sharedDirs, len(dirs))]
}

// Edit writes files anew with another line in them, as an editor does, and answers
// their paths. What is longer than that line keeps its length, so that the ten
// thousandth edit is as large as the first.
func (p *Plan) Edit(root string, files []int, round uint64) ([]string, error) {
	var out []string
	for _, i := range files {
		path := filepath.Join(root, filepath.FromSlash(p.Path(i)))
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("edit file: %w", err)
		}
		r := p.rand(i, 100+round)
		line := make([]byte, 60)
		fillText(line, r)
		added := fmt.Appendf(nil, "\n// %d %s\n", r.Uint64(), line)
		size := len(b)
		if size < 2*len(added) {
			size += len(added)
		}
		at := r.IntN(size - len(added) + 1)
		b = slices.Concat(b[:at], added, b[at:])[:size]
		if err := os.WriteFile(path, b, 0o644); err != nil {
			return nil, fmt.Errorf("edit file: %w", err)
		}
		out = append(out, path)
	}
	return out, nil
}

// Page is the unit in which a large file changes.
const Page = 4096

// Large writes one file of size bytes without holes: in every page half noise and
// half text, so that it shrinks to about two thirds.
func Large(path string, size int64, seed uint64) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write large file: %w", err)
	}
	r := rand.New(rand.NewPCG(seed, 7))
	buf := make([]byte, 256*Page)
	for done := int64(0); done < size && err == nil; done += int64(len(buf)) {
		for at := 0; at < len(buf); at += Page {
			fillPage(buf[at:at+Page], r)
		}
		_, err = f.Write(buf[:min(int64(len(buf)), size-done)])
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("write large file: %w", err)
	}
	return nil
}

func fillPage(p []byte, r *rand.Rand) {
	fillNoise(p[:Page/2], r)
	fillText(p[Page/2:], r)
}

// ChangePage writes one page of a large file anew, in place.
func ChangePage(path string, seed, round uint64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("change page: %w", err)
	}
	info, err := f.Stat()
	if err == nil {
		r := rand.New(rand.NewPCG(seed+round, 8))
		page := make([]byte, Page)
		fillPage(page, r)
		_, err = f.WriteAt(page, r.Int64N(info.Size()/Page)*Page)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("change page: %w", err)
	}
	return nil
}
