package xray

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/retake-dev/retake"
)

// rowsName is what the child is sent for a comparison of rows, in the place of a reader.
const rowsName = "rows@1"

// Bounds of one comparison.
const (
	maxCompared = 200_000    // rows of one side of a table
	maxListed   = 50         // columns of a row
	maxCell     = 200        // characters of a value
	maxKind     = 512 * kilo // bytes of the listed rows of one kind
	usualRows   = 100
)

const (
	noTable    why = "there is no such table"
	isVirtual  why = "it is virtual, and what is behind it is not asked"
	noKey      why = "its rows have no key that both sides know"
	noOrder    why = "its rows do not stand in the order of their keys"
	twoScripts why = "its texts are encoded in two ways, and cannot be put in one order"
	manyRows   why = "more than 200,000 rows: only the first of them were compared"
)

// RowsAsk is a database at two checkpoints. A side that is nil was not there.
type RowsAsk struct {
	Before, After *Source
	Table         string // empty: all of them are counted
	What          retake.Difference
	Skip, Limit   int
}

// Source is the bytes of a database, and of its log if there is one.
type Source struct {
	Size      int64
	Open, Log func(context.Context) (io.ReadCloser, error)
}

// RowsRead is what a comparison found, or why there was none. Missing says that the table
// is on neither side.
type RowsRead struct {
	Tables  []retake.TableRows `json:"tables"`
	Same    int64              `json:"same"`
	Missing bool               `json:"missing,omitempty"`
	Why     string             `json:"why,omitempty"`
}

// rowsHead is what the child is told before the bytes.
type rowsHead struct {
	There       [2]bool
	Table       string
	What        retake.Difference
	Skip, Limit int
}

var sideNames = [2]string{"before", "after"}

// of says which side a reason is about.
func (w why) of(side int) why { return why(sideNames[side] + ": " + string(w)) }

// serveRows compares what is sent. Each side is opened before the next comes, so that its
// bytes lie in memory once.
func serveRows(r io.Reader, out io.Writer, head rowsHead, key []byte) error {
	var dbs [2]*database
	defer func() {
		for _, db := range dbs {
			if db != nil {
				db.close()
			}
		}
	}()
	var refused error
	for side, there := range head.There {
		if !there {
			continue
		}
		db, err := receive(r)
		var w why
		if err != nil && !errors.As(err, &w) {
			return fmt.Errorf("read the bytes of a database: %w", err)
		}
		if dbs[side] = db; err != nil {
			refused = errors.Join(refused, w.of(side))
		}
		if errors.Is(err, noBytes) {
			break // nothing more is sent
		}
	}
	a := answer{Rows: &RowsRead{}}
	if refused != nil {
		a.Rows.Why = reason(refused, brokeOff).Error()
	} else {
		a = watched(func() answer { return answer{Rows: compareDatabases(dbs, head, input{key: key})} })
	}
	return a.send(out)
}

// receive opens one database as it is sent. One without a byte has no tables, and is nil.
func receive(r io.Reader) (*database, error) {
	data, err := collect(r)
	if err != nil {
		return nil, err
	}
	log, err := collect(r)
	if err != nil || len(data) == 0 {
		return nil, err
	}
	defer debug.FreeOSMemory() // the other side needs as much
	return openSQLite(data, log)
}

// Rows compares the rows of a database at two checkpoints. An error means that no child could
// be started, or that the context ended.
func (p *Pool) Rows(ctx context.Context, a RowsAsk) (RowsRead, error) {
	if err := p.enter(ctx); err != nil {
		return RowsRead{}, err
	}
	defer p.leave()
	defer p.rest()
	all, stop := context.WithTimeout(ctx, p.all)
	defer stop()
	if a.Limit <= 0 {
		a.Limit = usualRows
	}
	a.Limit = min(a.Limit, retake.MostRows)
	for side, s := range []*Source{a.Before, a.After} {
		if s != nil && s.Size > maxSQLite {
			return RowsRead{Why: string(tooLarge(s.Size).of(side))}, nil
		}
	}
	var got RowsRead
	w, err := p.served(all, func() (err error) {
		got, err = p.exchangeRows(all, a)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return got, fmt.Errorf("compare rows: %w", ctx.Err())
	case all.Err() != nil:
		return RowsRead{Why: string(noTime)}, nil
	case err != nil:
		return got, err
	case w != "":
		return RowsRead{Why: string(w)}, nil
	}
	return got, nil
}
