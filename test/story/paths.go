package main

import (
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/story/replay"
)

// truePaths is what a plain walk saw, directories aside.
func truePaths(p replay.Paths) map[string]retake.Difference {
	out := map[string]retake.Difference{}
	for what, list := range map[retake.Difference][]string{
		retake.Added: p.Created, retake.Deleted: p.Deleted, retake.Edited: p.Edited, retake.Moded: p.Moded, retake.Retyped: p.Retyped,
	} {
		for _, path := range list {
			out[path] = what
		}
	}
	return out
}

// changedPaths is what the comparison tells, directories and mere times aside.
func changedPaths(changes []retake.Change) map[string]retake.Difference {
	out := map[string]retake.Difference{}
	for _, c := range changes {
		if c.What != retake.Timed && (c.What == retake.Retyped || !isDir(c)) {
			out[c.Path] = c.What
		}
	}
	return out
}

func isDir(c retake.Change) bool {
	e := c.After
	if e == nil {
		e = c.Before
	}
	return e != nil && e.Kind == retake.KindDir
}

// itemPaths is what the items of the story tell: a rename is a path that went and one
// that came. Directories are not in the truth, and are left out here.
func (j *judging) itemPaths() map[string]retake.Difference {
	dirs := map[string]bool{}
	for _, d := range j.turn.Paths.Dirs {
		dirs[d] = true
	}
	out := map[string]retake.Difference{}
	say := func(path string, what retake.Difference) {
		if _, twice := out[path]; twice {
			j.miss(areaItem, "%s is told twice", path)
		}
		out[path] = what
	}
	for _, it := range items(j.told.full) {
		switch {
		case dirs[strings.TrimSuffix(it.Path, "/")]:
		case it.What == retake.Renamed:
			say(it.From, retake.Deleted)
			say(it.Path, retake.Added)
		default:
			say(it.Path, it.What)
		}
	}
	return out
}

// items are those of the tree.
func items(st retake.Story) []retake.Item {
	var out []retake.Item
	for _, g := range st.Groups {
		if g.Theme != retake.ThemeMachine {
			out = append(out, g.Items...)
		}
	}
	return out
}

// renames looks at the pairs. Those with equal bytes are candidates of the walk; others
// are held to be renamed and edited at once, which no walk can prove: they are listed.
func (j *judging) renames() {
	equal := map[replay.Rename]bool{}
	for _, r := range j.turn.Paths.Renames {
		equal[r] = true
	}
	j.v.possible = mostPairs(j.turn.Paths.Renames)
	for _, it := range items(j.told.full) {
		if it.What != retake.Renamed {
			continue
		}
		j.v.moved++
		if !equal[replay.Rename{From: it.From, To: it.Path}] {
			j.v.likened = append(j.v.likened, it.From+" → "+it.Path)
		}
	}
}

// mostPairs is how many renames there can be at once. Candidates of the same bytes are
// all pairs of some that went and some that came, so the shorter side decides.
func mostPairs(all []replay.Rename) int {
	to := map[string][]string{} // from each path that went
	for _, r := range all {
		to[r.From] = append(to[r.From], r.To)
	}
	went, came := map[string]int{}, map[string]int{}
	for _, list := range to {
		key := list[0] // the same for all that went with these bytes
		went[key]++
		came[key] = len(list)
	}
	n := 0
	for key := range went {
		n += min(went[key], came[key])
	}
	return n
}

// ownDirs counts directories that a story may count by themselves: empty ones that came
// or went, and those with another mode or owner.
type ownDirs struct{ added, deleted, moded int64 }

func countDirs(dirs []string, before, after replay.Walk) (n ownDirs) {
	for _, d := range dirs {
		_, was := before[d]
		_, is := after[d]
		switch {
		case was && is:
			n.moded++
		case is && !peopled(d, after):
			n.added++
		case was && !peopled(d, before):
			n.deleted++
		}
	}
	return n
}

func peopled(dir string, w replay.Walk) bool {
	for path := range w {
		if strings.HasPrefix(path, dir+"/") {
			return true
		}
	}
	return false
}

// counts looks whether the sums of the story are those of the truth, and whether its
// groups hold all of it.
func (j *judging) counts() {
	p, d, c := j.turn.Paths, j.dirs, j.told.own.Counts
	n := int64(j.v.moved)
	for _, x := range []struct {
		name       string
		told, want int64
	}{
		{"renamed", c.Renamed, n},
		{"added", c.Added, int64(len(p.Created)) - n + d.added},
		{"deleted", c.Deleted, int64(len(p.Deleted)) - n + d.deleted},
		{"edited", c.Edited, int64(len(p.Edited))},
		{"moded", c.Moded, int64(len(p.Moded)) + d.moded},
		{"retyped", c.Retyped, int64(len(p.Retyped))},
	} {
		if x.told != x.want {
			j.miss(areaCount, "%d %s, told as %d", x.want, x.name, x.told)
		}
	}
	for _, st := range []retake.Story{j.told.own, j.told.full} {
		j.sums(st)
	}
}

// sums adds up what a story folds.
func (j *judging) sums(st retake.Story) {
	var all int64
	for _, g := range st.Groups {
		if g.Theme == retake.ThemeMachine {
			continue
		}
		var files int64
		for _, it := range g.Items {
			files += it.Files
		}
		if files != g.Files {
			j.miss(areaCount, "the items of %s hold %d files, the group %d", g.Theme, files, g.Files)
		}
		all += g.Files
	}
	if all != st.Counts.Total() {
		j.miss(areaCount, "the groups hold %d paths, the counts %d", all, st.Counts.Total())
	}
}
