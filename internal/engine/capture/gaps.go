package capture

import (
	"io"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/pure/ignore"
)

func (w *walker) sortedGaps() []retake.Gap {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortFunc(w.gaps, func(a, b retake.Gap) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(w.gaps, func(a, b retake.Gap) bool { return a.Path == b.Path && a.Reason == b.Reason })
}

// removeGaps removes the gaps of a group that will be read again.
func (v *visitor) removeGaps(names []string, members []int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	mine := map[string]bool{}
	for _, i := range members {
		mine[joinPath(v.node.path, names[i])] = true
	}
	v.gaps = slices.DeleteFunc(v.gaps, func(g retake.Gap) bool { return mine[g.Path] })
}

func (w *walker) addTornGap(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	torn := retake.Gap{Path: path, Reason: retake.ReasonTorn}
	if !slices.Contains(w.gaps, torn) {
		w.gaps = append(w.gaps, torn)
	}
}

const (
	ignoreFile     = ".gitignore"
	maxIgnoreBytes = 1 << 20
)

// readIgnoreFile adds the rules of a directory's ignore file, if the policy follows git's
// rules. An unreadable file has no rules.
func (w *walker) readIgnoreFile(dir fsx.Dir, n *dirNode, names []string) ignore.Rules {
	if _, ok := slices.BinarySearch(names, ignoreFile); !ok {
		return n.rules
	}
	f, err := dir.OpenFile(ignoreFile)
	if err != nil {
		return n.rules
	}
	defer f.Close() //nolint:errcheck // nothing was written
	b, err := io.ReadAll(io.LimitReader(f, maxIgnoreBytes))
	if err != nil {
		return n.rules
	}
	return n.rules.WithFile(n.path, b)
}
