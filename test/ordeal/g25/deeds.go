//go:build linux

package g25

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
	"slices"
	"strings"

	"github.com/retake-dev/retake/test/ordeal/playbed"
)

// A history is a list of deeds, each a line of words:
//
//	save t:src/a:1:2 w:app.db:3     edits, then a save that somebody asked for
//	edit E…                         edits that nobody saves
//	quiet E…                        edits, then an automatic checkpoint
//	begin A E…                      edits, then a prompt for session A
//	risk A E…, call A E…            edits of the agent, then a checkpoint inside its turn
//	end A E…                        edits of the agent, then the end of its turn
//	undo, redo, undo #4, undo @src  the newest item, the way back, a checkpoint by number, a part
//	discard                         undo --edits
//	restore #4, restore #4 @src     a checkpoint by number
//	fork #4 E…, adopt E…            edits in the fork, then it is adopted
//
// and an edit is t:PATH:SLOT:VALUE for a part of a text, w:PATH:VALUE for other files, rm:PATH
// or rmr:DIR. Numbers count modulo what is there, so that any part of a history is one too.

var (
	prose    = []string{"a", "README.md", "src/b", "src/deep/c"}
	dbs      = []string{"app.db", "data/shop.db"}
	outputs  = []string{"dist/app.js", "dist/css/m.css", "debug.log", "logs/web.log"}
	gitPaths = []string{".git/HEAD", ".git/index", ".git/refs/heads/main", ".git/refs/heads/feature", ".git/ORIG_HEAD", ".git/logs/HEAD"}
	doomed   = []string{"src", "src/deep", "dist", "logs", "data", ".git"}
)

// drawDeeds makes up a history.
func drawDeeds(rnd *rand.Rand) []string {
	d := &fate{rnd}
	deeds := []string{"start " + d.edits(6)}
	for range 6 + rnd.Intn(9) {
		deeds = append(deeds, d.deed())
	}
	return append(deeds, "undo", "redo", fmt.Sprintf("restore #%d", rnd.Intn(30)))
}

type fate struct{ *rand.Rand }

func (d *fate) of(list []string) string { return list[d.Intn(len(list))] }

func (d *fate) deed() string {
	who := d.of([]string{"A", "A", "A", "B"})
	switch n := d.Intn(100); {
	case n < 13:
		return "save " + d.edits(3)
	case n < 23:
		return "edit " + d.edits(2)
	case n < 28:
		return "quiet " + d.edits(2)
	case n < 36:
		return "turn " + who + " " + d.edits(3)
	case n < 42:
		return "begin " + who + " " + d.maybe(2)
	case n < 45:
		return "risk " + who + " " + d.edits(2)
	case n < 48:
		return "call " + who + " " + d.edits(2)
	case n < 55:
		return "end " + who + " " + d.edits(2)
	case n < 58:
		return fmt.Sprintf("restore #%d", d.Intn(30))
	case n < 60:
		return fmt.Sprintf("restore #%d @%s", d.Intn(30), d.some())
	case n < 78:
		return "undo"
	case n < 81:
		return fmt.Sprintf("undo #%d", d.Intn(30))
	case n < 84:
		return "undo @" + d.some()
	case n < 87:
		return "discard"
	case n < 97:
		return "redo"
	case n < 98:
		return fmt.Sprintf("fork #%d %s", d.Intn(30), d.edits(2))
	default:
		return "adopt " + d.edits(2)
	}
}

// some is a path to name.
func (d *fate) some() string {
	return d.of(slices.Concat(prose, dbs, outputs, []string{"src", "dist", "data"}))
}

// maybe is no edit, or a few.
func (d *fate) maybe(n int) string {
	if d.Intn(2) == 0 {
		return ""
	}
	return d.edits(n)
}

// edits are mostly of one kind: an item of a database alone, of output alone, of git alone is
// what undo must not pass over.
func (d *fate) edits(n int) string {
	kinds := []func() string{d.text, d.text, d.text, d.base, d.output, d.git}
	kind := kinds[d.Intn(len(kinds))]
	var out []string
	for range 1 + d.Intn(n) {
		if d.Intn(4) == 0 {
			kind = kinds[d.Intn(len(kinds))]
		}
		out = append(out, kind())
	}
	return strings.Join(out, " ")
}

func (d *fate) text() string {
	switch n := d.Intn(12); {
	case n == 0:
		return "rmr:" + d.of(doomed)
	case n < 3:
		return "rm:" + d.of(prose)
	default:
		return fmt.Sprintf("t:%s:%d:%d", d.of(prose), d.Intn(3), d.Intn(5))
	}
}

func (d *fate) base() string {
	p, k := d.of(dbs), d.Intn(5)
	switch d.Intn(6) {
	case 0:
		return "rm:" + p + " rm:" + p + "-wal"
	case 1:
		return "rm:" + p
	case 2:
		return fmt.Sprintf("w:%s-wal:%d", p, k)
	case 3:
		return fmt.Sprintf("w:%s:%d rm:%s-wal", p, k, p) // a checkpoint of its log
	default:
		return fmt.Sprintf("w:%s:%d", p, k)
	}
}

