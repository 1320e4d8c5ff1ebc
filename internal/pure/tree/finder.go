package tree

import (
	"context"
	"fmt"
	"io/fs"
	"sort"
	"strings"

	"github.com/retake-dev/retake"
)

// Finder finds many paths of one tree. It caches the listings of the last path, because
// neighbours are usually requested one after the other. It is not safe for concurrent use.
type Finder struct {
	lister Lister
	root   retake.Entry
	names  []string
	dirs   []retake.Entry   // the directories on the way, the root first
	lists  [][]retake.Entry // their listings
}

// NewFinder returns a finder for paths below root.
func NewFinder(l Lister, root retake.Entry) *Finder {
	return &Finder{lister: l, root: root, dirs: []retake.Entry{root}, lists: [][]retake.Entry{nil}}
}

// Find is the function Find with the cached listings.
func (f *Finder) Find(ctx context.Context, path string) (retake.Entry, error) {
	names := splitPath(path)
	if len(names) == 0 {
		return f.root, nil
	}
	last := len(names) - 1
	same := 0
	for same < last && same < len(f.names) && names[same] == f.names[same] {
		same++
	}
	f.names, f.dirs, f.lists = f.names[:same], f.dirs[:same+1], f.lists[:same+1]
	for i := same; ; i++ {
		e, err := f.lookup(ctx, i, names[i])
		if err != nil {
			return e, fmt.Errorf("find %q: %w", path, err)
		}
		if i == last {
			return e, nil
		}
		f.names, f.dirs, f.lists = append(f.names, names[i]), append(f.dirs, e), append(f.lists, nil)
	}
}

// lookup looks up a name in directory i of the way.
func (f *Finder) lookup(ctx context.Context, i int, name string) (retake.Entry, error) {
	if f.dirs[i].Kind != retake.KindDir {
		return retake.Entry{}, fs.ErrNotExist
	}
	if f.lists[i] == nil {
		list, err := f.lister.Dir(ctx, f.dirs[i].Object)
		if err != nil {
			return retake.Entry{}, err
		}
		f.lists[i] = list
	}
	list := f.lists[i]
	n := sort.Search(len(list), func(k int) bool { return strings.Compare(list[k].Name, name) >= 0 })
	if n == len(list) || list[n].Name != name {
		return retake.Entry{}, fs.ErrNotExist
	}
	return list[n], nil
}
