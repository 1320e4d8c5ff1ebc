package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// errMoved: a path is not as the plan expects.
var errMoved = errors.New("changed meanwhile")

// reason says why a path was left.
func reason(err error) string {
	switch {
	case errors.Is(err, errMoved), errors.Is(err, fsx.ErrMovedOn), errors.Is(err, fs.ErrNotExist), errors.Is(err, fsx.ErrNotDir), errors.Is(err, fsx.ErrOtherMount):
		return errMoved.Error()
	case errors.Is(err, fsx.ErrNotEmpty): // some systems call that existing, too
		return "it is not empty"
	case errors.Is(err, fs.ErrExist):
		return "something else is there now"
	}
	return fsx.Cause(err)
}

// one does one op. An error means that this path is as it was.
func (r *run) one(i int, o *op) error {
	dir, name, err := r.at(o.path)
	if err != nil {
		return err
	}
	where, _ := split(o.path)
	do := func() error {
		switch o.deed {
		case put:
			return r.put(dir, name, i, o)
		case dress:
			return r.dress(dir, name, o)
		case drop:
			return r.drop(dir, name, i, o)
		case vacate:
			return r.vacate(dir, name, o)
		}
		return fmt.Errorf("no deed %d", o.deed)
	}
	r.touched[where] = true
	if err = do(); errors.Is(err, fs.ErrPermission) && r.loosenFor(dir, where, o) {
		err = do()
	}
	if err == nil {
		r.count(o)
	} else if o.deed == put {
		r.setAside(i)
	}
	return err
}

// setAside marks a staged file that did not come to its place. What is in the hold under
// its name may be somebody's instead: that stays.
func (r *run) setAside(i int) {
	staged := strconv.Itoa(i)
	mine := r.mine[i]
	if in, err := r.hold.Lstat(staged); err == nil && in.Ino == mine.Ino && in.Size == mine.Size && in.Mtime == mine.Mtime {
		_ = r.hold.Rename(staged, r.hold, staged+unused) // to be removed at the end
	}
}

// loosenFor makes writable what stands against an op by its mode alone: the directory of
// its name, and a directory that is moved away itself.
func (r *run) loosenFor(dir fsx.Dir, where string, o *op) bool {
	done := r.loosen(dir, where)
	if isDir(o.step.Now) {
		if d, err := r.way.dir(o.path); err == nil && r.known(d, o.path) == nil {
			done = r.loosen(d, o.path) || done
		}
	}
	return done
}

func (r *run) count(o *op) {
	switch {
	case o.step.Merge != nil:
		r.out.Merged++
	case o.deed == drop || o.deed == vacate:
		if o.deed == drop {
			r.out.Deleted++
		}
	case !isDir(o.step.Then):
		r.out.Written++
	}
}

// at opens the directory that a path lies in, if it is the one that the plan knows.
func (r *run) at(path string) (fsx.Dir, string, error) {
	where, name := split(path)
	d, err := r.way.dir(where)
	if err != nil {
		return nil, "", err
	}
	return d, name, r.known(d, where)
}

func (r *run) known(d fsx.Dir, path string) error {
	if path == "" {
		return nil
	}
	i, err := d.Stat()
	if err != nil {
		return err
	}
	if ino, ok := r.made[path]; ok {
		if ino != i.Ino {
			return errMoved
		}
		return nil
	}
	ino, ok := r.dirs[path]
	if !ok {
		want, _ := r.Stamp(path)
		ino = want.Ino
		r.dirs[path] = ino
	}
	if ino == 0 || ino != r.Number(i) {
		return errMoved
	}
	return nil
}

// loosen makes a directory writable that only its mode protects; it gets its mode
// back at the end.
func (r *run) loosen(d fsx.Dir, path string) bool {
	i, err := d.Stat()
	if err != nil || i.Mode&0o300 == 0o300 {
		return false
	}
	if err := d.DressSelf(fsx.Dressing{Mode: i.Mode | 0o300, Mtime: i.Mtime}); err != nil {
		return false
	}
	if r.loose == nil {
		r.loose = map[string]uint32{}
	}
	r.loose[path] = i.Mode
	return true
}

// expects compares a name with its stamp. Renaming gives a file another change time,
// so that counts only before, and not for a file with several names: we may have renamed
// another of them.
func (r *run) expects(path string, i fsx.Info, before bool) error {
	want, ok := r.Stamp(path)
	if !ok || want.Ino != r.Number(i) {
		return errMoved
	}
	if i.Type == fsx.Directory {
		return nil
	}
	if want.Size != i.Size || want.Mtime != i.Mtime || before && want.Nlink <= 1 && want.Ctime != i.Ctime {
		return errMoved
	}
	return nil
}

