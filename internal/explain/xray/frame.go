package xray

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Both sides talk in frames: a length of four bytes, then that many bytes. The parent
// begins with its key. For each file it sends the name of the reader, the bytes in chunks
// and an empty frame, and the same for the log; the child returns one reading. For a
// comparison of rows it sends its name, the question, and the bytes and the log of each
// side that is there.

const (
	maxChunkSize  = 256 * kilo
	maxAnswerSize = 16 * mega
)

// abortMark replaces the length of a chunk if the rest of a file will not come.
const abortMark = ^uint32(0)

var errFrameTooLong = errors.New("a frame is too long")

func writeFrame(w io.Writer, b []byte) error {
	if _, err := w.Write(binary.BigEndian.AppendUint32(nil, uint32(len(b)))); err != nil {
		return err
	}
	_, err := w.Write(b)
	return err
}

func writeAbort(w io.Writer) error {
	_, err := w.Write(binary.BigEndian.AppendUint32(nil, abortMark))
	return err
}

// readFrame reads one frame. It allocates for bytes that arrived, not for a length that was
// only announced. whole is false if the sender aborted.
func readFrame(r io.Reader, limit int) (b []byte, whole bool, err error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, false, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == abortMark {
		return nil, false, nil
	}
	if int64(n) > int64(limit) {
		return nil, false, errFrameTooLong
	}
	if n <= maxChunkSize {
		b = make([]byte, n)
		_, err = io.ReadFull(r, b)
		return b, true, err
	}
	b, err = io.ReadAll(io.LimitReader(r, int64(n)))
	if err == nil && len(b) < int(n) {
		err = io.ErrUnexpectedEOF
	}
	return b, true, err
}

// childAnswer is what the child returns for one request.
type childAnswer struct {
	Reading
	Rows *RowsResult `json:"rows,omitempty"` // instead of the reading
	Last bool        `json:"last,omitempty"` // it ends itself
}

// send writes an answer. It returns an error after the last answer, so that the child
// exits.
func (a childAnswer) send(w io.Writer) error {
	if err := a.write(w); err != nil {
		return err
	}
	if a.Last {
		return errOutOfMemory
	}
	return nil
}

func (a childAnswer) write(w io.Writer) error {
	b, err := json.Marshal(a)
	if err == nil && len(b) > maxAnswerSize {
		b, err = json.Marshal(childAnswer{Reading: Reading{Why: string(reasonOutOfMemory)}})
	}
	if err != nil {
		return fmt.Errorf("write an answer: %w", err)
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(b)), uint32(len(b))), b...)) // in one piece
	return err
}
