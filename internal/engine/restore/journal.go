package restore

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// Header is what a journal says first.
type Header struct {
	V      int               `json:"v"`
	ID     string            `json:"id"`
	Course retake.Course     `json:"course"`
	Target retake.Checkpoint `json:"target"`
	Safety retake.Checkpoint `json:"safety"`
	Since  time.Time         `json:"since"`
	Total  int               `json:"total"`
}

const journalVersion = 1

// journal tells how far a restore came: a header, the plan, and a dot for each op
// that is done. The dots are not synced; a power cut may lose some, never the plan.
// Without a file it is silent.
type journal struct{ f fsx.File }

func createJournal(dir fsx.Dir, name string, h Header, p *retake.Plan) (*journal, error) {
	fresh := name + ".new"
	if err := dir.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	h.V = journalVersion
	f, err := dir.Create(fresh, 0o600)
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(f, 64<<10)
	enc := json.NewEncoder(w)
	err = errors.Join(enc.Encode(h), enc.Encode(p), w.Flush())
	if err == nil {
		err = f.Sync()
	}
	if err = joinClose(err, f); err != nil {
		return nil, err
	}
	if err := dir.RenameNoReplace(fresh, dir, name); err != nil {
		return nil, err
	}
	if err := dir.Sync(); err != nil {
		return nil, err
	}
	if f, err = dir.Append(name, 0o600); err != nil {
		return nil, err
	}
	return &journal{f: f}, nil
}

// markDone notes that one more op is done. It is for people: what is really done is seen
// at the files.
func (j *journal) markDone() { j.writeMark(doneMark) }

// markSplit notes that names are not swapped here but taken away and given again.
func (j *journal) markSplit() { j.writeMark(splitMark) }

func (j *journal) writeMark(c byte) {
	if j.f != nil {
		_, _ = j.f.Write([]byte{c})
	}
}

const doneMark, splitMark = '.', 'x'

func (j *journal) close() error {
	if j.f == nil {
		return nil
	}
	return j.f.Close()
}

// RemoveJournal says that nothing is left to be done.
func RemoveJournal(dir fsx.Dir, name string) error {
	err := dir.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return dir.Sync()
}

// InterruptedRestore is a restore that was cut off, with its plan.
type InterruptedRestore struct {
	Header
	Plan     retake.Plan
	Done     int
	HasSplit bool // a name may have been taken away and not given again
}

// ReadJournal answers what was cut off; nil when nothing was.
func ReadJournal(dir fsx.Dir, name string) (*InterruptedRestore, error) {
	f, err := dir.OpenFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	r := bufio.NewReaderSize(f, 64<<10)
	var c InterruptedRestore
	if err := errors.Join(decodeLine(r, &c.Header), decodeLine(r, &c.Plan)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrJournalDamaged, err)
	}
	marks, err := io.ReadAll(r)
	c.Done = min(bytes.Count(marks, []byte{doneMark}), c.Total)
	c.HasSplit = bytes.IndexByte(marks, splitMark) >= 0
	return &c, err
}

// ErrJournal is a journal that cannot be read. It was durable before anything was
// changed, so this is damage, not a cut.
var ErrJournalDamaged = errors.New("the journal is damaged")

func decodeLine(r *bufio.Reader, v any) error {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, v)
}
