package backup

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pattern"
	"github.com/retake-dev/retake/internal/pure/secrets"
)

// Trailers of a commit. The branch is read back by the first three.
const (
	trailWorkspace  = "Retake-Workspace"
	trailCheckpoint = "Retake-Checkpoint"
	trailNumber     = "Retake-Number"
	trailTree       = "Retake-Tree"
)

const (
	author     = "Retake <backup@retake.invalid>"
	maxSubject = 4000
	maxTrail   = 300
)

// commitMessage returns the message for a checkpoint, with likely secrets masked.
func commitMessage(m Checkpoint, left int64) string {
	cp := m.Checkpoint
	var b strings.Builder
	b.WriteString(commitSubject(m) + "\n\n")
	say := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, oneLine(value, maxTrail))
		}
	}
	fmt.Fprintf(&b, "%s: %s\n", trailWorkspace, cp.Workspace)
	say("Retake-Trigger", string(cp.Trigger))
	if t := cp.Turn; t != nil {
		say("Retake-Agent", strings.TrimSpace(t.Agent+" "+t.Version))
		say("Retake-Session", t.Session)
	}
	say("Retake-Parent", string(cp.Parent))
	say("Retake-Coverage", string(cp.Coverage.Grade))
	var answers []string
	for _, a := range m.Answers {
		if !a.Claim {
			answers = append(answers, a.Name+" "+string(a.Verdict))
		}
	}
	say("Retake-Verified", strings.Join(answers, ", "))
	say("Retake-Left-Out", strconv.FormatInt(left, 10))
	// Last, so that no text above can be taken for them.
	fmt.Fprintf(&b, "%s: %s\n%s: %d\n%s: %s\n", trailCheckpoint, cp.ID, trailNumber, cp.Number, trailTree, cp.Tree)
	return b.String()
}

// commitSubject returns the intent of the checkpoint, or what it is.
func commitSubject(m Checkpoint) string {
	for _, text := range []string{m.Checkpoint.Intent, m.Gist} {
		text, _ = secrets.Mask(strings.TrimSpace(cleanText(text)))
		if len(text) > maxSubject {
			text = strings.ToValidUTF8(text[:maxSubject], "") + "…"
		}
		if text != "" {
			return text
		}
	}
	return fmt.Sprintf("Checkpoint %d (%s)", m.Checkpoint.Number, m.Checkpoint.Trigger)
}

// cleanText makes text fit for a commit message.
func cleanText(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return -1
		}
		return c
	}, strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\ufffd"))
}

func oneLine(s string, limit int) string {
	s, _ = secrets.Mask(strings.Join(strings.Fields(cleanText(s)), " "))
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}

// commitInfo is what the trailers of one of our commits say.
type commitInfo struct {
	commit     string
	workspace  retake.WorkspaceID
	checkpoint retake.CheckpointID
	number     int64
	tree       retake.ObjectID
}

var trailerPattern = pattern.Lazy(`(?m)^(Retake-[A-Za-z-]+): (.+)$`)

// parseCommitInfo parses the trailers; of several with one name the last one counts.
func parseCommitInfo(commit, text string) (commitInfo, bool) {
	p := commitInfo{commit: commit}
	for _, m := range trailerPattern().FindAllStringSubmatch(text, -1) {
		switch m[1] {
		case trailWorkspace:
			p.workspace = retake.WorkspaceID(m[2])
		case trailCheckpoint:
			p.checkpoint = retake.CheckpointID(m[2])
		case trailNumber:
			p.number, _ = strconv.ParseInt(m[2], 10, 64)
		case trailTree:
			p.tree = retake.ObjectID(m[2])
		}
	}
	return p, p.workspace != "" && p.checkpoint != "" && p.number > 0 && p.tree != ""
}
