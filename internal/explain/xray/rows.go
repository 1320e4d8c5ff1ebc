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
const rowsRequestName = "rows@1"

// Bounds of one comparison.
const (
	maxComparedRows  = 200_000    // rows of one side of a table
	maxListedColumns = 50         // columns of a row
	maxCellChars     = 200        // characters of a value
	maxListedBytes   = 512 * kilo // bytes of the listed rows of one kind
	defaultRowLimit  = 100
)

const (
	reasonNoTable        failReason = "there is no such table"
	reasonVirtual        failReason = "it is virtual, and what is behind it is not asked"
	reasonNoKey          failReason = "its rows have no key that both sides know"
	reasonNoOrder        failReason = "its rows do not stand in the order of their keys"
	reasonMixedEncodings failReason = "its texts are encoded in two ways, and cannot be put in one order"
	reasonTooManyRows    failReason = "more than 200,000 rows: only the first of them were compared"
)

// RowsRequest is a database at two checkpoints. A side that is nil was not there.
type RowsRequest struct {
	Before, After *DatabaseSource
	Table         string // empty: all of them are counted
	What          retake.Difference
	Skip, Limit   int
}

// DatabaseSource is the bytes of a database, and of its log if there is one.
type DatabaseSource struct {
	Size      int64
	Open, Log func(context.Context) (io.ReadCloser, error)
}

// RowsResult is what a comparison found, or why there was none. Missing says that the table
// is on neither side.
type RowsResult struct {
	Tables  []retake.TableRows `json:"tables"`
	Same    int64              `json:"same"`
	Missing bool               `json:"missing,omitempty"`
	Why     string             `json:"why,omitempty"`
}

// rowsHeader is what the child is told before the bytes.
type rowsHeader struct {
	There       [2]bool
	Table       string
	What        retake.Difference
	Skip, Limit int
}

var sideNames = [2]string{"before", "after"}

// forSide says which side a reason is about.
func (w failReason) forSide(side int) failReason {
	return failReason(sideNames[side] + ": " + string(w))
}

// serveRows compares what is sent. Each side is opened before the next comes, so that its
// bytes lie in memory once.
func serveRows(r io.Reader, out io.Writer, head rowsHeader, key []byte) error {
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
		db, err := receiveDatabase(r)
		var w failReason
		if err != nil && !errors.As(err, &w) {
			return fmt.Errorf("read the bytes of a database: %w", err)
		}
		if dbs[side] = db; err != nil {
			refused = errors.Join(refused, w.forSide(side))
		}
		if errors.Is(err, reasonNoBytes) {
			break // nothing more is sent
		}
	}
	a := childAnswer{Rows: &RowsResult{}}
	if refused != nil {
		a.Rows.Why = asReason(refused, reasonCrashed).Error()
	} else {
		a = withMemoryWatch(func() childAnswer { return childAnswer{Rows: compareDatabases(dbs, head, input{key: key})} })
	}
	return a.send(out)
}

// receiveDatabase opens one database as it is sent. One without a byte has no tables, and is nil.
func receiveDatabase(r io.Reader) (*database, error) {
	data, err := readChunks(r)
	if err != nil {
		return nil, err
	}
	log, err := readChunks(r)
	if err != nil || len(data) == 0 {
		return nil, err
	}
	defer debug.FreeOSMemory() // the other side needs as much
	return openSQLite(data, log)
}

// Rows compares the rows of a database at two checkpoints. An error means that no child could
// be started, or that the context ended.
func (p *Pool) Rows(ctx context.Context, a RowsRequest) (RowsResult, error) {
	if err := p.acquire(ctx); err != nil {
		return RowsResult{}, err
	}
	defer p.release()
	defer p.startIdleTimer()
	all, stop := context.WithTimeout(ctx, p.batchTimeout)
	defer stop()
	if a.Limit <= 0 {
		a.Limit = defaultRowLimit
	}
	a.Limit = min(a.Limit, retake.MostRows)
	for side, s := range []*DatabaseSource{a.Before, a.After} {
		if s != nil && s.Size > maxSQLite {
			return RowsResult{Why: string(reasonTooLarge(s.Size).forSide(side))}, nil
		}
	}
	var got RowsResult
	w, err := p.withChild(all, func() (err error) {
		got, err = p.exchangeRows(all, a)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return got, fmt.Errorf("compare rows: %w", ctx.Err())
	case all.Err() != nil:
		return RowsResult{Why: string(reasonNoTimeLeft)}, nil
	case err != nil:
		return got, err
	case w != "":
		return RowsResult{Why: string(w)}, nil
	}
	return got, nil
}
