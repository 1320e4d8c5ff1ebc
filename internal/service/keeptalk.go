package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/session"
	"github.com/retake-dev/retake/internal/agents/transcript"
	"github.com/retake-dev/retake/internal/pure/secrets"
	"github.com/retake-dev/retake/internal/storage/store"
)

// A conversation is kept after the files, beside whatever comes next: agents flush
// what was said after they told of the end of a turn.
const (
	talkWait = 2 * time.Second       // for the last words to be there
	talkStep = 50 * time.Millisecond // between two looks
	talkTail = 512                   // bytes by which a file is known again

	missingLooks = 4 // for a transcript that is not there
)

// keepLater keeps the conversation of a session with the checkpoint of a job.
func (h *hearing) keepLater(j *hearingJob) {
	h.mu.Lock()
	var x session.Session
	if p := h.state.Find(j.act.Session); p != nil {
		x = *p
	}
	h.mu.Unlock()
	if x.Transcript == "" {
		return
	}
	message := ""
	if j.sig.Kind == retake.SignalTurnEnd {
		message = j.sig.Message
	}
	h.s.hears.Go(func() {
		h.keeps.Lock()
		defer h.keeps.Unlock()
		h.s.background(taskConversation, func() error { return h.keep(h.s.life, x.Key(), x.Transcript, j, message) })
	})
}

// keep reads what was said since the last time, and adds it to the checkpoint. When what
// was kept is lost, all of it is read.
func (h *hearing) keep(ctx context.Context, key, path string, j *hearingJob, message string) error {
	h.mu.Lock()
	var known session.Talk
	if p := h.state.Find(key); p != nil {
		known = p.Talk
	}
	h.mu.Unlock()
	if known.Path != path {
		known = session.Talk{Path: path}
	}
	whole := h.s.listen(ctx, j.sig.Agent, path, message)
	err := h.keepFrom(ctx, key, j, known, whole)
	if errors.Is(err, errTalkLost) {
		err = h.keepFrom(ctx, key, j, session.Talk{Path: path}, whole)
	}
	return err
}

var errTalkLost = errors.New("what was said before is not kept any more")

func (h *hearing) keepFrom(ctx context.Context, key string, j *hearingJob, known session.Talk, whole bool) error {
	fresh, known, err := h.s.newWords(known)
	if err != nil || len(fresh) == 0 && len(known.Segments) == 0 {
		return err
	}
	doc := retake.Conversation{Complete: whole, Secrets: secrets.FindKinds(fresh)}
	if !whole {
		doc.Missing = "its last words were not there after " + talkWait.String()
	}
	if j.sig.Kind != retake.SignalTurnEnd {
		doc.Complete, doc.Missing = false, "it was in the middle of a turn"
	}
	return h.s.attach(ctx, h, key, j, known, fresh, doc)
}

// listen looks until the last words are in a transcript, or for as long as is worth
// waiting.
func (s *Service) listen(ctx context.Context, agent, path, message string) bool {
	deadline := time.NewTimer(talkWait)
	defer deadline.Stop()
	for looks := 0; ; looks++ {
		tail, err := s.lastWords(path)
		if err == nil && transcript.EndsWith(agent, tail, message) {
			return true
		}
		if err != nil && looks >= missingLooks {
			return false // an agent that keeps a transcript has begun it long before
		}
		select {
		case <-ctx.Done():
			return false
		case <-deadline.C:
			return false
		case <-time.After(talkStep):
		}
	}
}

// lastWords are the end of a transcript, beginning with a whole line.
func (s *Service) lastWords(path string) ([]byte, error) {
	dir, err := s.p.FS.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close() //nolint:errcheck // only read
	f, err := dir.OpenFile(filepath.Base(path))
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	i, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, i.Size-endTail)
	b := make([]byte, min(i.Size-from, endTail))
	n, err := f.ReadAt(b, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if b = b[:n]; from > 0 {
		b = b[bytes.IndexByte(b, '\n')+1:]
	}
	return b, nil
}

const (
	endTail = 1 << 20  // of a transcript, for its last words
	maxTurn = 16 << 20 // of what is said in one turn
)

