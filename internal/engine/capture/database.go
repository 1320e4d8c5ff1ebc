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

// shmSuffix is the suffix of shared-memory files. They are captured, but do not count when a
// group is checked for changes: readers write to them.
const shmSuffix = "-shm"

// findDatabases finds the database groups of a listing: it maps each member's name to the
// indexes of all members, in rising order. A name belongs to at most one group: a companion
// does not start its own.
func findDatabases(names []string) map[string][]int {
	var groups map[string][]int
	companion := map[string]bool{}
	for i, name := range names { // sorted: a base comes before its companions
		base := databaseIndex(names[:i], name)
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
		groups[name] = groups[names[databaseIndex(names, name)]]
	}
	return groups
}

// databaseIndex returns the index of the database that a name is a companion of, or -1.
func databaseIndex(names []string, name string) int {
	for _, c := range retake.Companions {
		if base, ok := strings.CutSuffix(name, c); ok && base != "" {
			if i, there := slices.BinarySearch(names, base); there {
				return i
			}
		}
	}
	return -1
}

// sqliteMagic is the beginning of every SQLite database.
const sqliteMagic = "SQLite format 3\x00"

// hasNewCompanion reports whether a database got a companion after its directory was listed: a
// transaction is in progress, and without its journal the bytes belong to no single point in
// time. The caller must stat the file again afterwards: a transaction that ended by then has
// written to it.
func (v *visitor) hasNewCompanion(f fsx.File, name string) bool {
	var magic [len(sqliteMagic)]byte
	if n, _ := f.ReadAt(magic[:], 0); n < len(magic) || string(magic[:]) != sqliteMagic {
		return false
	}
	for _, c := range retake.Companions {
		if c == shmSuffix {
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

// captureGroup captures the files of one database as a unit: it stats all, reads them and
// stats them again. If one changed, the whole group is read again; after the last try all of
// it is marked torn.
func (v *visitor) captureGroup(ctx context.Context, names []string, members []int) error {
	for try := 1; ; try++ {
		still, err := v.captureGroupOnce(ctx, names, members, try == maxReadTries)
		if err != nil || still || try == maxReadTries {
			return err
		}
		v.removeGaps(names, members)
	}
}

// captureGroupOnce reads the members of a group once and reports whether none of them changed
// meanwhile. On the last try it keeps them as torn.
func (v *visitor) captureGroupOnce(ctx context.Context, names []string, members []int, last bool) (bool, error) {
	before := make([]fsx.Info, len(members))
	there := make([]bool, len(members))
	for k, i := range members {
		var err error
		if before[k], there[k], err = v.statName(i, names[i]); err != nil {
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
	still := v.isGroupStable(names, members, before, there)
	if !still && last {
		v.markGroupTorn(names, members, there)
	}
	return still, nil
}

// isGroupStable stats the members again and compares them with what they were before.
func (v *visitor) isGroupStable(names []string, members []int, before []fsx.Info, there []bool) bool {
	for k, i := range members {
		if !there[k] || strings.HasSuffix(names[i], shmSuffix) {
			continue
		}
		b := &before[k]
		if b.Type == fsx.Directory { // its own listing shows changes
			continue
		}
		st, err := v.lstat(names[i])
		if err != nil || st.Ctime != b.Ctime || st.Mtime != b.Mtime || st.Ino != b.Ino || st.Size != b.Size {
			return false
		}
	}
	return true
}

func (v *visitor) markGroupTorn(names []string, members []int, there []bool) {
	for k, i := range members {
		if there[k] && v.states[i] == stateKept {
			v.rows[i].mustReread = true
			v.addTornGap(joinPath(v.node.path, names[i]))
		}
	}
}

func (v *visitor) readMember(ctx context.Context, i int, name string, st fsx.Info) error {
	path := joinPath(v.node.path, name)
	if st.Type == fsx.Directory {
		if v.children[i] != nil { // by an earlier try; all below is noted once
			v.states[i] = stateKept
			return nil
		}
		return v.captureSubdir(ctx, i, name, path)
	}
	v.reportProgress()
	if b := v.previousRow(name); b != nil && b.matches(&st) {
		v.rows[i], v.states[i] = *b, stateKept
		return nil
	}
	return v.captureEntry(ctx, i, name, path, st)
}
