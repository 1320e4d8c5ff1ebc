package capture

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

func stringReader(s string) io.Reader { return strings.NewReader(s) }

// sharedMemory is captured, but says nothing about stillness: readers write it.
const sharedMemory = "-shm"

// databases finds the groups in a listing: each member's name maps to the
// indexes of all, in rising order. A name belongs to one group at most: one that is
// a companion founds no group of its own.
func databases(names []string) map[string][]int {
	var groups map[string][]int
	companion := map[string]bool{}
	for i, name := range names { // sorted: a base comes before its companions
		base := baseOf(names[:i], name)
		if base < 0 || companion[names[base]] {
			continue
		}
		if groups == nil {
			groups = map[string][]int{}
		}
		if groups[names[base]] == nil {
			groups[names[base]] = []int{base}
		}
		groups[names[base]] = append(groups[names[base]], i)
		companion[name] = true
	}
	for name := range companion {
		groups[name] = groups[names[baseOf(names, name)]]
	}
	return groups
}

// baseOf answers the index of the database that a name is a companion of, or -1.
func baseOf(names []string, name string) int {
	for _, c := range retake.Companions {
		if base, ok := strings.CutSuffix(name, c); ok && base != "" {
			if i, there := slices.BinarySearch(names, base); there {
				return i
			}
		}
	}
	return -1
}

// sqliteMagic is how a database of SQLite begins.
const sqliteMagic = "SQLite format 3\x00"

// joined reports whether a database got a companion after its directory was listed: a
// transaction is under way, and without its journal these bytes are of no single point in time.
// Whoever asks looks at the file once more afterwards: a transaction that ended by then
// has written to it.
func (v *visitor) joined(f fsx.File, name string) bool {
	var magic [len(sqliteMagic)]byte
	if n, _ := f.ReadAt(magic[:], 0); n < len(magic) || string(magic[:]) != sqliteMagic {
		return false
	}
	for _, c := range retake.Companions {
		if c == sharedMemory {
			continue
		}
		if _, listed := slices.BinarySearch(v.names, name+c); listed {
			continue
		}
		if _, err := v.lstat(name + c); err == nil {
			return true
		}
	}
	return false
}

// settleGroup takes the files of one database as a unit: all are looked at, read,
// and looked at again; when one moved meanwhile the whole unit is read again, and
// at last all of it is torn.
func (v *visitor) settleGroup(ctx context.Context, names []string, members []int) error {
	for try := 1; ; try++ {
		still, err := v.groupOnce(ctx, names, members, try == tries)
		if err != nil || still || try == tries {
			return err
		}
		v.dropGaps(names, members)
	}
}

func (v *visitor) groupOnce(ctx context.Context, names []string, members []int, last bool) (bool, error) {
	before := make([]fsx.Info, len(members))
	there := make([]bool, len(members))
	for k, i := range members {
		var err error
		if before[k], there[k], err = v.look(i, names[i]); err != nil {
			return false, err
		}
	}
	for k, i := range members {
		if !there[k] {
			continue
		}
		if err := v.readMember(ctx, i, names[i], before[k]); err != nil {
			return false, err
		}
	}
	still := v.groupStill(names, members, before, there)
	if !still && last {
		v.tearGroup(names, members, there)
	}
	return still, nil
}

// groupStill looks at the members again.
func (v *visitor) groupStill(names []string, members []int, before []fsx.Info, there []bool) bool {
	for k, i := range members {
		if !there[k] || strings.HasSuffix(names[i], sharedMemory) {
			continue
		}
		b := &before[k]
		if b.Type == fsx.Directory { // its own listing tells
			continue
		}
		st, err := v.lstat(names[i])
		if err != nil || st.Ctime != b.Ctime || st.Mtime != b.Mtime || st.Ino != b.Ino || st.Size != b.Size {
			return false
		}
	}
	return true
}

func (v *visitor) tearGroup(names []string, members []int, there []bool) {
	for k, i := range members {
		if there[k] && v.state[i] == kept {
			v.rows[i].unsettled = true
			v.tornOnce(join(v.n.path, names[i]))
		}
	}
}

func (v *visitor) readMember(ctx context.Context, i int, name string, st fsx.Info) error {
	path := join(v.n.path, name)
	if st.Type == fsx.Directory {
		if v.kids[i] != nil { // by an earlier try; all below is noted once
			v.state[i] = kept
			return nil
		}
		return v.descend(ctx, i, name, path)
	}
	v.tick()
	if b := v.before(name); b != nil && b.same(&st) {
		v.rows[i], v.state[i] = *b, kept
		return nil
	}
	return v.readOne(ctx, i, name, path, st)
}
