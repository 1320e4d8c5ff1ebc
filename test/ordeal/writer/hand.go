//go:build linux

package writer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// leafSize is the length of everything that is written here: a generation is one write.
const leafSize = 64

// leaf is a generation as it is written.
func leaf(gen int64) []byte { return fmt.Appendf(nil, "generation %-*d\n", leafSize-12, gen) }

// genOf reads a generation; 0 when there is none.
func genOf(b []byte) (gen int64) {
	if len(b) == leafSize {
		_, _ = fmt.Sscanf(string(b), "generation %d", &gen) // else it is none
	}
	return gen
}

// hand writes numbered generations to paths, one after the other, in three ways. It
// knows which of them it overwrote itself: it looks at what it is about to destroy,
// by the handle it destroys it with. All the others must be somewhere.
type hand struct {
	root, aside string
	paths       []string

	mu      sync.Mutex // held by who wants it to rest; guards everything below
	gen     int64
	live    map[int64]string   // written whole and not overwritten by this hand, by path
	last    map[string]int64   // the newest of each path
	open    map[int][]*os.File // descriptors it writes through, the newest last
	ways    map[string]int
	stopped bool
	err     error
	done    chan struct{}
}

func newHand(root, aside string, paths []string) *hand {
	return &hand{
		root: root, aside: aside, paths: paths, live: map[int64]string{}, last: map[string]int64{}, open: map[int][]*os.File{},
		ways: map[string]int{}, done: make(chan struct{}),
	}
}

// work writes until it is stopped. Whoever holds mu makes it rest.
func (h *hand) work() {
	defer close(h.done)
	for {
		h.mu.Lock()
		if h.stopped || h.err != nil {
			h.mu.Unlock()
			return
		}
		h.gen++
		h.err = h.write(int(h.gen*7)%len(h.paths), h.gen)
		h.mu.Unlock()
	}
}

// stop ends it; mu must be held, and is given back.
func (h *hand) stop() error {
	h.stopped = true
	h.mu.Unlock()
	<-h.done
	h.letGo()
	return h.err
}

// letGo closes the descriptors.
func (h *hand) letGo() {
	for _, files := range h.open {
		for _, f := range files {
			_ = f.Close() // scratch
		}
	}
	clear(h.open)
}

func (h *hand) write(i int, gen int64) (err error) {
	way := []string{"in place", "by truncating", "by renaming"}[(gen/int64(len(h.paths))+int64(i))%3]
	switch way {
	case "in place":
		err = h.inPlace(i, gen)
	case "by truncating":
		err = h.truncating(i, gen)
	default:
		err = h.renaming(i, gen)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", way, err)
	}
	h.ways[way]++
	h.live[gen], h.last[h.paths[i]] = h.paths[i], gen
	return nil
}

// overwrites notes what is in a file that is about to be overwritten.
func (h *hand) overwrites(f *os.File) error {
	b := make([]byte, leafSize)
	n, err := f.ReadAt(b, 0)
	if n == leafSize {
		delete(h.live, genOf(b))
		err = nil
	}
	if n < leafSize {
		err = nil // empty: there was none
	}
	return err
}

func (h *hand) name(i int) string { return filepath.Join(h.root, h.paths[i]) }

// inPlace writes through a descriptor that stays open for a while, whatever name the
// file has by then.
func (h *hand) inPlace(i int, gen int64) error {
	files := h.open[i]
	if len(files) == 0 || gen%4 == 0 {
		f, err := os.OpenFile(h.name(i), os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return err
		}
		if files = append(files, f); len(files) > 3 {
			_ = files[0].Close() // scratch
			files = files[1:]
		}
		h.open[i] = files
	}
	f := files[int(gen/8)%len(files)] // an old one, or the newest
	if err := h.overwrites(f); err != nil {
		return err
	}
	_, err := f.WriteAt(leaf(gen), 0)
	return err
}

func (h *hand) truncating(i int, gen int64) error {
	f, err := os.OpenFile(h.name(i), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	if err = h.overwrites(f); err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.Write(leaf(gen))
	}
	return errors.Join(err, f.Close())
}

// renaming brings a new file to the name. By a swap it gets what it replaced in its
// hand, and can tell.
func (h *hand) renaming(i int, gen int64) error {
	fresh := filepath.Join(h.aside, "fresh")
	if err := os.WriteFile(fresh, leaf(gen), 0o644); err != nil {
		return err
	}
	for {
		err := unix.Renameat2(unix.AT_FDCWD, fresh, unix.AT_FDCWD, h.name(i), unix.RENAME_EXCHANGE)
		if err == nil {
			return h.replaced(i, fresh)
		}
		if !errors.Is(err, unix.ENOENT) {
			return err
		}
		if err = unix.Renameat2(unix.AT_FDCWD, fresh, unix.AT_FDCWD, h.name(i), unix.RENAME_NOREPLACE); err == nil {
			return nil
		}
		if !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
}

// replaced throws away what came out. A descriptor to it leads nowhere from now on.
func (h *hand) replaced(i int, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	was, err := f.Stat()
	if err == nil {
		err = h.overwrites(f)
	}
	if err = errors.Join(err, f.Close(), os.Remove(name)); err != nil {
		return err
	}
	var stay []*os.File
	for _, o := range h.open[i] {
		if now, err := o.Stat(); err == nil && !os.SameFile(was, now) {
			stay = append(stay, o)
			continue
		}
		_ = o.Close() // scratch
	}
	h.open[i] = stay
	return nil
}
