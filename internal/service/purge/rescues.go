package purge

import (
	"context"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/rescue"
	"github.com/retake-dev/retake/internal/storage/store"
)

// cleanRescues removes the purged content from what a checkpoint has from outside of its workspace,
// and reports whether something was removed. The state that is left to be masked does not have it.
func (p *purgeRun) cleanRescues(ctx context.Context, l *store.Record) (kept []retake.Entry, changed bool, err error) {
	i := slices.IndexFunc(l.State, func(e retake.Entry) bool { return e.Name == rescue.StateDir && e.Kind == retake.KindDir })
	if i < 0 || p.matcher == nil {
		return nil, false, nil
	}
	all := l.State[i]
	l.State = slices.Delete(slices.Clone(l.State), i, i+1)
	dirs, err := p.store.Dir(ctx, all.Object)
	if err != nil {
		return nil, false, err
	}
	rescues := slices.Clone(l.Card.Checkpoint.Rescues)
	for n, dir := range dirs {
		c, err := p.cleanDir(ctx, dir)
		if err != nil {
			return nil, false, err
		}
		if len(c.gaps) == 0 {
			continue
		}
		changed, dirs[n] = true, c.entry
		for k := range rescues {
			if rescues[k].Tree == dir.Object {
				rescues[k].Tree, rescues[k].Files, rescues[k].Bytes = c.entry.Object, c.entry.Sum.Files+c.entry.Sum.Symlinks, c.entry.Sum.Bytes
				rescues[k].NotSaved = "some of its files were removed by retake purge"
			}
		}
	}
	if changed {
		l.Card.Checkpoint.Rescues = rescues
		all, err = p.writeDir(ctx, all, dirs)
	}
	return []retake.Entry{all}, changed, err
}
