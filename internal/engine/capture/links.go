package capture

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/track"
)

// Files with several names. In the tree, a group is named after its smallest path. A capture
// of dirty paths keeps the groups correct by scanning every name of an inode if it scans one;
// if it finds an inode of which it does not know all names, it gives up, and everything is
// scanned.

// errUnknownLinks ends a capture of dirty paths: only a full scan finds the other names of a
// file.
var errUnknownLinks = errors.New("a file has names that are not known")

// linkRef is one name of an inode with several links.
type linkRef struct {
	node  *dirNode
	index int
}

func (r linkRef) row() *row    { return &r.node.rows[r.index] }
func (r linkRef) path() string { return joinPath(r.node.path, r.row().entry.Name) }

func hasLinks(r *row) bool { return r != nil && r.nlink > 1 && r.entry.Kind == retake.KindFile }

// recordLinks records the rows of a directory that have other links, and defers the directory
// until their groups are known.
func (w *walker) recordLinks(n *dirNode) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range n.rows {
		r := &n.rows[i]
		if !hasLinks(r) || n.isCarriedOver(r.entry.Name) {
			continue
		}
		w.links[r.ino] = append(w.links[r.ino], linkRef{n, i})
		n.awaitsLinks = true
	}
}

// recordLostLink records that a name with other links is gone or replaced. below means that
// the name was not scanned for its own sake, so its other names were not scanned either.
func (w *walker) recordLostLink(path string, old *row, below bool) {
	if w.opts.Dirty == nil || !hasLinks(old) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.linksUnknown = w.linksUnknown || below
	w.lostLinks = append(w.lostLinks, lostLink{old.ino, path})
}

type lostLink struct {
	ino  uint64
	path string
}

// addInodeTargets adds the files that are known by their inode numbers alone.
func (w *walker) addInodeTargets(s *scanTarget) error {
	if len(w.opts.Inodes) == 0 {
		return nil
	}
	for dir, r := range w.index.dirs {
		rows, err := r.decodeRows()
		if err != nil {
			return err
		}
		for i := range rows {
			if rows[i].entry.Kind == retake.KindFile && w.opts.Inodes[rows[i].ino] {
				s.ensurePath(joinPath(dir, rows[i].entry.Name)).mark |= track.MarkName
			}
		}
	}
	return nil
}

// addLinkTargets adds all names of every inode of which one name is scanned.
func (w *walker) addLinkTargets(s *scanTarget) error {
	if len(w.index.links) == 0 {
		return nil
	}
	rows := map[string][]row{}
	for p, m := range w.opts.Dirty {
		dir, name := path.Split(p)
		dir = path.Clean("/" + dir)[1:]
		if rows[dir] == nil {
			r := w.index.dirs[dir]
			if r == nil {
				continue
			}
			var err error
			if rows[dir], err = r.decodeRows(); err != nil {
				return err
			}
		}
		if r := findRow(rows[dir], name); hasLinks(r) {
			for _, other := range w.index.links[r.ino] {
				s.ensurePath(other).mark |= m &^ track.MarkTree
			}
		}
	}
	return nil
}

// resolveLinks names the hard-link groups. A group is named by its smallest path, so that
// equal trees get equal ids; an inode whose other names are outside the root is an ordinary
// file.
func (w *walker) resolveLinks() error {
	if w.opts.Dirty != nil && !w.allLinksKnown() {
		return errUnknownLinks
	}
	for _, refs := range w.links {
		group := ""
		if len(refs) > 1 {
			least := ""
			for _, r := range refs {
				if p := r.path(); least == "" || p < least {
					least = p
				}
			}
			h := sha256.Sum256([]byte(least))
			group = hex.EncodeToString(h[:8])
		}
		for _, r := range refs {
			setLinkGroup(&r.row().entry, group)
		}
		w.inodes[refs[0].row().ino] = newLinkedInode(refs)
	}
	return nil
}

// linkedInode is an inode with several names: those that were found, and their number.
type linkedInode struct {
	paths []string
	nlink uint64
	ctime int64
}

func newLinkedInode(refs []linkRef) linkedInode {
	out := linkedInode{}
	for _, r := range refs {
		out.paths = append(out.paths, r.path())
		if r.row().ctime >= out.ctime {
			out.nlink, out.ctime = r.row().nlink, r.row().ctime
		}
	}
	return out
}

// unseenLinksAreExternal reports whether names that were not found are outside the workspace.
// A link that was made during the scan may be a name that we had already passed.
func (w *walker) unseenLinksAreExternal() bool {
	for _, i := range w.inodes {
		if i.nlink != uint64(len(i.paths)) && i.ctime >= w.started-int64(timestampTick) {
			return false
		}
	}
	return true
}

// allLinksKnown reports whether all names of every inode that was found are known, or the
// inode was known to have names outside and still has them.
func (w *walker) allLinksKnown() bool {
	if w.linksUnknown {
		return false
	}
	for ino, refs := range w.links {
		n := refs[0].row().nlink
		elsewhere := w.index.externalInodes[ino] && len(refs) == len(w.index.links[ino])
		if n != uint64(len(refs)) && !elsewhere {
			return false
		}
	}
	return true
}

// saveLinks stores the names of inodes for the next capture of dirty paths.
func (w *walker) saveLinks() {
	x := w.index
	if w.opts.Dirty == nil {
		x.links, x.externalInodes = map[uint64][]string{}, map[uint64]bool{}
	}
	for _, l := range w.lostLinks {
		x.links[l.ino] = slices.DeleteFunc(x.links[l.ino], func(p string) bool { return p == l.path })
		if len(x.links[l.ino]) == 0 {
			delete(x.links, l.ino)
			delete(x.externalInodes, l.ino)
		}
	}
	for ino, i := range w.inodes {
		x.links[ino] = i.paths
		if delete(x.externalInodes, ino); i.nlink != uint64(len(i.paths)) {
			x.externalInodes[ino] = true
		}
	}
}

// pendingGroup is a file that is unchanged unless its link group changed.
type pendingGroup struct {
	path     string
	old, now retake.Entry
}

// deferGroupChange keeps a file until all links are known and its group can be compared.
func (w *walker) deferGroupChange(path string, old, now *row) {
	if w.emit == nil || !hasLinks(now) && linkGroup(&old.entry) == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pendingGroups = append(w.pendingGroups, pendingGroup{path, old.entry, now.entry})
}

func linkGroup(e *retake.Entry) string {
	if e.Extra == nil {
		return ""
	}
	return e.Extra.Group
}

// resolveGroupChanges sets the link groups of changed files and adds the files of which only
// the group changed.
func (w *walker) resolveGroupChanges(out []retake.Change) []retake.Change {
	groups := map[string]string{}
	for _, refs := range w.links {
		for _, r := range refs {
			groups[r.path()] = linkGroup(&r.row().entry)
		}
	}
	for i := range out {
		if e := out[i].After; e != nil && e.Kind == retake.KindFile {
			now := *e
			setLinkGroup(&now, groups[out[i].Path])
			out[i].After = &now
		}
	}
	for _, r := range w.pendingGroups {
		if group := groups[r.path]; group != linkGroup(&r.old) {
			setLinkGroup(&r.now, group)
			out = append(out, retake.Change{Path: r.path, What: retake.Moded, Before: &r.old, After: &r.now})
		}
	}
	return out
}

func setLinkGroup(e *retake.Entry, group string) {
	x := retake.Extra{}
	if e.Extra != nil {
		x = *e.Extra
	}
	x.Group = group
	if e.Extra = &x; group == "" && len(x.Xattrs) == 0 && len(x.Holes) == 0 {
		e.Extra = nil
	}
}
