package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// errMoved means that a path is not in the state that the plan expects.
var errMoved = errors.New("changed meanwhile")

// failureReason explains to the user why a path was left unchanged.
func failureReason(err error) string {
	switch {
	case errors.Is(err, errMoved), errors.Is(err, fsx.ErrUnexpectedFile), errors.Is(err, fs.ErrNotExist), errors.Is(err, fsx.ErrNotDir):
		return errMoved.Error()
	case errors.Is(err, fsx.ErrOtherMount):
		return "it is on another file system"
	case errors.Is(err, fsx.ErrNotEmpty): // some systems call that existing, too
		return "it is not empty"
	case errors.Is(err, fs.ErrExist):
		return "something else is there now"
	}
	return fsx.CauseText(err)
}

// applyOp applies one operation. If it returns an error, the path is unchanged. An operation
// that is refused only because of a directory's mode is retried with that directory made
// writable.
func (r *applier) applyOp(i int, o *op) error {
	dir, name, err := r.openKnownParent(o.path)
	if err != nil {
		return err
	}
	where, _ := splitPath(o.path)
	do := func() error {
		switch o.kind {
		case opPut:
			return r.putStaged(dir, name, i, o)
		case opSetMetadata:
			return r.setFileMetadata(dir, name, o)
		case opDelete:
			return r.moveToTrash(dir, name, i, o)
		case opRemoveDir:
			return r.removeEmptyDir(dir, name, o)
		}
		return fmt.Errorf("no deed %d", o.kind)
	}
	r.touchedDirs[where] = true
	if err = do(); errors.Is(err, fs.ErrPermission) && r.makeWritableFor(dir, where, o) {
		err = do()
	}
	if err == nil {
		r.countOp(o)
	} else if o.kind == opPut {
		r.markUnused(i)
	}
	return err
}

// markUnused renames a staged file that was not put in place. If its name in the trash now
// belongs to a file of the workspace, that file is kept.
func (r *applier) markUnused(i int) {
	staged := strconv.Itoa(i)
	mine := r.stagedInfo[i]
	if in, err := r.trash.Lstat(staged); err == nil && in.Ino == mine.Ino && in.Size == mine.Size && in.Mtime == mine.Mtime {
		_ = r.trash.Rename(staged, r.trash, staged+unusedSuffix) // to be removed at the end
	}
}

// makeWritableFor makes writable the directories whose mode alone prevents an operation: the
// parent, and the directory that is moved itself.
func (r *applier) makeWritableFor(dir fsx.Dir, where string, o *op) bool {
	done := r.makeWritable(dir, where)
	if isDir(o.step.Now) {
		if d, err := r.opener.openDir(o.path); err == nil && r.verifyDir(d, o.path) == nil {
			done = r.makeWritable(d, o.path) || done
		}
	}
	return done
}

func (r *applier) countOp(o *op) {
	switch {
	case o.step.Merge != nil:
		r.outcome.Merged++
	case o.kind == opDelete || o.kind == opRemoveDir:
		if o.kind == opDelete {
			r.outcome.Deleted++
		}
	case !isDir(o.step.Then):
		r.outcome.Written++
	}
}

// openKnownParent opens the parent directory of a path and verifies that it is the one the
// plan knows.
func (r *applier) openKnownParent(path string) (fsx.Dir, string, error) {
	where, name := splitPath(path)
	d, err := r.opener.openDir(where)
	if err != nil {
		return nil, "", err
	}
	return d, name, r.verifyDir(d, where)
}

// verifyDir returns errMoved unless d is the directory that the safety checkpoint saw at path,
// or one that we created.
func (r *applier) verifyDir(d fsx.Dir, path string) error {
	if path == "" {
		return nil
	}
	i, err := d.Stat()
	if err != nil {
		return err
	}
	if ino, ok := r.createdDirs[path]; ok {
		if ino != i.Ino {
			return errMoved
		}
		return nil
	}
	ino, ok := r.knownDirs[path]
	if !ok {
		want, _ := r.Stamp(path)
		ino = want.Ino
		r.knownDirs[path] = ino
	}
	if ino == 0 || ino != r.InodeNumber(i) {
		return errMoved
	}
	return nil
}

// makeWritable adds write permission to a directory whose mode lacks it; the mode is restored
// at the end.
func (r *applier) makeWritable(d fsx.Dir, path string) bool {
	i, err := d.Stat()
	if err != nil || i.Mode&0o300 == 0o300 {
		return false
	}
	if err := d.SetOwnMetadata(fsx.Metadata{Mode: i.Mode | 0o300, Mtime: i.Mtime}); err != nil {
		return false
	}
	if r.loosenedDirs == nil {
		r.loosenedDirs = map[string]uint32{}
	}
	r.loosenedDirs[path] = i.Mode
	return true
}

