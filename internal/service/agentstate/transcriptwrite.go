package agentstate

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

// writeConversation adds a conversation to the state of a checkpoint.
func writeConversation(ctx context.Context, w store.Writer, number int64, doc retake.Conversation) error {
	b, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	id, n, err := w.WriteFile(ctx, conversationFile, bytes.NewReader(append(b, '\n')))
	if err != nil {
		return err
	}
	file := retake.Entry{Name: conversationFile, Kind: retake.KindFile, Mode: 0o600, Size: n, Object: id}
	dir, err := writeSegmentDir(ctx, w, segmentEntries(doc.Segments))
	if err != nil {
		return err
	}
	return w.Annotate(ctx, number, []retake.Entry{file, dir})
}

// writeSegmentDir writes the directory of the segments.
func writeSegmentDir(ctx context.Context, w store.Writer, segments []retake.Entry) (retake.Entry, error) {
	id, sum, err := w.WriteDir(ctx, segments, 0)
	return retake.Entry{Name: conversationDir, Kind: retake.KindDir, Mode: 0o700, Object: id, Sum: sum}, err
}
