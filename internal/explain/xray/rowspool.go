package xray

import (
	"context"
	"encoding/json"
	"fmt"
)

// exchangeRows sends one comparison and reads its answer.
func (p *Pool) exchangeRows(ctx context.Context, a RowsRequest) (RowsResult, error) {
	s := p.child
	s.filesSent++
	head, err := json.Marshal(rowsHeader{
		There: [2]bool{a.Before != nil, a.After != nil}, Table: a.Table, What: a.What, Skip: a.Skip, Limit: a.Limit,
	})
	if err != nil {
		return RowsResult{}, fmt.Errorf("write a question: %w", err)
	}
	err = p.withTimeout(ctx, func() error {
		if err := writeFrame(s.writer, []byte(rowsRequestName)); err != nil {
			return err
		}
		return writeFrame(s.writer, head)
	})
	if err != nil {
		return RowsResult{}, err
	}
	refused, err := p.sendSides(ctx, a)
	if err != nil {
		return RowsResult{}, err
	}
	if err := p.withTimeout(ctx, s.writer.Flush); err != nil {
		return RowsResult{}, err
	}
	got, err := p.readAnswer(ctx, s)
	if err != nil {
		return RowsResult{}, err
	}
	if got.Last {
		_ = p.endChild()
	}
	switch {
	case refused != "":
		return RowsResult{Why: string(refused)}, nil
	case got.Rows == nil:
		return RowsResult{Why: got.Why}, nil
	}
	return *got.Rows, nil
}

// sendSides sends the bytes of both sides. After a side that is refused nothing more is
// sent; the child expects that.
func (p *Pool) sendSides(ctx context.Context, a RowsRequest) (refused failReason, err error) {
	for side, s := range []*DatabaseSource{a.Before, a.After} {
		if s == nil {
			continue
		}
		if refused, err = p.sendFile(ctx, maxSQLite, s.Open, s.Log); err != nil {
			return "", err
		}
		if refused != "" {
			return refused.forSide(side), nil
		}
	}
	return "", nil
}
