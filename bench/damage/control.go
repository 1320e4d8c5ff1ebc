//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// control shows that all states come back from an undamaged copy, before and after a repair, and that
// the comparison notices one changed byte.
func (l *lane) control(ctx context.Context) error {
	o, err := l.runCase(ctx, 0, 0, harm{Damage: none})
	if err != nil {
		return err
	}
	for _, t := range []tally{o.Before, o.After} {
		if t.Snapshots != states || t.Files != l.history.total || t.Wrong+t.Missing != 0 {
			return fmt.Errorf("an undamaged repository gave %+v", t)
		}
	}
	if !o.After.New {
		return errors.New("the new backup of an undamaged repository is not exact")
	}
	b, err := l.begin(ctx, 0, harm{Damage: none})
	if err != nil {
		return err
	}
	err = l.controlOracle(ctx, b)
	return errors.Join(err, l.tool.close(ctx, b))
}

func (l *lane) controlOracle(ctx context.Context, b *bed) error {
	if err := errors.Join(l.tool.open(ctx, b), fresh(b.out())); err != nil {
		return err
	}
	root, err := l.tool.restore(ctx, b, 0, b.out())
	if err != nil {
		return err
	}
	if err := flipBit(filepath.Join(root, filePath(0)), 0, 3); err != nil {
		return err
	}
	if f := compare(l.history.want[0], root); len(f.wrong) != 1 || f.wrong[0] != filePath(0) {
		return fmt.Errorf("a changed byte was not noticed: %d wrong", len(f.wrong))
	}
	return nil
}