// newWords are the whole lines after what is kept. Everything about the file is
// hostile: it may be any file, and somebody may write it anew.
func (s *Service) newWords(known session.Talk) ([]byte, session.Talk, error) {
	dir, err := s.p.FS.OpenRoot(filepath.Dir(known.Path))
	if err != nil {
		return nil, known, fmt.Errorf("read conversation: %w", err)
	}
	defer dir.Close() //nolint:errcheck // only read
	f, err := dir.OpenFile(filepath.Base(known.Path))
	if err != nil {
		return nil, known, fmt.Errorf("read conversation: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	i, err := f.Stat()
	if err != nil {
		return nil, known, fmt.Errorf("read conversation: %w", err)
	}
	if !goesOn(f, i.Size, known) {
		known = session.Talk{Path: known.Path}
	}
	if i.Size-known.Bytes > maxTurn {
		return nil, known, fmt.Errorf("read conversation: %d bytes in one turn are too many", i.Size-known.Bytes)
	}
	b := make([]byte, i.Size-known.Bytes)
	n, err := f.ReadAt(b, known.Bytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, known, fmt.Errorf("read conversation: %w", err)
	}
	b = b[:n]
	if end := bytes.LastIndexByte(b, '\n'); !isDocument(known, b) {
		b = b[:end+1]
	}
	return b, known, nil
}

// isDocument reports whether a conversation is one JSON value instead of lines.
func isDocument(known session.Talk, b []byte) bool {
	return known.Bytes == 0 && len(b) > 1 && b[0] == '{' && (b[1] == '\n' || b[1] == '\r')
}

// goesOn reports whether a file still begins with what is kept of it.
func goesOn(f io.ReaderAt, size int64, known session.Talk) bool {
	if size < known.Bytes {
		return false
	}
	tail := make([]byte, len(known.Tail))
	_, err := f.ReadAt(tail, known.Bytes-int64(len(tail)))
	return (err == nil || errors.Is(err, io.EOF)) && bytes.Equal(tail, known.Tail)
}

// longer is a conversation with new words, which it stores.
func longer(ctx context.Context, w store.Writer, known session.Talk, fresh []byte) (session.Talk, error) {
	if len(fresh) == 0 {
		return known, nil
	}
	id, n, err := w.WriteFile(ctx, talkDir, bytes.NewReader(fresh))
	if err != nil {
		return known, err
	}
	known.Segments = append(known.Segments[:len(known.Segments):len(known.Segments)], retake.Segment{Object: id, Bytes: n})
	known.Bytes += n
	known.Tail = bytes.Clone(fresh[max(0, len(fresh)-talkTail):])
	return known, nil
}

// attach stores new words and makes the checkpoint reach all of the conversation. What is
// known of the session changes only when that is durable.
func (s *Service) attach(ctx context.Context, h *hearing, key string, j *hearingJob, known session.Talk, fresh []byte, doc retake.Conversation) error {
	st, err := s.store(ctx)
	if err != nil {
		return err
	}
	if free, floor, err := s.room(); err != nil || free < floor {
		return err
	}
	l := s.liveOf(h.id)
	l.lock()
	defer l.mu.Unlock()
	wait, cancel := context.WithTimeout(ctx, s.p.Wait)
	defer cancel()
	w, err := st.Begin(wait, j.ws)
	if err != nil {
		return err
	}
	defer w.Close() //nolint:errcheck // its upkeep is tried again
	if err := s.follow(ctx, st, w.Head()); err != nil {
		return err
	}
	if len(known.Segments) > 0 && !s.onTimeline(ctx, h.id, known.Number) {
		return errTalkLost
	}
	if known, err = longer(ctx, w, known, fresh); err != nil {
		return err
	}
	t := j.act.Save.Turn
	doc.Agent, doc.Version, doc.Session, doc.Turn = t.Agent, t.Version, t.Session, t.ID
	doc.Path, doc.Bytes, doc.Segments = known.Path, known.Bytes, known.Segments
	if err := writeTalk(ctx, w, j.checkpoint.Number, doc); err != nil {
		return err
	}
	known.Number = j.checkpoint.Number
	h.speak(func(state *session.State) {
		if x := state.Find(key); x != nil {
			x.Talk = known
		}
	})
	return s.followed(ctx, w.Head())
}