func (d *fate) output() string {
	switch d.Intn(6) {
	case 0:
		return "rm:" + d.of(outputs)
	case 1:
		return "rmr:" + d.of([]string{"dist", "logs"})
	default:
		return fmt.Sprintf("w:%s:%d", d.of(outputs), d.Intn(5))
	}
}

// git is what operations of git write; for the files it does not matter that no git runs.
func (d *fate) git() string {
	k := d.Intn(5)
	switch d.Intn(5) {
	case 0: // switch
		return fmt.Sprintf("w:.git/HEAD:%d w:.git/index:%d w:.git/logs/HEAD:%d", k%2, k, d.Intn(100))
	case 1: // commit
		return fmt.Sprintf("w:.git/refs/heads/main:%d w:.git/index:%d w:.git/logs/HEAD:%d", k, k, d.Intn(100))
	case 2: // amend
		return fmt.Sprintf("w:.git/refs/heads/main:%d w:.git/ORIG_HEAD:%d", k, k)
	case 3:
		return "rm:.git/ORIG_HEAD"
	default:
		return fmt.Sprintf("w:%s:%d", d.of(gitPaths), k)
	}
}

// textOf is a text of three parts that can change, far enough from each other to be merged.
func textOf(path string, slots [3]string) string {
	var b strings.Builder
	for i, s := range slots {
		fmt.Fprintf(&b, "%s part %d is %s\n", path, i, s)
		for k := range 4 {
			fmt.Fprintf(&b, "%s line %d.%d stays\n", path, i, k)
		}
	}
	return b.String()
}

// slotsOf takes such a text apart.
func slotsOf(text string) (path string, slots [3]string, ok bool) {
	lines := strings.Split(text, "\n")
	if len(lines) != 16 {
		return "", slots, false
	}
	for i := range slots {
		if path, slots[i], ok = strings.Cut(lines[5*i], fmt.Sprintf(" part %d is ", i)); !ok {
			return "", slots, false
		}
	}
	return path, slots, true
}

// edit makes one edit, in the files below root and in the model. What is not there cannot be
// removed, and what is so already is not written: then nothing happens.
func (t *tale) edit(root string, w playbed.World, word string) error {
	f := strings.Split(word, ":")
	path := f[1]
	switch f[0] {
	case "rm":
		if !w.Has(path) || w[path].Dir {
			return nil
		}
		delete(w, path)
		return t.stage.remove(root, path)
	case "rmr":
		for _, p := range slices.Backward(w.Paths()) {
			if p == path || strings.HasPrefix(p, path+"/") {
				delete(w, p)
				if err := t.stage.remove(root, p); err != nil {
					return err
				}
			}
		}
		return nil
	case "t":
		_, slots, _ := slotsOf(w[path].Text)
		for i, s := range slots {
			if s == "" {
				slots[i] = "0"
			}
		}
		slots[f[2][0]-'0'] = f[3]
		return t.stage.write(root, path, textOf(path, slots), w)
	default:
		return t.stage.write(root, path, valueOf(path, f[2]), w)
	}
}

// valueOf is what other files hold: one line, or bytes that are no text.
func valueOf(path, k string) string {
	switch {
	case strings.Contains(path, ".db"):
		return "SQLite format 3\x00" + path + k
	case path == ".git/HEAD":
		return "ref: refs/heads/" + [2]string{"main", "feature"}[k[0]&1] + "\n"
	case strings.HasPrefix(path, ".git/refs/"), path == ".git/ORIG_HEAD":
		return strings.Repeat(k, 40)[:40] + "\n"
	}
	return path + " " + k + "\n"
}

func (s *stage) write(root, path, text string, w playbed.World) error {
	if w[path].Dir || w.Has(path) && w[path].Text == text {
		return nil
	}
	for i, c := range path {
		if c == '/' && !w.Has(path[:i]) {
			w[path[:i]] = playbed.Thing{Dir: true, Mode: 0o755}
		}
	}
	w[path] = playbed.Thing{Mode: 0o644, Text: text}
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		if err := s.files.MkdirAll(root+"/"+path[:i], 0o755); err != nil {
			return err
		}
	}
	return s.files.WriteFile(root+"/"+path, []byte(text), 0o644)
}

func (s *stage) remove(root, path string) error {
	dir, name := root, path
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		dir, name = root+"/"+path[:i], path[i+1:]
	}
	d, err := s.files.OpenRoot(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Remove(name), d.Close())
}

// look reads what is below a root.
func (s *stage) look(root string) (playbed.World, error) {
	d, err := s.files.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	out := playbed.World{}
	return out, errors.Join(s.below(d, root, "", out), d.Close())
}

func (s *stage) below(d interface{ Names() ([]string, error) }, root, at string, out playbed.World) error {
	names, err := d.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		path := strings.TrimPrefix(at+"/"+name, "/")
		sub, err := s.files.OpenRoot(root + "/" + path)
		if err == nil {
			i, serr := sub.Stat()
			out[path] = playbed.Thing{Dir: true, Mode: i.Mode & 0o777}
			if err := errors.Join(serr, s.below(sub, root, path, out), sub.Close()); err != nil {
				return err
			}
			continue
		}
		b, err := s.files.ReadFile(root + "/" + path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		out[path] = playbed.Thing{Mode: 0o644, Text: string(b)}
	}
	return nil
}
