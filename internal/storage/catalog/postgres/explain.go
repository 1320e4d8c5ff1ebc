package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/retake-dev/retake"
)

// Codes of the server, of which the first two characters are the class.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	lockNotAvailable     = "55P03"
	queryCanceled        = "57014"
	tooManyConnections   = "53300"
	insufficientRights   = "42501"
	idleInTransaction    = "25P03"
	duplicateObject      = "42710"
	uniqueViolation      = "23505"
	internalError        = "XX000"
	dataCorrupted        = "XX001"
	indexCorrupted       = "XX002"

	classConnection = "08"
	classAccess     = "28"
	classDatabase   = "3D"
	classResources  = "53"
	classLimit      = "54"
	classOperator   = "57" // it ends, or is not up yet
)

// IsRetryable reports whether a transaction failed because of a concurrent one.
func IsRetryable(err error) bool {
	c := errorCode(err)
	return c == serializationFailure || c == deadlockDetected
}

// errorCode returns the server's code of err, or "".
func errorCode(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Explain turns errors of the driver into errors for users. Others pass unchanged.
func Explain(err error) error {
	var known *retake.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	if e := explainServerError(err); e != nil {
		e.Err = err
		return e
	}
	return err
}

// explainServerError maps the code of a server error, or returns nil for one that has no
// explanation.
func explainServerError(err error) *retake.Error {
	c := errorCode(err)
	if c == "" {
		return explainConnectionError(err)
	}
	switch c {
	case serializationFailure, deadlockDetected, lockNotAvailable, queryCanceled, tooManyConnections:
		return &retake.Error{Kind: retake.Busy, What: "the database is busy", Safe: "Nothing was changed.", Hint: "Try again."}
	case insufficientRights:
		return &retake.Error{Kind: retake.Denied, What: "the database does not allow this", Safe: "Nothing was changed."}
	case dataCorrupted, indexCorrupted:
		return &retake.Error{Kind: retake.Damaged, What: "the database is damaged", Safe: "The stores hold every checkpoint."}
	case idleInTransaction:
		return awayError()
	}
	switch c[:2] {
	case classConnection, classOperator:
		return awayError()
	case classAccess, classDatabase:
		return &retake.Error{Kind: retake.Away, What: "the database does not let us in", Safe: "Nothing was changed.", Hint: "Look at the address, the user and the password."}
	case classResources:
		return &retake.Error{Kind: retake.Limit, What: "the database is full", Safe: "Nothing was changed.", Hint: "Give it more disk space."}
	case classLimit:
		return &retake.Error{Kind: retake.Limit, What: "the database does not take something so large", Safe: "Nothing was changed."}
	}
	return nil
}

// explainConnectionError handles errors without an answer of the server: it is away, unless
// the caller gave up. A commit whose answer was lost may have happened, so nothing is said
// about safety.
func explainConnectionError(err error) *retake.Error {
	var dial *pgconn.ConnectError
	if errors.As(err, &dial) && !errors.Is(err, context.Canceled) {
		return &retake.Error{Kind: retake.Away, What: "the database cannot be reached", Safe: "Nothing was changed.", Hint: "Look whether it runs."}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	var network net.Error
	for _, gone := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn, pgconn.ErrConnClosed} {
		if errors.Is(err, gone) {
			return awayError()
		}
	}
	if errors.As(err, &network) {
		return awayError()
	}
	return nil
}

func awayError() *retake.Error {
	return &retake.Error{Kind: retake.Away, What: "the connection to the database was lost", Hint: "Safe to retry."}
}
