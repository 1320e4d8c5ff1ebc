// Package grow makes workspaces to measure on: a project with its dependencies,
// one flat directory, one large file. The same plan makes the same bytes.
//
// It may write below the directory it is given. It never reads the clock, and
// keeps no list of paths: a million files must not make the caller large.
//
//	G1  Two plans that are equal make equal trees and equal edits.
//	G2  No path is deeper than MaxDepth.
package grow

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// MaxDepth is how many names a path has at most.
const MaxDepth = 8

// Sizes are lognormal: the median, the spread, and a bound for the far tail.
const (
	medianSize = 2048
	sigma      = 1.82
	maxSize    = 64 << 20
	smallSize  = 300 // a million files must fit a small disk, and be written soon
	smallSigma = 0.8
	flatSize   = 512
)

// Shares of the tree.
const (
	filesPerDir  = 10
	srcDirShare  = 0.05 // of the directories
	packageShare = 0.25 // of the directories lie in node_modules itself
	srcShare     = 0.10 // of the files
	textShare    = 0.95 // of the files
)

// Plan is a workspace before it is written.
type Plan struct {
	seed  uint64
	dirs  []string
	src   int     // the first src of dirs are the project's own
	home  []int32 // directory of each file
	sized func(r *rand.Rand) int
}

// Project plans files in files/10 directories: some in src, most below node_modules,
// of which a large one has several.
func Project(files int, seed uint64) *Plan { return project(files, seed, lognormal) }

// Small plans a project whose files are small.
func Small(files int, seed uint64) *Plan {
	return project(files, seed, func(r *rand.Rand) int { return int(smallSize * math.Exp(smallSigma*r.NormFloat64())) })
}

func project(files int, seed uint64, sized func(*rand.Rand) int) *Plan {
	r := rand.New(rand.NewPCG(seed, 1))
	total := max(files/filesPerDir, 8)
	p := &Plan{seed: seed, src: max(int(float64(total)*srcDirShare), 2), sized: sized}
	p.growBelow(r, "src", 0, p.src)
	packages := max(int(float64(total)*packageShare), 2)
	for i := range packages {
		p.dirs = append(p.dirs, fmt.Sprintf("%s/%s-%d", modules(i), vocabulary[100+r.IntN(1000)], i))
	}
	p.growBelow(r, "", p.src, total)
	p.home = make([]int32, files)
	for i := range p.home {
		if r.Float64() < srcShare {
			p.home[i] = int32(r.IntN(p.src))
		} else {
			p.home[i] = int32(p.src + r.IntN(len(p.dirs)-p.src))
		}
	}
	return p
}

// perModules is how many packages one node_modules holds; what is larger than a
// hundred thousand files has several applications.
const perModules = 2500

func modules(i int) string {
	if i < perModules {
		return "node_modules"
	}
	return fmt.Sprintf("apps/app-%d/node_modules", i/perModules)
}

// growBelow adds directories until there are total, each in one of those from on.
func (p *Plan) growBelow(r *rand.Rand, top string, from, total int) {
	if top != "" {
		p.dirs = append(p.dirs, top)
	}
	names := []string{"lib", "dist", "esm", "cjs", "test", "types", "internal", "parts"}
	for len(p.dirs) < total {
		parent := p.dirs[from+r.IntN(len(p.dirs)-from)]
		if depth(parent) < MaxDepth-1 {
			p.dirs = append(p.dirs, fmt.Sprintf("%s/%s%d", parent, names[r.IntN(len(names))], len(p.dirs)))
		}
	}
}

func depth(path string) int {
	n := 1
	for i := range len(path) {
		if path[i] == '/' {
			n++
		}
	}
	return n
}

// Flat plans one directory with all files.
func Flat(files int, seed uint64) *Plan {
	return &Plan{
		seed: seed, dirs: []string{"flat"}, src: 1, home: make([]int32, files),
		sized: func(*rand.Rand) int { return flatSize },
	}
}

func lognormal(r *rand.Rand) int {
	return min(int(medianSize*math.Exp(sigma*r.NormFloat64())), maxSize)
}

// Files is how many files the plan has.
func (p *Plan) Files() int { return len(p.home) }

func (p *Plan) rand(i int, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(p.seed*1_000_003+uint64(i), stream))
}

func (p *Plan) isText(i int) bool { return p.rand(i, 2).Float64() < textShare }

// Path is where file i lies, with slashes.
func (p *Plan) Path(i int) string {
	r := p.rand(i, 3)
	endings := []string{".js", ".ts", ".d.ts", ".json", ".map", ".md"}
	if !p.isText(i) {
		endings = []string{".png", ".wasm", ".node"}
	}
	return fmt.Sprintf("%s/%s%d%s", p.dirs[p.home[i]], vocabulary[100+r.IntN(1000)], i, endings[r.IntN(len(endings))])
}

func (p *Plan) fill(i int, buf []byte) []byte {
	r := p.rand(i, 4)
	n := p.sized(r)
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if p.isText(i) {
		fillText(buf, r)
	} else {
		fillNoise(buf, r)
	}
	return buf
}

// Write writes the tree into root, which must exist.
func (p *Plan) Write(ctx context.Context, root string) error {
	for _, d := range p.dirs {
		if err := os.MkdirAll(filepath.Join(root, filepath.FromSlash(d)), 0o755); err != nil {
			return fmt.Errorf("make directory: %w", err)
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	workers := 2 * runtime.NumCPU()
	share := (len(p.home) + workers - 1) / workers
	for w := range workers {
		g.Go(func() error { return p.writeRange(ctx, root, w*share, min((w+1)*share, len(p.home))) })
	}
	return g.Wait()
}

func (p *Plan) writeRange(ctx context.Context, root string, from, to int) error {
	var buf []byte
	for i := from; i < to; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if buf, err = p.write(root, i, buf); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan) write(root string, i int, buf []byte) ([]byte, error) {
	buf = p.fill(i, buf)
	if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(p.Path(i))), buf, 0o644); err != nil {
		return buf, fmt.Errorf("write file: %w", err)
	}
	return buf, nil
}

// Mend writes files as they were before any edit.
func (p *Plan) Mend(root string, files []int) error {
	var buf []byte
	for _, i := range files {
		if i < 0 || i >= len(p.home) {
			return fmt.Errorf("mend file: there is no file %d", i)
		}
		var err error
		if buf, err = p.write(root, i, buf); err != nil {
			return err
		}
	}
	return nil
}
