package sqlite

import (
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/retake-dev/retake"
)

// Explain puts the driver's errors about the file at path into words: damage is
// retake.Damaged, a wait that was too long is retake.Busy. Others pass.
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
		case isBusy(err):
			return &retake.Error{
				Kind: retake.Busy,
				What: fmt.Sprintf("the catalog file %s is in use for more than %s", path, patience),
				Safe: "Nothing was changed.",
				Hint: "Try again.",
				Err:  err,
			}
		}
		return err
	}
}

// code is the driver's code for err; the low byte is its class.
func code(err error) int {
	var e *driver.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return lib.SQLITE_OK
}

func isDamage(err error) bool {
	c := code(err)
	class := c & 0xff
	return class == lib.SQLITE_CORRUPT || class == lib.SQLITE_NOTADB || c == lib.SQLITE_IOERR_SHORT_READ
}

func isBusy(err error) bool { return code(err)&0xff == lib.SQLITE_BUSY }
