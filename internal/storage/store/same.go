package store

import (
	"bytes"
	"errors"
	"io"
)

// SameBytes reports whether two readers give the same bytes.
func SameBytes(a, b io.Reader) (bool, error) {
	x, y := make([]byte, 32<<10), make([]byte, 32<<10)
	for {
		n, err1 := io.ReadFull(a, x)
		m, err2 := io.ReadFull(b, y)
		end1, end2 := isEOF(err1), isEOF(err2)
		switch {
		case !bytes.Equal(x[:n], y[:m]):
			return false, nil
		case err1 != nil && !end1:
			return false, err1
		case err2 != nil && !end2:
			return false, err2
		case end1 || end2:
			return end1 && end2, nil
		}
	}
}

func isEOF(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
