package xray

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// walSuffix ends the name of the write-ahead log beside a database.
const walSuffix = "-wal"

// LogPath returns the path of a database's log, and whether the reader wants it too.
func LogPath(reader, path string) (log string, ok bool) {
	return path + walSuffix, readerName(reader) == "sqlite"
}

// DatabaseOfLog returns the database that a log belongs to. If the log changed, so did the
// database.
func DatabaseOfLog(path string) (database string, ok bool) { return strings.CutSuffix(path, walSuffix) }

const (
	walHeaderSize      = 32
	walFrameHeaderSize = 24
	walMagic           = 0x377f0682 // the last bit is the byte order of the checksums
	maxPageSize        = 65536      // bytes of the largest page
	pageSizeOffset     = 16         // of the page size in the header
)

// applyLog applies a write-ahead log to a database, up to the last complete transaction, as
// SQLite does when it opens both. A log that does not match the database is ignored.
func applyLog(data, wal []byte) []byte {
	if len(wal) < walHeaderSize+walFrameHeaderSize || binary.BigEndian.Uint32(wal)&^1 != walMagic {
		return data
	}
	size := int(binary.BigEndian.Uint32(wal[8:]))
	if size < minPageSize || size > maxPageSize || size&(size-1) != 0 || size != pageSize(data) {
		return data
	}
	sum := walChecksum{order: binary.LittleEndian}
	if wal[3]&1 != 0 {
		sum.order = binary.BigEndian
	}
	if sum.add(wal[:24]); !sum.matches(wal[24:]) {
		return data
	}
	salts := wal[16:24]
	pages, found := map[uint32][]byte{}, map[uint32][]byte{}
	var count uint32
	for rest := wal[walHeaderSize:]; len(rest) >= walFrameHeaderSize+size; rest = rest[walFrameHeaderSize+size:] {
		head, page := rest[:walFrameHeaderSize], rest[walFrameHeaderSize:walFrameHeaderSize+size]
		sum.add(head[:8])
		sum.add(page)
		if !bytes.Equal(head[8:16], salts) || !sum.matches(head[16:]) {
			break
		}
		found[binary.BigEndian.Uint32(head)] = page
		if n := binary.BigEndian.Uint32(head[4:]); n != 0 { // the end of a transaction
			count = n
			for at, p := range found {
				pages[at] = p
			}
			clear(found)
		}
	}
	return overlayPages(data, pages, size, count)
}

// overlayPages writes pages to their places. A database that claims to be larger than both
// files together is damaged and stays as it is.
func overlayPages(data []byte, pages map[uint32][]byte, size int, count uint32) []byte {
	if count == 0 || int64(count)*int64(size) > int64(len(data))+int64(len(pages)*size) {
		return data
	}
	out := make([]byte, int(count)*size)
	copy(out, data)
	for at, p := range pages {
		if at > 0 && at <= count {
			copy(out[int(at-1)*size:], p)
		}
	}
	return out
}

func pageSize(data []byte) int {
	n := int(binary.BigEndian.Uint16(data[pageSizeOffset:]))
	if n == 1 {
		return maxPageSize
	}
	return n
}

// walChecksum is the running checksum of a log.
type walChecksum struct {
	order binary.ByteOrder
	a, b  uint32
}

func (s *walChecksum) add(p []byte) {
	for ; len(p) >= 8; p = p[8:] {
		s.a += s.order.Uint32(p) + s.b
		s.b += s.order.Uint32(p[4:]) + s.a
	}
}

func (s *walChecksum) matches(p []byte) bool {
	return binary.BigEndian.Uint32(p) == s.a && binary.BigEndian.Uint32(p[4:]) == s.b
}
