package agentstate

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
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store"
)

// A transcript is saved after the files and in the background: agents flush the last
// message after they report the end of a turn.
const (
	TranscriptWait         = 2 * time.Second       // for the last message to be written
	transcriptPollInterval = 50 * time.Millisecond // between two reads
	transcriptTailSize     = 512                   // bytes by which a transcript is recognized

	maxMissingPolls = 4 // for a transcript that does not exist
)

// saveTranscriptLater saves the transcript of a session with the checkpoint of a job, in
// the background.
func (h *State) saveTranscriptLater(j *signalJob) {
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
	h.svc.workspaces.Work.Go(func() {
		h.transcripts.Lock()
		defer h.transcripts.Unlock()
		h.svc.workspaces.RunTask(workspace.TaskConversation, func() error { return h.saveTranscript(h.svc.workspaces.Lifetime, x.Key(), x.Transcript, j, message) })
	})
}

// saveTranscript adds the new part of a transcript to the checkpoint of a job. If the
// stored part is lost, the whole transcript is read again.
func (h *State) saveTranscript(ctx context.Context, key, path string, j *signalJob, message string) error {
	h.mu.Lock()
	var known session.Talk
	if p := h.state.Find(key); p != nil {
		known = p.Talk
	}
	h.mu.Unlock()
	if known.Path != path {
		known = session.Talk{Path: path}
	}
	whole := h.svc.waitForMessage(ctx, j.sig.Agent, path, message)
	err := h.saveTranscriptFrom(ctx, key, j, known, whole)
	if errors.Is(err, errTranscriptLost) {
		err = h.saveTranscriptFrom(ctx, key, j, session.Talk{Path: path}, whole)
	}
	return err
}

var errTranscriptLost = errors.New("what was said before is not kept any more")

// saveTranscriptFrom adds what follows the known part of a transcript to the checkpoint.
// whole says whether the last message is in it.
func (h *State) saveTranscriptFrom(ctx context.Context, key string, j *signalJob, known session.Talk, whole bool) error {
	fresh, known, err := h.svc.readNewLines(known)
	if err != nil || len(fresh) == 0 && len(known.Segments) == 0 {
		return err
	}
	doc := retake.Conversation{Complete: whole, Secrets: secrets.FindKinds(fresh)}
	if !whole {
		doc.Missing = "its last words were not there after " + TranscriptWait.String()
	}
	if j.sig.Kind != retake.SignalTurnEnd {
		doc.Complete, doc.Missing = false, "it was in the middle of a turn"
	}
	return h.svc.attachConversation(ctx, h, key, j, known, fresh, doc)
}

// waitForMessage waits until the last message of a turn is in the transcript, for at most
// transcriptWait, and reports whether it is.
func (s *Agents) waitForMessage(ctx context.Context, agent, path, message string) bool {
	deadline := time.NewTimer(TranscriptWait)
	defer deadline.Stop()
	for looks := 0; ; looks++ {
		tail, err := s.readTranscriptTail(path)
		if err == nil && transcript.EndsWith(agent, tail, message) {
			return true
		}
		if err != nil && looks >= maxMissingPolls {
			return false // an agent with a transcript creates it much earlier
		}
		select {
		case <-ctx.Done():
			return false
		case <-deadline.C:
			return false
		case <-time.After(transcriptPollInterval):
		}
	}
}

// readTranscriptTail returns the end of a transcript, starting at a line.
func (s *Agents) readTranscriptTail(path string) ([]byte, error) {
	dir, err := s.workspaces.FS.OpenRoot(filepath.Dir(path))
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
	from := max(0, i.Size-maxTranscriptTail)
	b := make([]byte, min(i.Size-from, maxTranscriptTail))
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
	maxTranscriptTail = 1 << 20  // of a transcript, for its last words
	maxTurnBytes      = 16 << 20 // of what is said in one turn
)

