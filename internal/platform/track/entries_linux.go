package track

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// listNames calls each for every name in an open directory, except . and ..
func listNames(fd int, buf []byte, each func(name []byte)) error {
	return readDirents(fd, buf, func(_ byte, name []byte) { each(name) })
}

// readDirents parses the output of getdents64. The name is only valid during the call of each.
func readDirents(fd int, buf []byte, each func(kind byte, name []byte)) error {
	const lengthAt, typeAt, nameAt = 16, 18, 19
	for {
		var n int
		err := retryEINTR(func() (err error) {
			n, err = unix.Getdents(fd, buf)
			return err
		})
		if err != nil || n <= 0 {
			return err
		}
		for part := buf[:n]; len(part) >= nameAt; {
			size := int(binary.NativeEndian.Uint16(part[lengthAt:]))
			if size < nameAt || size > len(part) {
				break
			}
			name, _, _ := bytes.Cut(part[nameAt:size], []byte{0})
			if len(name) > 0 && string(name) != "." && string(name) != ".." {
				each(part[typeAt], name)
			}
			part = part[size:]
		}
	}
}
