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

// Header is the first line of a journal.
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

// journal records the progress of a restore: a header, the plan, and one mark for each
// operation that is done. Marks are not synced: a power cut may lose some, but never the plan.
// A journal without a file writes nothing.
type journal struct{ f fsx.File }

// createJournal writes header and plan to a temporary file, syncs it and renames it into
// place, so that a journal is complete or absent.
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

// markDone records that one more operation is done. The count is only informative: recovery
// looks at the files.
func (j *journal) markDone() { j.writeMark(doneMark) }

// markSplit records that a file is replaced in two steps, because names cannot be exchanged
// here.
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

// RemoveJournal records that nothing is left to do. Durable.
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

// InterruptedRestore is a restore that did not finish, with its plan.
type InterruptedRestore struct {
	Header
	Plan     retake.Plan
	Done     int
	HasSplit bool // a name may have been taken away and not given again
}

// ReadJournal returns the interrupted restore of a journal, or nil if there is no journal.
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

// ErrJournalDamaged is returned for a journal that cannot be read. The journal was durable
// before the first change, so this is damage and not an interruption.
var ErrJournalDamaged = errors.New("the journal is damaged")

func decodeLine(r *bufio.Reader, v any) error {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, v)
}
