package capture

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Every name is settled exactly once: it is in no group, or in one, which begins
// with its first member.
func TestGroupsAreDisjoint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "b", "-wal", "-shm", "-journal", "a-wal"})
		names := rapid.SliceOfDistinct(rapid.Custom(func(t *rapid.T) string {
			return part.Draw(t, "1") + part.Draw(t, "2") + part.Draw(t, "3")
		}), func(s string) string { return s }).Draw(t, "names")
		slices.Sort(names)
		settled := make([]int, len(names))
		groups := findDatabases(names)
		for i, name := range names {
			members, ok := groups[name]
			if !ok {
				settled[i]++
				continue
			}
			if !slices.IsSorted(members) || !slices.Contains(members, i) {
				t.Fatalf("%q has group %v", name, members)
			}
			if members[0] == i {
				for _, m := range members {
					settled[m]++
				}
			}
		}
		for i, n := range settled {
			if n != 1 {
				t.Fatalf("%q of %q is settled %d times: %v", names[i], names, n, groups)
			}
		}
	})
}