// verifyStamp compares a file with the stamp of the safety checkpoint. Renaming changes the
// change time, so it is compared only before the rename, and not for files with several links:
// we may have renamed another link.
func (r *applier) verifyStamp(path string, i fsx.Info, before bool) error {
	want, ok := r.Stamp(path)
	if !ok || want.Ino != r.InodeNumber(i) {
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

// putStaged moves a staged file to its place.
func (r *applier) putStaged(dir fsx.Dir, name string, i int, o *op) error {
	staged := strconv.Itoa(i)
	mine, err := r.trash.Lstat(staged)
	if err != nil {
		return err
	}
	r.stagedInfo[i] = mine
	if o.step.Now == nil {
		err = r.wrapOtherMount(r.trash.RenameNoReplace(staged, dir, name))
	} else {
		err = r.replaceFile(dir, name, staged, mine.Ino, o)
	}
	if err != nil {
		return err
	}
	delete(r.loosenedDirs, o.path)
	if isDir(o.step.Then) {
		r.createdDirs[o.path] = mine.Ino
	}
	if isDir(o.step.Now) || isDir(o.step.Then) {
		r.opener.invalidate(o.path)
	}
	return nil
}

// wrapOtherMount turns a cross-device error into errTrashElsewhere as long as nothing was
// changed.
func (r *applier) wrapOtherMount(err error) error {
	if errors.Is(err, fsx.ErrOtherMount) && r.done == 0 {
		return errTrashElsewhere
	}
	return err
}

// replaceFile exchanges the staged file with the existing one and verifies the file that came
// out. If it is not the expected one, they are exchanged back (R1, R2).
func (r *applier) replaceFile(dir fsx.Dir, name, staged string, mine uint64, o *op) error {
	i, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	if err := r.verifyStamp(o.path, i, true); err != nil {
		return err
	}
	err = r.wrapOtherMount(r.trash.Exchange(staged, dir, name))
	if errors.Is(err, errors.ErrUnsupported) {
		return r.replaceWithoutExchange(dir, name, staged, o)
	}
	if err != nil {
		return err
	}
	if err := r.verifyDisplaced(staged, o); err != nil {
		return errors.Join(err, r.swapBack(dir, name, staged, mine))
	}
	return nil
}

// swapBack undoes an exchange. If the file that comes out is not ours, somebody replaced the
// name meanwhile: their file is put back and the earlier one stays in the trash. If the name
// is gone, the earlier file stays in the trash too.
func (r *applier) swapBack(dir fsx.Dir, name, staged string, mine uint64) error {
	err := r.trash.Exchange(staged, dir, name)
	if err == nil {
		if i, lerr := r.trash.Lstat(staged); lerr == nil && i.Ino != mine {
			err = r.trash.Exchange(staged, dir, name)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// verifyDisplaced checks the file that was moved to the trash. A directory must be empty and
// is removed.
func (r *applier) verifyDisplaced(held string, o *op) error {
	i, err := r.trash.Lstat(held)
	if err == nil {
		err = r.verifyStamp(o.path, i, false)
	}
	if err == nil && i.Type == fsx.Directory {
		return r.trash.RemoveDir(held)
	}
	if err == nil {
		r.outcome.Displaced = append(r.outcome.Displaced, Displaced{o.path, i})
	}
	return err
}

// replacedSuffix marks a replaced file in the trash where names cannot be exchanged.
const replacedSuffix = ".was"

// replaceWithoutExchange replaces a file on file systems that cannot exchange names. For a
// moment nothing has the name; the journal records that.
func (r *applier) replaceWithoutExchange(dir fsx.Dir, name, staged string, o *op) error {
	old := staged + replacedSuffix
	r.journal.markSplit()
	if err := r.wrapOtherMount(dir.RenameNoReplace(name, r.trash, old)); err != nil {
		return err
	}
	err := r.verifyDisplaced(old, o)
	if err == nil {
		err = r.trash.RenameNoReplace(staged, dir, name)
	}
	if err != nil {
		return errors.Join(err, r.moveBack(old, dir, name))
	}
	return nil
}

// moveBack moves a file from the trash back to its name. If the name was taken meanwhile, the
// file stays in the trash.
func (r *applier) moveBack(held string, dir fsx.Dir, name string) error {
	err := r.trash.RenameNoReplace(held, dir, name)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// setFileMetadata changes only the metadata of a file. It is refused for files with several
// links, since another link may belong to somebody else.
func (r *applier) setFileMetadata(dir fsx.Dir, name string, o *op) error {
	i, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	if err := r.verifyStamp(o.path, i, true); err != nil {
		return err
	}
	r.metadataChanged = true
	return r.applyMetadata(o.step.Then, func(d fsx.Metadata) error {
		d.RequireSingleLink = true
		return dir.SetMetadata(name, i.Ino, d)
	})
}

// moveToTrash moves a file to the trash, verifies it there, and moves it back if it is not the
// expected one.
func (r *applier) moveToTrash(dir fsx.Dir, name string, i int, o *op) error {
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	if err := r.verifyStamp(o.path, info, true); err != nil {
		return err
	}
	held := strconv.Itoa(i)
	if err := r.wrapOtherMount(dir.RenameNoReplace(name, r.trash, held)); err != nil {
		return err
	}
	if err := r.verifyDisplaced(held, o); err != nil {
		return errors.Join(err, r.moveBack(held, dir, name))
	}
	return nil
}

// removeEmptyDir removes a directory, which must be empty.
func (r *applier) removeEmptyDir(dir fsx.Dir, name string, o *op) error {
	i, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	if err := r.verifyStamp(o.path, i, true); err != nil {
		return err
	}
	r.opener.invalidate(o.path)
	if err := dir.RemoveDir(name); err != nil {
		return err
	}
	delete(r.loosenedDirs, o.path)
	return nil
}
