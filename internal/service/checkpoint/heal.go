package checkpoint

import "context"

// flushHealed makes bytes durable that the store had lost and the workspace still has. There is
// nothing new to record, but older checkpoints need them.
func (t *Writer) flushHealed(ctx context.Context) error {
	if t.healed == nil {
		return nil
	}
	if err := t.Writer.Flush(ctx); err != nil {
		return err
	}
	t.markHealed()
	return nil
}

func (t *Writer) markHealed() {
	if t.healed != nil {
		t.healed()
	}
}
