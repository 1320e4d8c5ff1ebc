package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/pure/tree"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Stamp is what a path looked like when the safety checkpoint read it.
type Stamp struct {
	Ino   uint64
	Nlink uint64
	Size  int64
	Mtime int64
	Ctime int64
}

// Job is a plan to apply. The plan was made against the safety checkpoint, and Stamp returns
// what that capture saw.
type Job struct {
	ID          string
	Plan        retake.Plan
	Root        fsx.Dir
	Trees       store.Trees
	Stamp       func(path string) (Stamp, bool)
	InodeNumber func(fsx.Info) uint64       // the inode number as stamps have it
	LinkGroup   func(group string) []Member // files that are there and have several names
	TrashDirs   []func() (fsx.Dir, error)   // parents in which the trash may be created, the best first
	JournalDir  fsx.Dir
	JournalName string // the name of the journal there
	Header      Header
	Resumes     bool // it ends a restore that was cut off, whose journal is there and stays
	Clock       clock.Clock
	Fence       bool // the kernel holds us to the workspace as well
	Progress    func(done, total int)
}

// Member is one name of a file that has several hard links.
type Member struct {
	Path  string
	Entry retake.Entry
}

// Outcome is what a restore did.
type Outcome struct {
	Written, Deleted, Merged int
	Failed                   []retake.Failure
	Warnings                 []retake.Warning
	Displaced                []Displaced // what was replaced and deleted; it stays in the trash
}

// Displaced is a file that was replaced or deleted. It is in the trash now.
type Displaced struct {
	Path string
	Info fsx.Info
}

// errTrashElsewhere means that files cannot be renamed from the workspace into this trash
// directory.
var errTrashElsewhere = errors.New("the hold is on another file system")

// Apply applies a plan. If it returns an error, either nothing was changed or the journal says
// how far it got.
func Apply(ctx context.Context, j Job) (Outcome, error) {
	r := &applier{Job: j, opener: newDirOpener(j.Root), createdDirs: map[string]uint64{}, knownDirs: map[string]uint64{}, stagedInfo: map[int]fsx.Info{}, ops: orderOps(&j.Plan), touchedDirs: map[string]bool{}, plannedPaths: map[string]bool{}}
	r.prepareOps()
	defer r.opener.closeAll()
	if err := r.startJournal(); err != nil {
		return r.outcome, fmt.Errorf("begin journal: %w", err)
	}
	err := errTrashElsewhere
	for _, open := range j.TrashDirs {
		if err = r.openTrash(open); err != nil {
			continue
		}
		if err = r.execute(ctx); !errors.Is(err, errTrashElsewhere) {
			break
		}
		r.removeTrash()
	}
	if err != nil {
		return r.outcome, r.abort(err)
	}
	r.removeUnusedStaged()
	_ = r.journal.close() // all is done; the dots are for people
	return r.outcome, nil
}

// prepareOps adjusts the operations to what is on disk. A file with several hard links is
// replaced instead of being changed in place, because another link may belong to somebody
// else; one that loses its capabilities, because only root can take them away.
func (r *applier) prepareOps() {
	for i := range r.ops {
		o := &r.ops[i]
		r.plannedPaths[o.path] = true
		if s, ok := r.Stamp(o.path); ok && o.kind == opSetMetadata && o.step.Then.Kind == retake.KindFile && (s.Nlink > 1 || losesCapability(o.step)) {
			o.kind = opPut
		}
		if o.kind == opPut {
			r.putCount++
		}
	}
}

// applier applies one job.
type applier struct {
	Job
	ops             []op
	opener          *dirOpener
	trash           fsx.Dir
	trashParent     fsx.Dir // of the trash
	journal         *journal
	createdDirs     map[string]uint64 // directories that we made, by path
	knownDirs       map[string]uint64 // directories that were there, by path; 0: not known
	putCount        int               // ops that bring something
	metadataChanged bool              // the metadata of a file was changed in place
	stagedInfo      map[int]fsx.Info  // what was staged, by op
	plannedPaths    map[string]bool   // the paths of the ops
	touchedDirs     map[string]bool   // directories in which names were changed
	loosenedDirs    map[string]uint32 // directories that were made writable, and their modes
	done            int
	outcome         Outcome
}

// startJournal makes the journal durable before the first change (R3). A resumed restore
// already has one.
func (r *applier) startJournal() error {
	if r.Resumes {
		r.journal = &journal{}
		return nil
	}
	r.Header.ID, r.Header.Total = r.ID, len(r.ops)
	var err error
	r.journal, err = createJournal(r.JournalDir, r.JournalName, r.Header, &r.Plan)
	return err
}

// abort ends a job after an error. If nothing was changed, it also removes the trash and the
// journal: there is nothing to finish or to undo.
func (r *applier) abort(err error) error {
	if r.done > 0 || r.outcome.Written+r.outcome.Deleted+r.outcome.Merged > 0 {
		return errors.Join(&InterruptedError{Done: r.done, Total: len(r.ops), Err: err}, r.journal.close(), r.trash.Close(), r.trashParent.Close())
	}
	r.removeTrash()
	if r.Resumes {
		return err
	}
	return errors.Join(err, r.journal.close(), RemoveJournal(r.JournalDir, r.JournalName))
}

// InterruptedError is returned by a restore that stopped after it had changed something.
type InterruptedError struct {
	Done, Total int
	Err         error
}

