package xray

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/retake-dev/retake"
)

// rowsRequestName is sent to the child in place of a reader's name to request a comparison
// of rows.
const rowsRequestName = "rows@1"

// Limits of one comparison.
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

// RowsRequest asks for a comparison of a database at two checkpoints. A nil side did not
// exist.
type RowsRequest struct {
	Before, After *DatabaseSource
	Table         string // empty: all of them are counted
	What          retake.Difference
	Skip, Limit   int
}

// DatabaseSource opens a database, and its log if there is one.
type DatabaseSource struct {
	Size      int64
	Open, Log func(context.Context) (io.ReadCloser, error)
}

// RowsResult is what a comparison found, or why there was none. Missing means that the
// table is on neither side.
type RowsResult struct {
	Tables  []retake.TableRows `json:"tables"`
	Same    int64              `json:"same"`
	Missing bool               `json:"missing,omitempty"`
	Why     string             `json:"why,omitempty"`
}

// rowsHeader is sent to the child before the bytes of the databases.
type rowsHeader struct {
	There       [2]bool
	Table       string
	What        retake.Difference
	Skip, Limit int
}

var sideNames = [2]string{"before", "after"}

// forSide adds which side a reason is about.
func (w failReason) forSide(side int) failReason {
	return failReason(sideNames[side] + ": " + string(w))
}

// serveRows compares the databases that are sent. Each side is opened before the next one
// is received, so that its bytes are in memory only once.
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

// receiveDatabase opens one database as it is received. An empty file has no tables; for it
// the result is nil.
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

// Rows compares the rows of a database at two checkpoints. An error means that no child
// could be started or that ctx ended.
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