// readNewLines returns the complete lines after the known part of a transcript. The file is
// hostile input: it may be any file, and it may have been rewritten, in which case it is
// read from the start.
func (s *Agents) readNewLines(known session.Talk) ([]byte, session.Talk, error) {
	dir, err := s.workspaces.FS.OpenRoot(filepath.Dir(known.Path))
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
	if !continuesTranscript(f, i.Size, known) {
		known = session.Talk{Path: known.Path}
	}
	if i.Size-known.Bytes > maxTurnBytes {
		return nil, known, fmt.Errorf("read conversation: %d bytes in one turn are too many", i.Size-known.Bytes)
	}
	b := make([]byte, i.Size-known.Bytes)
	n, err := f.ReadAt(b, known.Bytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, known, fmt.Errorf("read conversation: %w", err)
	}
	b = b[:n]
	if end := bytes.LastIndexByte(b, '\n'); !isJSONDocument(known, b) {
		b = b[:end+1]
	}
	return b, known, nil
}

// isJSONDocument reports whether a transcript is a single JSON value instead of lines.
func isJSONDocument(known session.Talk, b []byte) bool {
	return known.Bytes == 0 && len(b) > 1 && b[0] == '{' && (b[1] == '\n' || b[1] == '\r')
}

// continuesTranscript reports whether a file still starts with the known part.
func continuesTranscript(f io.ReaderAt, size int64, known session.Talk) bool {
	if size < known.Bytes {
		return false
	}
	tail := make([]byte, len(known.Tail))
	_, err := f.ReadAt(tail, known.Bytes-int64(len(tail)))
	return (err == nil || errors.Is(err, io.EOF)) && bytes.Equal(tail, known.Tail)
}

// appendSegment stores new bytes of a transcript as another segment.
func appendSegment(ctx context.Context, w store.Writer, known session.Talk, fresh []byte) (session.Talk, error) {
	if len(fresh) == 0 {
		return known, nil
	}
	id, n, err := w.WriteFile(ctx, conversationDir, bytes.NewReader(fresh))
	if err != nil {
		return known, err
	}
	known.Segments = append(known.Segments[:len(known.Segments):len(known.Segments)], retake.Segment{Object: id, Bytes: n})
	known.Bytes += n
	known.Tail = bytes.Clone(fresh[max(0, len(fresh)-transcriptTailSize):])
	return known, nil
}

// attachConversation stores the new bytes and makes the checkpoint reference the whole
// conversation. The session state is updated only after that is durable.
func (s *Agents) attachConversation(ctx context.Context, h *State, key string, j *signalJob, known session.Talk, fresh []byte, doc retake.Conversation) error {
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return err
	}
	if free, floor, err := s.workspaces.DiskSpace(); err != nil || free < floor {
		return err
	}
	l := s.workspaces.CacheFor(h.workspace)
	l.LockAndCancelCheck()
	defer l.Mu.Unlock()
	wait, cancel := context.WithTimeout(ctx, s.workspaces.LockWait)
	defer cancel()
	w, err := st.Begin(wait, j.ws)
	if err != nil {
		return err
	}
	defer w.Close() //nolint:errcheck // its maintenance is tried again
	if err := s.workspaces.SyncCatalog(ctx, st, w.Head()); err != nil {
		return err
	}
	if len(known.Segments) > 0 && !s.isOnTimeline(ctx, h.workspace, known.Number) {
		return errTranscriptLost
	}
	if known, err = appendSegment(ctx, w, known, fresh); err != nil {
		return err
	}
	t := j.act.Save.Turn
	doc.Agent, doc.Version, doc.Session, doc.Turn = t.Agent, t.Version, t.Session, t.ID
	doc.Path, doc.Bytes, doc.Segments = known.Path, known.Bytes, known.Segments
	if err := writeConversation(ctx, w, j.checkpoint.Number, doc); err != nil {
		return err
	}
	known.Number = j.checkpoint.Number
	h.updateState(func(state *session.State) {
		if x := state.Find(key); x != nil {
			x.Talk = known
		}
	})
	return s.workspaces.MarkCatalogSynced(ctx, w.Head())
}
