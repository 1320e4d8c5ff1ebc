package transcript_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/retake-dev/retake/internal/agents/transcript"
)

// A transcript tells whether its last turn came to its end: with its last record it did,
// without it did not.
func TestA1_TranscriptTellsThatTheTurnEnded(t *testing.T) {
	t.Parallel()
	for agent, mark := range map[string]string{"claude-code": `"end_turn"`, "codex": `"task_complete"`, "gemini": `"Everything is tidy."`, "opencode": `"Everything is tidy."`} {
		data, err := os.ReadFile(filepath.Join("testdata", agent+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if last, ended := transcript.TurnEnded(agent, data, time.Time{}); !ended || last != "Everything is tidy." {
			t.Errorf("%s: %q, %v", agent, last, ended)
		}
		cut := data[:bytes.LastIndex(data[:bytes.LastIndex(data, []byte(mark))], []byte("\n"))+1]
		if last, ended := transcript.TurnEnded(agent, cut, time.Time{}); ended {
			t.Errorf("%s, without its last answer: %q", agent, last)
		}
		if _, ended := transcript.TurnEnded(agent, data, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)); ended {
			t.Errorf("%s: an answer of an earlier turn ends a later one", agent)
		}
		transcript.TurnEnded(agent, data[:len(data)/2], time.Time{}) // in the middle of a record
	}
	if _, ended := transcript.TurnEnded("cline", []byte("{}\n"), time.Time{}); ended {
		t.Error("an agent whose format is not known")
	}
}
