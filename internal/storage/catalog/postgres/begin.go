package postgres

import (
	"context"
	"database/sql/driver"

	"github.com/jackc/pgx/v5/stdlib"
)

// connector makes connections on which a transaction that could not begin, because the server
// restarted, begins on another connection: nothing has happened in it yet. After a restart the
// pool is full of dead connections.
type connector struct{ driver.Connector }

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	made, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if inner, ok := made.(*stdlib.Conn); ok {
		return conn{inner}, nil
	}
	return made, nil
}

type conn struct{ *stdlib.Conn }

// BeginTx returns ErrBadConn if the connection is gone, so that the pool uses another.
func (c conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	tx, err := c.Conn.BeginTx(ctx, opts)
	if err != nil && ctx.Err() == nil && c.Conn.Conn().IsClosed() {
		return nil, driver.ErrBadConn
	}
	return tx, err
}
