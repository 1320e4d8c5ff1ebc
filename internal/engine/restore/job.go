package restore

import (
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

// Job is a plan that is to be done. Its plan was made against the safety checkpoint,
// and the stamps are those of that capture.
type Job struct {
	ID       string
	Plan     retake.Plan
	Root     fsx.Dir
	Trees    store.Trees
	Stamp    func(path string) (Stamp, bool)
	Number   func(fsx.Info) uint64       // the inode number as stamps have it
	Group    func(group string) []Member // files that are there and have several names
	Holds    []func() (fsx.Dir, error)   // directories in which a hold may be made, the best first
	Journals fsx.Dir
	Journal  string // the name of the journal there
	Header   Header
	Resumes  bool // it ends a restore that was cut off, whose journal is there and stays
	Clock    clock.Clock
	Fence    bool // the kernel holds us to the workspace as well
	Progress func(done, total int)
}

// Member is one name of a file with several.
type Member struct {
	Path  string
	Entry retake.Entry
}

// Outcome is what was done.
type Outcome struct {
	Written, Deleted, Merged int
	Failed                   []retake.Failure
	Warnings                 []retake.Warning
	Displaced                []Displaced // what was replaced and deleted; it stays in the hold
}

// Displaced is one file that had a name in the workspace.
type Displaced struct {
	Path string
	Info fsx.Info
}

// errElsewhere: the hold cannot take names of the workspace.
var errElsewhere = errors.New("the hold is on another file system")

// Apply does a plan. After an error nothing was changed, or the journal tells how far
// it came.
func Apply(ctx context.Context, j Job) (Outcome, error) {
	r := &run{Job: j, way: newWay(j.Root), made: map[string]uint64{}, dirs: map[string]uint64{}, mine: map[int]fsx.Info{}, ops: order(&j.Plan), touched: map[string]bool{}, planned: map[string]bool{}}
	r.prepare()
	defer r.way.close()
	if err := r.begin(); err != nil {
		return r.out, fmt.Errorf("begin journal: %w", err)
	}
	err := errElsewhere
	for _, open := range j.Holds {
		if err = r.openHold(open); err != nil {
			continue
		}
		if err = r.do(ctx); !errors.Is(err, errElsewhere) {
			break
		}
		r.dropHold()
	}
	if err != nil {
		return r.out, r.stop(err)
	}
	r.dropLeft()
	_ = r.journal.close() // all is done; the dots are for people
	return r.out, nil
}

// prepare looks at the ops once more. A file with several names is not dressed in its
// place but replaced: one of the names may be somebody else's.
func (r *run) prepare() {
	for i := range r.ops {
		o := &r.ops[i]
		r.planned[o.path] = true
		if s, ok := r.Stamp(o.path); ok && o.deed == dress && s.Nlink > 1 && o.step.Then.Kind == retake.KindFile {
			o.deed = put
		}
		if o.deed == put {
			r.puts++
		}
	}
}

// run is one job at work.
type run struct {
	Job
	ops     []op
	way     *way
	hold    fsx.Dir
	parent  fsx.Dir // of the hold
	journal *journal
	made    map[string]uint64 // directories that we made, by path
	dirs    map[string]uint64 // directories that were there, by path; 0: not known
	puts    int               // ops that bring something
	dressed bool              // a file was dressed in its place
	mine    map[int]fsx.Info  // what was staged, by op
	planned map[string]bool   // the paths of the ops
	touched map[string]bool   // directories in which names were changed
	loose   map[string]uint32 // directories that were made writable, and their modes
	done    int
	out     Outcome
}

func (r *run) begin() error {
	if r.Resumes {
		r.journal = &journal{}
		return nil
	}
	r.Header.ID, r.Header.Total = r.ID, len(r.ops)
	var err error
	r.journal, err = beginJournal(r.Journals, r.Journal, r.Header, &r.Plan)
	return err
}

// stop ends a job that did not get through. If nothing was changed there is nothing to
// finish or to unwind.
func (r *run) stop(err error) error {
	if r.done > 0 || r.out.Written+r.out.Deleted+r.out.Merged > 0 {
		return errors.Join(&CutError{Done: r.done, Total: len(r.ops), Err: err}, r.journal.close(), r.hold.Close(), r.parent.Close())
	}
	r.dropHold()
	if r.Resumes {
		return err
	}
	return errors.Join(err, r.journal.close(), EndJournal(r.Journals, r.Journal))
}

// CutError is a restore that stopped on its way.
type CutError struct {
	Done, Total int
	Err         error
}

func (e *CutError) Error() string {
	return fmt.Sprintf("stopped at %d of %d: %v", e.Done, e.Total, e.Err)
}
func (e *CutError) Unwrap() error { return e.Err }

func (r *run) openHold(open func() (fsx.Dir, error)) error {
	at, err := open()
	if err != nil {
		return err
	}
	root, err := r.Root.Stat()
	if err != nil {
		return closing(err, at)
	}
	there, err := at.Stat()
	if err == nil && there.Dev != root.Dev {
		err = errElsewhere
	}
	if err == nil {
		err = at.Mkdir(r.ID, 0o700)
	}
	if err != nil {
		return closing(err, at)
	}
	hold, err := at.OpenDir(r.ID)
	if err != nil {
		return closing(err, at)
	}
	r.parent, r.hold = at, hold
	if err := r.writeList(); err != nil {
		r.dropHold()
		return err
	}
	return nil
}

// dropHold removes a hold in which nothing but our own new files are.
func (r *run) dropHold() {
	if r.hold == nil {
		return
	}
	for i := range r.ops {
		_ = r.hold.Remove(strconv.Itoa(i)) // garbage, and not in the workspace
	}
	_ = r.hold.Remove(holdList)
	_ = r.hold.Close()
	_ = r.parent.RemoveDir(r.ID)
	_ = r.parent.Close()
	r.hold, r.parent = nil, nil
}

// dropLeft removes the new files that did not come to their place. What was replaced
// and deleted stays in the hold.
func (r *run) dropLeft() {
	for i, o := range r.ops {
		if o.deed == put {
			_ = r.hold.Remove(strconv.Itoa(i) + unused) // garbage
		}
	}
	if len(r.out.Displaced) == 0 {
		_ = r.hold.Remove(holdList)
		_ = r.parent.RemoveDir(r.ID)
	}
	_ = r.hold.Close()
	_ = r.parent.Close()
}

// unused marks a new file whose place was taken.
const unused = ".new"

func (r *run) do(ctx context.Context) error {
	if err := r.stage(ctx); err != nil {
		return err
	}
	var err error
	work := func() { err = r.change(ctx) }
	if !r.Fence || !fsx.Fence([]fsx.Dir{r.Root, r.hold, r.parent}, work) {
		work()
	}
	if err != nil {
		return err
	}
	return r.settleDisk()
}

// change does the ops, then dresses the directories.
func (r *run) change(ctx context.Context) error {
	for i := range r.ops {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := r.one(i, &r.ops[i])
		if errors.Is(err, errElsewhere) && r.done == 0 && len(r.out.Failed) == 0 {
			return err
		}
		if errors.Is(err, fsx.ErrCrashed) {
			return err
		}
		if err != nil {
			r.fail(r.ops[i].path, err)
		}
		r.done++
		r.journal.mark()
		if r.Progress != nil && r.done%16 == 0 {
			r.Progress(r.done, len(r.ops))
		}
	}
	return r.dressDirs()
}

func (r *run) fail(path string, err error) {
	r.out.Failed = append(r.out.Failed, retake.Failure{Path: path, Why: reason(err)})
}

// settleDisk makes what was changed durable.
func (r *run) settleDisk() error {
	if len(r.touched) > fewDirs || r.dressed { // the sync of a directory says nothing of what its files wear
		err := r.Root.SyncFS()
		if errors.Is(err, fsx.ErrUntraced) || errors.Is(err, errors.ErrUnsupported) {
			return nil
		}
		return err
	}
	for _, dir := range sortedKeys(r.touched) {
		d, err := r.way.dir(dir)
		if err != nil {
			continue // it went, or moved on
		}
		if err := d.Sync(); err != nil {
			return err
		}
	}
	return r.hold.Sync()
}

// fewDirs are synced one by one; more, all at once.
const fewDirs = 64

func rootless(path string) string {
	if path == tree.Root {
		return ""
	}
	return path
}
