package agentstate

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/transcript"
	"github.com/retake-dev/retake/internal/pure/secrets"
)

// Bounds of a transcript that we write ourselves.
const (
	maxOwnTranscript = 16 << 20
	ownTranscriptAge = 30 * 24 * time.Hour // since the last line
	maxOwnLine       = 16 << 10            // of one line
)

// appendToOwnTranscript writes a signal into a transcript of ours if the agent keeps none
// that can be read, and sets its path in the signal. Likely secrets are masked. Errors are
// ignored: a transcript is context only.
func (h *State) appendToOwnTranscript(sig *retake.Signal) {
	line, ok := transcriptLine(sig)
	if !ok || h.svc.workspaces.SessionDir == "" || sig.Transcript != "" || sig.Agent != "docker-agent" {
		return
	}
	path := filepath.Join(h.svc.workspaces.SessionDir, transcript.OwnDir, sig.Agent+"-"+sig.Session+".jsonl")
	if err := h.svc.appendTranscript(path, transcript.FormatLine(line)); err == nil {
		sig.Transcript = path
	}
}

// transcriptLine returns the transcript line of a signal, if it has one.
func transcriptLine(sig *retake.Signal) (transcript.Line, bool) {
	line := transcript.Line{Time: sig.Time}
	switch {
	case sig.Subagent != "":
		return line, false
	case sig.Kind == retake.SignalPrompt:
		line.Who, line.Text = transcript.You, sig.Prompt
	case sig.Kind == retake.SignalCalled && sig.Call != nil:
		line.Who, line.Tool, line.Text = transcript.Agent, sig.Call.Tool, sig.Call.Command
		if line.Text == "" {
			line.Text = string(sig.Call.Input)
		}
	case sig.Kind == retake.SignalTurnEnd:
		line.Who, line.Text = transcript.Agent, sig.Message
	default:
		return line, false
	}
	line.Text, _ = secrets.Mask(line.Text[:min(len(line.Text), maxOwnLine)])
	return line, line.Text != ""
}

// appendTranscript appends a line to a transcript of ours. Links and transcripts over the
// limit are refused.
func (s *Agents) appendTranscript(path string, line []byte) error {
	dir := filepath.Dir(path)
	i, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		s.removeOldTranscripts(dir)
	case err != nil:
		return err
	case !i.Mode().IsRegular() || i.Size() > maxOwnTranscript:
		return errors.New("no room for more words")
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}

// removeOldTranscripts removes transcripts of old sessions; the checkpoints have their
// content.
func (s *Agents) removeOldTranscripts(dir string) {
	all, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range all {
		if i, err := e.Info(); err == nil && s.workspaces.Clock.Now().Sub(i.ModTime()) > ownTranscriptAge {
			_ = os.Remove(filepath.Join(dir, e.Name())) // the next session tries again
		}
	}
}
