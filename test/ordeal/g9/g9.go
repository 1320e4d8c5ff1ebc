//go:build linux

// Package g9 saves files while they are written: a file that never was so must be named as
// torn.
package g9

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/treebed"
)

func init() { harness.Register("G9-torn", tears) }

// tears captures files that are being rewritten. A stored file that the live one
// never was, at no checkpoint, must be named as torn. Stores to a mapping leave no
// trace in the times of a file system in memory: they have a row of their own.
func tears(r *harness.Run) []harness.Verdict {
	all := harness.Verdict{Guarantee: "G9", What: "a file that never was so is named as torn", Control: "one plain read of the same files"}
	memory := harness.Verdict{Guarantee: "G9", What: "the same for stores to a mapping in memory (tmpfs)", Control: all.Control}
	n := r.Figure(200, 2000)
	m := mill{r: r, v: &all, marked: map[string]int{}}
	m.on("disk", n*6/10, "overwrite", "truncate", "rename", "map")
	m.on("xfs", n*2/10, "overwrite", "truncate", "rename", "map")
	m.on("tmpfs", n*2/10, "overwrite", "truncate", "rename")
	m.sum()
	m = mill{r: r, v: &memory, marked: map[string]int{}}
	m.on("tmpfs", n/10, "map", "map2", "map3")
	m.sum()
	return []harness.Verdict{all, memory}
}

// mill is a root whose files are rewritten all the time.
type mill struct {
	r       *harness.Run
	v       *harness.Verdict
	kind    string
	root    string
	shop    *treebed.Shop
	writers []*scribe
	stored  int            // files looked at
	mixed   int            // of them true states in the midst of a rewrite, not named
	falsely int            // named as torn, and a true checkpoint
	torn    int            // named as torn, and never was
	marked  map[string]int // torn by way of writing
}

func (m *mill) sum() {
	named := max(1, m.torn+m.falsely)
	m.v.Detail = map[string]any{
		"files": m.stored, "never_was_and_named": m.torn, "named": m.marked, "true_state_within_a_rewrite": m.mixed,
		"false_positives": fmt.Sprintf("%.1f %% of %d files, %.1f %% of %d named",
			100*float64(m.falsely)/float64(max(1, m.stored)), m.stored, 100*float64(m.falsely)/float64(named), named),
	}
}

// on runs the mill on one file system, with a writer and a lazy one for each way.
func (m *mill) on(kind string, captures int, ways ...string) {
	start := time.Now()
	if err := m.run(kind, captures, ways); err != nil {
		m.v.Fail("%s: %v", kind, err)
	}
	m.v.Seconds += time.Since(start).Seconds()
}

func (m *mill) run(kind string, captures int, ways []string) error {
	ctx := context.Background()
	place, err := treebed.NewPlace(m.r, kind)
	if err != nil {
		return err
	}
	defer place.End()
	if m.shop, err = treebed.NewShop(m.r, ctx, harness.Derivation); err != nil {
		return err
	}
	defer m.shop.End()
	m.kind, m.root = kind, place.Dir+"/root"
	if err := os.Mkdir(m.root, 0o755); err != nil {
		return err
	}
	end, err := m.start(ways)
	if err != nil {
		return err
	}
	defer end()
	res, err := m.shop.Svc.Init(ctx, retake.InitRequest{Dir: m.root})
	if err != nil {
		return err
	}
	for range captures {
		m.v.Tried++
		if err := m.look(ctx, res.Checkpoint); err != nil {
			return err
		}
		if res, err = m.shop.Svc.Save(ctx, retake.SaveRequest{Workspace: res.Workspace.ID}); err != nil {
			return err
		}
	}
	m.naive(2 * time.Second)
	return nil
}

func (m *mill) start(ways []string) (func(), error) {
	m.writers = nil
	for i, way := range ways {
		for _, lazy := range []bool{false, true} {
			s, err := newScribe(m.root, way, lazy, m.r.Seed+int64(i))
			if err != nil {
				return nil, err
			}
			m.writers = append(m.writers, s)
		}
	}
	for _, s := range m.writers {
		go s.work()
	}
	return func() {
		for _, s := range m.writers {
			s.end()
		}
	}, nil
}

// look judges every file of a checkpoint.
func (m *mill) look(ctx context.Context, cp retake.Checkpoint) error {
	entries, err := m.shop.Svc.List(ctx, cp.Workspace, fmt.Sprint(cp.Number), "")
	if err != nil {
		return err
	}
	for _, e := range entries {
		i := slices.IndexFunc(m.writers, func(s *scribe) bool { return s.name == e.Name })
		if i < 0 {
			continue // the new file of a rename, on its way
		}
		r, err := m.shop.Svc.Bytes(ctx, e.Object)
		if err != nil {
			return err
		}
		b, err := io.ReadAll(r)
		_ = r.Close() // nothing was written
		if err != nil {
			return err
		}
		m.judge(m.writers[i], b, cp)
	}
	return nil
}

func (m *mill) judge(s *scribe, b []byte, cp retake.Checkpoint) {
	m.stored++
	named := slices.ContainsFunc(cp.Coverage.Gaps, func(g retake.Gap) bool { return g.Path == s.name && g.Reason == retake.ReasonTorn })
	if named {
		m.marked[s.way]++
	}
	was, why := s.was(b)
	switch {
	case was && named:
		m.falsely++
	case was && why != "whole":
		m.mixed++
	case !was && named:
		m.torn++
	case !was:
		m.v.Fail("%s: %s in checkpoint %d: %s", m.kind, s.name, cp.Number, why)
	}
}

// naive reads each file once, as a plain copy would.
func (m *mill) naive(limit time.Duration) {
	for end := time.Now().Add(limit); time.Now().Before(end); {
		for _, s := range m.writers {
			b, err := os.ReadFile(m.root + "/" + s.name)
			if err != nil {
				continue
			}
			if was, _ := s.was(b); !was {
				m.v.Caught++
			}
		}
	}
}