func (e *InterruptedError) Error() string {
	return fmt.Sprintf("stopped at %d of %d: %v", e.Done, e.Total, e.Err)
}
func (e *InterruptedError) Unwrap() error { return e.Err }

// openTrash creates the trash directory of this restore and writes its manifest. It fails with
// errTrashElsewhere if the directory is on another file system than the workspace.
func (r *applier) openTrash(open func() (fsx.Dir, error)) error {
	at, err := open()
	if err != nil {
		return err
	}
	root, err := r.Root.Stat()
	if err != nil {
		return joinClose(err, at)
	}
	there, err := at.Stat()
	if err == nil && (there.Dev != root.Dev || isOtherMount(at, r.Root, r.ID+"-absent")) {
		err = errTrashElsewhere
	}
	if err == nil {
		err = at.Mkdir(r.ID, 0o700)
	}
	if err != nil {
		return joinClose(err, at)
	}
	trash, err := at.OpenDir(r.ID)
	if err != nil {
		return joinClose(err, at)
	}
	r.trashParent, r.trash = at, trash
	if err := r.writeTrashManifest(); err != nil {
		r.removeTrash()
		return err
	}
	return nil
}

// losesCapability reports whether a file has other capabilities now than it gets.
func losesCapability(s retake.Step) bool {
	now := extraOf(s.Now).Xattrs[fsx.CapabilityXattr]
	return now != nil && !bytes.Equal(now, extraOf(s.Then).Xattrs[fsx.CapabilityXattr])
}

// isOtherMount reports whether no name can go from one directory to the other, as with a bind
// mount of the same file system. The kernel compares mounts before it looks for the name, so that
// one that does not exist tells without changing anything.
func isOtherMount(from, to fsx.Dir, absent string) bool {
	return errors.Is(from.RenameNoReplace(absent, to, absent), fsx.ErrOtherMount)
}

// removeTrash removes a trash directory that contains only our own staged files.
func (r *applier) removeTrash() {
	if r.trash == nil {
		return
	}
	for i := range r.ops {
		_ = r.trash.Remove(strconv.Itoa(i)) // garbage, and not in the workspace
	}
	_ = r.trash.Remove(trashManifest)
	_ = r.trash.Close()
	_ = r.trashParent.RemoveDir(r.ID)
	_ = r.trashParent.Close()
	r.trash, r.trashParent = nil, nil
}

// removeUnusedStaged removes staged files that were not put in place. Replaced and deleted
// files stay in the trash.
func (r *applier) removeUnusedStaged() {
	for i, o := range r.ops {
		if o.kind == opPut {
			_ = r.trash.Remove(strconv.Itoa(i) + unusedSuffix) // garbage
		}
	}
	if len(r.outcome.Displaced) == 0 {
		_ = r.trash.Remove(trashManifest)
		_ = r.trashParent.RemoveDir(r.ID)
	}
	_ = r.trash.Close()
	_ = r.trashParent.Close()
}

// unusedSuffix marks a staged file that was not put in place.
const unusedSuffix = ".new"

// execute stages all new files, applies the operations and makes the result durable.
func (r *applier) execute(ctx context.Context) error {
	if err := r.stageAll(ctx); err != nil {
		return err
	}
	var err error
	work := func() { err = r.applyOps(ctx) }
	if !r.Fence || !fsx.RunWithLandlock([]fsx.Dir{r.Root, r.trash, r.trashParent}, work) {
		work()
	}
	if err != nil {
		return err
	}
	return r.syncChanges()
}

// applyOps applies the operations in order, then sets the metadata of directories. A failed
// operation is recorded and the others go on; only a trash directory on another file system
// ends it, and only before anything was changed.
func (r *applier) applyOps(ctx context.Context) error {
	for i := range r.ops {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := r.applyOp(i, &r.ops[i])
		if errors.Is(err, errTrashElsewhere) && r.done == 0 && len(r.outcome.Failed) == 0 {
			return err
		}
		if errors.Is(err, fsx.ErrCrashed) {
			return err
		}
		if err != nil {
			r.recordFailure(r.ops[i].path, err)
		}
		r.done++
		r.journal.markDone()
		if r.Progress != nil && r.done%16 == 0 {
			r.Progress(r.done, len(r.ops))
		}
	}
	return r.setDirsMetadata()
}

func (r *applier) recordFailure(path string, err error) {
	r.outcome.Failed = append(r.outcome.Failed, retake.Failure{Path: path, Why: failureReason(err)})
}

// syncChanges makes the changes durable: directory by directory if there are few, otherwise
// with one sync of the file system. Syncing a directory does not sync the metadata of its
// files.
func (r *applier) syncChanges() error {
	if len(r.touchedDirs) > maxSingleSyncs || r.metadataChanged { // the sync of a directory says nothing of the metadata of its files
		err := r.Root.SyncFS()
		if errors.Is(err, fsx.ErrNoWriteback) || errors.Is(err, errors.ErrUnsupported) {
			return nil
		}
		return err
	}
	for _, dir := range sortedKeys(r.touchedDirs) {
		d, err := r.opener.openDir(dir)
		if err != nil {
			continue // it went, or moved on
		}
		if err := d.Sync(); err != nil {
			return err
		}
	}
	return r.trash.Sync()
}

// maxSingleSyncs is the number of directories or files that are synced one by one; more are
// synced at once.
const maxSingleSyncs = 64

// trimRoot returns "" for the root and any other path unchanged; displayPath is the inverse.
func trimRoot(path string) string {
	if path == tree.Root {
		return ""
	}
	return path
}
