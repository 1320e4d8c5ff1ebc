package checkpoint

import (
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/pure/secrets"
)

const (
	gitHeadLog    = ".git/logs/HEAD"
	maxSubject    = 200      // bytes of a title
	maxGitLogRead = 16 << 10 // bytes of the log of git that are read
)

// commitSubject returns the subject of the last commit since the previous checkpoint, as
// intent of a checkpoint without one. It is read from git's log as it was captured; git is
// not run, and anything odd about the file means no subject.
func (t *Writer) commitSubject(res *capture.Result) string {
	if res.Delta == nil {
		return ""
	}
	for _, c := range res.Delta.Changes {
		if c.Path == gitHeadLog && c.After != nil && c.After.Kind == retake.KindFile {
			return lastCommitSubject(t.readGitLog(c))
		}
	}
	return ""
}

// readGitLog returns what was added to git's log since the previous checkpoint.
func (t *Writer) readGitLog(c retake.Change) string {
	dir, err := t.root.OpenDir(".git")
	if err != nil {
		return ""
	}
	defer dir.Close() //nolint:errcheck // a directory handle
	logs, err := dir.OpenDir("logs")
	if err != nil {
		return ""
	}
	defer logs.Close() //nolint:errcheck // a directory handle
	f, err := logs.OpenFile("HEAD")
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // it was read only
	return readAppended(f, c)
}

// readAppended reads the new end of a file, but only if it is still the file that was
// captured.
func readAppended(f fsx.File, c retake.Change) string {
	from := int64(0)
	if c.Before != nil {
		from = c.Before.Size
	}
	from = max(from, c.After.Size-maxGitLogRead)
	if from >= c.After.Size {
		return "" // rewritten: what is new in it is unknown
	}
	buf := make([]byte, c.After.Size-from)
	n, _ := f.ReadAt(buf, from)
	i, err := f.Stat()
	if err != nil || n < len(buf) || i.Size != c.After.Size || i.Mtime != c.After.ModTime {
		return ""
	}
	return string(buf)
}

// lastCommitSubject returns the subject of the last commit in lines of git's log. A line
// has the two commits, author and time, a tab, the action, and the subject.
func lastCommitSubject(log string) string {
	last := ""
	for line := range strings.Lines(log) {
		_, deed, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		verb, text, ok := strings.Cut(deed, ": ")
		if ok && (verb == "commit" || strings.HasPrefix(verb, "commit (")) {
			last = text
		}
	}
	text, _ := secrets.Mask(strings.ToValidUTF8(strings.TrimSpace(last), "\uFFFD"))
	if len(text) > maxSubject {
		text = strings.ToValidUTF8(text[:maxSubject-len("…")], "") + "…"
	}
	return text
}
