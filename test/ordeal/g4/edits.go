//go:build linux

package g4

import (
	"fmt"
	"os"
	"strings"

	"github.com/retake-dev/retake/test/ordeal/playbed"
)

var (
	playNames = []string{"a", "b", "d/a", "d/b", "d/s/c", "e/x"}
	playDirs  = []string{"d", "d/s", "e"}
)

// some makes one to n edits, in the files and in the model.
func (p *play) some(root string, w playbed.World, n int) error {
	for range 1 + p.rnd.Intn(n) {
		if err := p.edit(root, w); err != nil {
			return err
		}
	}
	return nil
}

// edit makes one edit: a file is written, given another mode, moved or removed, or a
// directory is made or removed.
func (p *play) edit(root string, w playbed.World) error {
	name := playNames[p.rnd.Intn(len(playNames))]
	at := root + "/" + name
	switch n := p.rnd.Intn(12); {
	case n < 6 || !w.Has(name) && n < 10:
		return p.write(root, name, w)
	case n < 7:
		t := w[name]
		t.Mode ^= 0o044
		w[name] = t
		p.note("chmod %o %s", t.Mode, name)
		return os.Chmod(at, os.FileMode(t.Mode))
	case n < 10:
		delete(w, name)
		p.note("rm %s", name)
		return os.Remove(at)
	}
	dir := playDirs[p.rnd.Intn(len(playDirs))]
	if !w.Has(dir) {
		return p.way(root, dir, w)
	}
	for q := range w {
		if q == dir || strings.HasPrefix(q, dir+"/") {
			delete(w, q)
		}
	}
	p.note("rm -r %s", dir)
	return os.RemoveAll(root + "/" + dir)
}

// write gives a file a text of one line: a new one, or one of a few that it may have
// had before.
func (p *play) write(root, name string, w playbed.World) error {
	if i := strings.LastIndexByte(name, '/'); i > 0 {
		if err := p.way(root, name[:i], w); err != nil {
			return err
		}
	}
	p.lines++
	text := fmt.Sprintf("line %d of %s\n", p.lines, name)
	if p.rnd.Intn(3) == 0 {
		text = fmt.Sprintf("one of three: %d\n", p.rnd.Intn(3))
	}
	t, there := w[name]
	if !there {
		t.Mode = 0o644
	}
	t.Text = text
	w[name] = t
	p.note("write %s %q", name, text)
	return os.WriteFile(root+"/"+name, []byte(text), os.FileMode(t.Mode))
}

// way makes a directory, and those on the way.
func (p *play) way(root, dir string, w playbed.World) error {
	for i := range dir + "/" {
		at := dir[:i]
		if i < len(dir) && dir[i] != '/' || w.Has(at) {
			continue
		}
		w[at] = playbed.Thing{Dir: true, Mode: 0o755}
		p.note("mkdir %s", at)
		if err := os.Mkdir(root+"/"+at, 0o755); err != nil {
			return err
		}
	}
	return nil
}
