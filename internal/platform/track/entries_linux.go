package track

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// listFD calls each for the names in an open directory, without . and ..
func listFD(fd int, buf []byte, each func(name []byte)) error {
	return entries(fd, buf, func(_ byte, name []byte) { each(name) })
}

// entries reads what getdents64 writes. The buffer is in use while each runs.
func entries(fd int, buf []byte, each func(kind byte, name []byte)) error {
	const lengthAt, typeAt, nameAt = 16, 18, 19
	for {
		var n int
		err := again(func() (err error) {
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
