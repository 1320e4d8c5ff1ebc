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

// errFull ends a batch.
var errFull = errors.New("the batch is full")

// exported is what a batch came to.
type exported struct {
	checkpoints int64
	last        place
	left        []retake.LeftOut
	more        bool // there are checkpoints behind it
}

// export makes commits of the checkpoints behind the tip. With a base it writes what differs
// from it; without one everything, in the place of all there was.
func (r *repo) export(ctx context.Context, src Source, ws retake.WorkspaceID, tip *place, base bool, left []retake.LeftOut) (exported, error) {
	x := &exporter{src: src, traits: r.w.traits, ref: r.ref, ws: ws, left: newLedger(nil)}
	if tip != nil {
		x.last = *tip
		if base {
			x.base, x.left = rootOf(tip.tree), newLedger(left)
		}
	}
	var werr error
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := r.run(ctx, func(w io.Writer) {
		if werr = x.write(ctx, w); werr != nil {
			cancel() // without the last word nothing of it counts
		}
	}, io.Discard, "fast-import", "--quiet", "--done")
	if werr != nil {
		return exported{}, fmt.Errorf("export: %w", werr)
	}
	if err != nil {
		return exported{}, fmt.Errorf("export: %w", err)
	}
	return exported{checkpoints: x.checkpoints, last: x.last, left: x.left.told(), more: x.full}, nil
}

func rootOf(tree retake.ObjectID) *retake.Entry {
	return &retake.Entry{Kind: retake.KindDir, Object: tree}
}

// exporter writes the stream that git reads.
type exporter struct {
	src         Source
	traits      *traits
	ref         string
	ws          retake.WorkspaceID
	base        *retake.Entry // the tree of the commit before; nil: not to be built on
	last        place
	left        *ledger
	w           *bufio.Writer
	body        bytes.Buffer // of the commit; its message comes first, and tells how much is left out
	mark        int64        // of the last blob
	bytes       int64
	checkpoints int64
	full        bool
}

func (x *exporter) write(ctx context.Context, w io.Writer) error {
	x.w = bufio.NewWriterSize(w, 256<<10)
	err := x.src.After(ctx, x.last.number, func(m Checkpoint) error {
		if x.checkpoints >= batchCheckpoints || x.bytes >= batchBytes {
			x.full = true
			return errFull
		}
		return x.checkpoint(ctx, m)
	})
	if err != nil && !errors.Is(err, errFull) {
		return err
	}
	fmt.Fprint(x.w, "done\n")
	return x.w.Flush()
}

// checkpoint writes one commit. Its parent is the one before on the branch, whatever the
// checkpoint came from: a branch that only grows is never refused.
func (x *exporter) checkpoint(ctx context.Context, m Checkpoint) error {
	cp := m.Checkpoint
	x.body.Reset()
	if x.base == nil {
		x.body.WriteString("deleteall\n")
	}
	to := rootOf(cp.Tree)
	s := sending{src: x.src, traits: x.traits, to: x, left: x.left}
	if err := s.trees(ctx, x.base, to); err != nil {
		return fmt.Errorf("checkpoint %d: %w", cp.Number, err)
	}
	text := message(m, x.left.total())
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
	x.last = place{workspace: cp.Workspace, checkpoint: cp.ID, number: cp.Number, tree: cp.Tree}
	return nil
}

// put writes the bytes of a file or a link now, and its path into the commit that follows.
func (x *exporter) put(path string, e *retake.Entry, b []byte) error {
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
	fmt.Fprintf(&x.body, "M %s :%d %s\n", modeOf(e), x.mark, quote(path))
	return nil
}

func (x *exporter) drop(path string) error {
	fmt.Fprintf(&x.body, "D %s\n", quote(path))
	return nil
}
