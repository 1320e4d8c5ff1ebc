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
	"github.com/retake-dev/retake/internal/secret"
	"github.com/retake-dev/retake/internal/session"
	"github.com/retake-dev/retake/internal/talk"
)

// A conversation is kept after the files, beside whatever comes next: agents flush
// what was said after they told of the end of a turn.
const (
	talkWait = 2 * time.Second       // for the last words to be there
	talkStep = 50 * time.Millisecond // between two looks
	talkTail = 512                   // bytes by which a file is known again
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
		defer func() { _ = recover() }() // a conversation is context: whatever it holds, the moment stands
		_ = h.keep(h.s.life, x.Key(), x.Transcript, j, message)
	})
}

// keep reads what was said since the last time, and adds it to the checkpoint.
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
	fresh, known, whole, err := h.s.listen(ctx, j.sig.Agent, known, message)
	if err != nil || len(fresh) == 0 && len(known.Segments) == 0 {
		return err
	}
	return h.s.attach(ctx, h, key, j, known, fresh, whole)
}

// listen reads a transcript until the last words are there, or for as long as is worth
// waiting. When the file is not what was kept any more, all of it is read.
func (s *Service) listen(ctx context.Context, agent string, known session.Talk, message string) (fresh []byte, _ session.Talk, whole bool, err error) {
	deadline := time.NewTimer(talkWait)
	defer deadline.Stop()
	for {
		fresh, known, err = s.newWords(known)
		if err == nil && talk.Ends(agent, tailOf(fresh), message) {
			return fresh, known, true, nil
		}
		select {
		case <-ctx.Done():
			return fresh, known, false, ctx.Err()
		case <-deadline.C:
			return fresh, known, false, err
		case <-time.After(talkStep):
		}
	}
}

const endTail = 1 << 20 // of a transcript, for its last words

func tailOf(b []byte) []byte { return b[max(0, len(b)-endTail):] }

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
	if i.Size-known.Bytes > maxTalk {
		return nil, known, fmt.Errorf("read conversation: %d bytes are too many", i.Size)
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

// attach stores new words and writes all of the conversation's parts to the checkpoint.
func (s *Service) attach(ctx context.Context, h *hearing, key string, j *hearingJob, known session.Talk, fresh []byte, whole bool) error {
	st, err := s.store(ctx)
	if err != nil {
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
	if len(fresh) > 0 {
		id, n, err := w.WriteFile(ctx, talkDir, bytes.NewReader(fresh))
		if err != nil {
			return err
		}
		known.Segments = append(known.Segments[:len(known.Segments):len(known.Segments)], retake.Segment{Object: id, Bytes: n})
		known.Bytes += n
		known.Tail = bytes.Clone(fresh[max(0, len(fresh)-talkTail):])
	}
	var doc retake.Conversation
	h.speak(func(state *session.State) {
		if x := state.Find(key); x != nil {
			x.Talk = known
			doc = conversation(x, j.act.Save.Turn.ID)
		}
	})
	if doc.Complete = whole; !whole {
		doc.Missing = "its last words were not there after " + talkWait.String()
	}
	if j.sig.Kind != retake.SignalTurnEnd {
		doc.Complete, doc.Missing = false, "it was in the middle of a turn"
	}
	doc.Secrets = secret.Find(fresh)
	if err := writeTalk(ctx, w, j.checkpoint.Number, doc); err != nil {
		return err
	}
	return s.followed(ctx, w.Head())
}
