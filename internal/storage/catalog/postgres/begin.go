package postgres

import (
	"context"
	"database/sql/driver"

	"github.com/jackc/pgx/v5/stdlib"
)

// connector makes connections on which a transaction that could not begin, because the
// server went away meanwhile, is begun on another one: nothing happened in it yet. After
// a restart of the server a pool is full of such connections.
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

// BeginTx answers ErrBadConn when the connection is gone: the pool then takes another.
func (c conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	tx, err := c.Conn.BeginTx(ctx, opts)
	if err != nil && ctx.Err() == nil && c.Conn.Conn().IsClosed() {
		return nil, driver.ErrBadConn
	}
	return tx, err
}
