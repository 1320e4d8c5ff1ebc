package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// Explain turns the driver's errors about the file at path into errors for users: damage
// becomes retake.Damaged, a lock timeout retake.Busy. Others pass unchanged.
func Explain(path string) func(error) error {
	return func(err error) error {
		switch {
		case isDamage(err):
			return &retake.Error{
				Kind: retake.Damaged,
				What: fmt.Sprintf("the catalog file %s is damaged", path),
				Safe: "The store holds every checkpoint.",
				Hint: "Move the file away and rebuild the catalog from the store.",
				Err:  err,
			}
		case isUnwritable(err):
			return &retake.Error{
				Kind: retake.Limit,
				What: fmt.Sprintf("the catalog file %s cannot be written: %s", path, explainUnwritable(path, err)),
				Safe: "Nothing was changed.",
				Hint: "free some space on that disk, and try again",
				Err:  errors.Join(catalog.ErrUnwritable, err),
			}
		case isBusy(err):
			return &retake.Error{
				Kind: retake.Busy,
				What: fmt.Sprintf("the catalog file %s is in use for more than %s", path, busyTimeout),
				Safe: "Nothing was changed.",
				Hint: "Try again.",
				Err:  err,
			}
		}
		return err
	}
}

// minLogBytes is about what opening the log and one change need.
const minLogBytes = 256 << 10

// explainUnwritable names the disk and its free space.
func explainUnwritable(path string, err error) string {
	dir := filepath.Dir(path)
	free, _, ferr := fsx.OS().FreeSpace(dir)
	switch {
	case ferr != nil:
		return "its disk is full or read-only"
	case errorCode(err)&0xff == lib.SQLITE_READONLY && free > minLogBytes: // a full disk is opened as one that is read-only
		return "its disk is read-only"
	}
	return fmt.Sprintf("the disk of %s has %d kB free", dir, free/1000)
}

// isUnwritable reports whether the disk is full or read-only. SQLite cannot always distinguish
// a full disk from a write error or from a log that cannot be created.
func isUnwritable(err error) bool {
	c := errorCode(err)
	switch c & 0xff {
	case lib.SQLITE_FULL, lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN:
		return true
	}
	return c == lib.SQLITE_IOERR_WRITE || c == lib.SQLITE_IOERR_SHMSIZE || c == lib.SQLITE_IOERR_SHMOPEN || c == lib.SQLITE_IOERR_TRUNCATE || c == lib.SQLITE_IOERR_FSYNC
}

// errorCode returns the driver's code of err; the low byte is its class.
func errorCode(err error) int {
	var e *driver.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return lib.SQLITE_OK
}

func isDamage(err error) bool {
	c := errorCode(err)
	class := c & 0xff
	return class == lib.SQLITE_CORRUPT || class == lib.SQLITE_NOTADB || c == lib.SQLITE_IOERR_SHORT_READ
}

func isBusy(err error) bool { return errorCode(err)&0xff == lib.SQLITE_BUSY }