// put brings the staged file to its name.
func (r *run) put(dir fsx.Dir, name string, i int, o *op) error {
	staged := strconv.Itoa(i)
	mine, err := r.hold.Lstat(staged)
	if err != nil {
		return err
	}
	r.mine[i] = mine
	if o.step.Now == nil {
		err = r.elsewhere(r.hold.Place(staged, dir, name))
	} else {
		err = r.replace(dir, name, staged, mine.Ino, o)
	}
	if err != nil {
		return err
	}
	delete(r.loose, o.path)
	if isDir(o.step.Then) {
		r.made[o.path] = mine.Ino
	}
	if isDir(o.step.Now) || isDir(o.step.Then) {
		r.way.forget(o.path)
	}
	return nil
}

// elsewhere tells a hold on another file system from other trouble.
func (r *run) elsewhere(err error) error {
	if errors.Is(err, fsx.ErrOtherMount) && r.done == 0 {
		return errElsewhere
	}
	return err
}

// replace swaps the staged file with what is there, and looks at what came out. If
// that is not what the plan expects, they are swapped back.
func (r *run) replace(dir fsx.Dir, name, staged string, mine uint64, o *op) error {
	i, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	if err := r.expects(o.path, i, true); err != nil {
		return err
	}
	err = r.elsewhere(r.hold.Exchange(staged, dir, name))
	if errors.Is(err, errors.ErrUnsupported) {
		return r.replaceInTwo(dir, name, staged, o)
	}
	if err != nil {
		return err
	}
	if err := r.came(staged, o); err != nil {
		return errors.Join(err, r.swapBack(dir, name, staged, mine))
	}
	return nil
}

// swapBack gives a name back what it had. If ours is not what comes out, somebody took
// the name meanwhile: what he put there goes back to it, and what it had before stays in
// the hold. If the name went, it stays there as well.
func (r *run) swapBack(dir fsx.Dir, name, staged string, mine uint64) error {
	err := r.hold.Exchange(staged, dir, name)
	if err == nil {
		if i, lerr := r.hold.Lstat(staged); lerr == nil && i.Ino != mine {
			err = r.hold.Exchange(staged, dir, name)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// came looks at what is in the hold now. A directory must be empty, and is not kept.
func (r *run) came(held string, o *op) error {
	i, err := r.hold.Lstat(held)
	if err == nil {
		err = r.expects(o.path, i, false)
	}
	if err == nil && i.Type == fsx.Directory {
		return r.hold.RemoveDir(held)
	}
	if err == nil {
		r.out.Displaced = append(r.out.Displaced, Displaced{o.path, i})
	}
	return err
}

// wasThere marks what had the name, where names cannot be swapped.
const wasThere = ".was"

// replaceInTwo is for file systems that cannot swap: for a moment nothing has the name.
func (r *run) replaceInTwo(dir fsx.Dir, name, staged string, o *op) error {
	old := staged + wasThere
	r.journal.split()
	if err := r.elsewhere(dir.Place(name, r.hold, old)); err != nil {
		return err
	}
	err := r.came(old, o)
	if err == nil {
		err = r.hold.Place(staged, dir, name)
	}
	if err != nil {
		return errors.Join(err, r.back(old, dir, name))
	}
	return nil
}

// back puts something to the name it had. If the name was taken meanwhile, it stays in
// the hold.
func (r *run) back(held string, dir fsx.Dir, name string) error {
	err := r.hold.Place(held, dir, name)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// dress changes what a file wears, and nothing else. A file with several names may be
// somebody else's too.
func (r *run) dress(dir fsx.Dir, name string, o *op) error {
	i, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	if err := r.expects(o.path, i, true); err != nil {
		return err
	}
	r.dressed = true
	return r.dressing(o.step.Then, func(d fsx.Dressing) error {
		d.SingleName = true
		return dir.Dress(name, i.Ino, d)
	})
}

func (r *run) drop(dir fsx.Dir, name string, i int, o *op) error {
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	if err := r.expects(o.path, info, true); err != nil {
		return err
	}
	held := strconv.Itoa(i)
	if err := r.elsewhere(dir.Place(name, r.hold, held)); err != nil {
		return err
	}
	if err := r.came(held, o); err != nil {
		return errors.Join(err, r.back(held, dir, name))
	}
	return nil
}

func (r *run) vacate(dir fsx.Dir, name string, o *op) error {
	i, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	if err := r.expects(o.path, i, true); err != nil {
		return err
	}
	r.way.forget(o.path)
	if err := dir.RemoveDir(name); err != nil {
		return err
	}
	delete(r.loose, o.path)
	return nil
}
