package backup

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/retake-dev/retake"
)

// A batch is what becomes commits in one step: after a kill, that much is made again.
const (
	batchCheckpoints = 500
	batchBytes       = 1 << 30
)

// errBatchFull ends a batch.
var errBatchFull = errors.New("the batch is full")

// batchResult is the result of exporting a batch.
type batchResult struct {
	checkpoints int64
	last        commitInfo
	excluded    []retake.LeftOut
	more        bool // there are checkpoints behind it
}

// export makes commits of the checkpoints after the tip. With a base it writes the differences
// from it; without one it writes everything anew.
func (r *repo) export(ctx context.Context, src Source, ws retake.WorkspaceID, tip *commitInfo, base bool, left []retake.LeftOut) (batchResult, error) {
	x := &exporter{src: src, contents: r.w.contents, ref: r.ref, ws: ws, excluded: newExclusionLog(nil)}
	if tip != nil {
		x.last = *tip
		if base {
			x.base, x.excluded = rootEntry(tip.tree), newExclusionLog(left)
		}
	}
	var werr error
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := r.runCommand(ctx, func(w io.Writer) {
		if werr = x.writeStream(ctx, w); werr != nil {
			cancel() // without the last word nothing of it counts
		}
	}, io.Discard, "fast-import", "--quiet", "--done")
	if werr != nil {
		return batchResult{}, fmt.Errorf("export: %w", werr)
	}
	if err != nil {
		return batchResult{}, fmt.Errorf("export: %w", err)
	}
	return batchResult{checkpoints: x.checkpoints, last: x.last, excluded: x.excluded.list(), more: x.full}, nil
}

func rootEntry(tree retake.ObjectID) *retake.Entry {
	return &retake.Entry{Kind: retake.KindDir, Object: tree}
}

// exporter writes the stream for git fast-import.
type exporter struct {
	src         Source
	contents    *contentCache
	ref         string
	ws          retake.WorkspaceID
	base        *retake.Entry // the tree of the commit before; nil: not to be built on
	last        commitInfo
	excluded    *exclusionLog
	w           *bufio.Writer
	body        bytes.Buffer // of the commit; its message comes first and says how much is left out
	mark        int64        // of the last blob
	bytes       int64
	checkpoints int64
	full        bool
}

func (x *exporter) writeStream(ctx context.Context, w io.Writer) error {
	x.w = bufio.NewWriterSize(w, 256<<10)
	err := x.src.After(ctx, x.last.number, func(m Checkpoint) error {
		if x.checkpoints >= batchCheckpoints || x.bytes >= batchBytes {
			x.full = true
			return errBatchFull
		}
		return x.writeCommit(ctx, m)
	})
	if err != nil && !errors.Is(err, errBatchFull) {
		return err
	}
	fmt.Fprint(x.w, "done\n")
	return x.w.Flush()
}

// writeCommit writes one commit. Its parent is the previous commit of the branch, whatever the
// checkpoint's own parent is: a branch that only grows is never refused.
func (x *exporter) writeCommit(ctx context.Context, m Checkpoint) error {
	cp := m.Checkpoint
	x.body.Reset()
	if x.base == nil {
		x.body.WriteString("deleteall\n")
	}
	to := rootEntry(cp.Tree)
	s := treeSender{src: x.src, contents: x.contents, out: x, excluded: x.excluded}
	if err := s.sendTrees(ctx, x.base, to); err != nil {
		return fmt.Errorf("checkpoint %d: %w", cp.Number, err)
	}
	text := commitMessage(m, x.excluded.total())
	when := max(0, cp.Time.Unix())
	fmt.Fprintf(x.w, "commit %s\nauthor %s %d +0000\ncommitter %s %d +0000\ndata %d\n%s\n", x.ref, author, when, author, when, len(text), text)
	if x.checkpoints == 0 && x.last.commit != "" {
		fmt.Fprintf(x.w, "from %s\n", x.last.commit)
	}
	x.body.WriteByte('\n')
	if _, err := x.body.WriteTo(x.w); err != nil {
		return fmt.Errorf("write commit: %w", err)
	}
	x.base, x.checkpoints = to, x.checkpoints+1
	x.last = commitInfo{workspace: cp.Workspace, checkpoint: cp.ID, number: cp.Number, tree: cp.Tree}
	return nil
}

// putFile writes the bytes of a file or link now, and its path into the commit that follows.
func (x *exporter) putFile(path string, e *retake.Entry, b []byte) error {
	x.mark++
	x.bytes += int64(len(b))
	fmt.Fprintf(x.w, "blob\nmark :%d\ndata %d\n", x.mark, len(b))
	_, err := x.w.Write(b)
	if err == nil {
		err = x.w.WriteByte('\n')
	}
	if err != nil {
		return fmt.Errorf("write blob: %w", err)
	}
	fmt.Fprintf(&x.body, "M %s :%d %s\n", gitMode(e), x.mark, quotePath(path))
	return nil
}

func (x *exporter) dropPath(path string) error {
	fmt.Fprintf(&x.body, "D %s\n", quotePath(path))
	return nil
}
