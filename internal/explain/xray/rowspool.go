package xray

import (
	"context"
	"encoding/json"
	"fmt"
)

// exchangeRows sends one comparison and reads its answer.
func (p *Pool) exchangeRows(ctx context.Context, a RowsAsk) (RowsRead, error) {
	s := p.child
	s.files++
	head, err := json.Marshal(rowsHead{
		There: [2]bool{a.Before != nil, a.After != nil}, Table: a.Table, What: a.What, Skip: a.Skip, Limit: a.Limit,
	})
	if err != nil {
		return RowsRead{}, fmt.Errorf("write a question: %w", err)
	}
	err = p.limited(ctx, func() error {
		if err := writeFrame(s.out, []byte(rowsName)); err != nil {
			return err
		}
		return writeFrame(s.out, head)
	})
	if err != nil {
		return RowsRead{}, err
	}
	refused, err := p.sendSides(ctx, a)
	if err != nil {
		return RowsRead{}, err
	}
	if err := p.limited(ctx, s.out.Flush); err != nil {
		return RowsRead{}, err
	}
	got, err := p.answer(ctx, s)
	if err != nil {
		return RowsRead{}, err
	}
	if got.Last {
		_ = p.end()
	}
	switch {
	case refused != "":
		return RowsRead{Why: string(refused)}, nil
	case got.Rows == nil:
		return RowsRead{Why: got.Why}, nil
	}
	return *got.Rows, nil
}

// sendSides sends the bytes of both sides. After one that will not come whole nothing more
// is sent, and the child knows.
func (p *Pool) sendSides(ctx context.Context, a RowsAsk) (refused why, err error) {
	for side, s := range []*Source{a.Before, a.After} {
		if s == nil {
			continue
		}
		if refused, err = p.send(ctx, maxSQLite, s.Open, s.Log); err != nil {
			return "", err
		}
		if refused != "" {
			return refused.of(side), nil
		}
	}
	return "", nil
}
