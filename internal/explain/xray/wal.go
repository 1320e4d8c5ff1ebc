package xray

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// logEnd is what the name of a log ends in that SQLite writes ahead, beside a database.
const logEnd = "-wal"

// LogOf is where the log of a database lies, if the reader wants it too.
func LogOf(reader, path string) (log string, ok bool) {
	return path + logEnd, base(reader) == "sqlite"
}

// LoggedBy is the database that a log belongs to. When the log changed, it did.
func LoggedBy(path string) (database string, ok bool) { return strings.CutSuffix(path, logEnd) }

const (
	walHead   = 32
	walFrame  = 24
	walMagic  = 0x377f0682 // the last bit says how sums are read
	walPages  = 65536      // bytes of the largest page
	pageSizes = 16         // where a database tells the size of its pages
)

// withLog lays what a log holds over a database, up to the last whole transaction, as
// SQLite does when it opens both. A log that does not fit is none.
func withLog(data, wal []byte) []byte {
	if len(wal) < walHead+walFrame || binary.BigEndian.Uint32(wal)&^1 != walMagic {
		return data
	}
	size := int(binary.BigEndian.Uint32(wal[8:]))
	if size < sqlitePage || size > walPages || size&(size-1) != 0 || size != pageSize(data) {
		return data
	}
	sum := walSum{order: binary.LittleEndian}
	if wal[3]&1 != 0 {
		sum.order = binary.BigEndian
	}
	if sum.add(wal[:24]); !sum.is(wal[24:]) {
		return data
	}
	salts := wal[16:24]
	pages, found := map[uint32][]byte{}, map[uint32][]byte{}
	var count uint32
	for rest := wal[walHead:]; len(rest) >= walFrame+size; rest = rest[walFrame+size:] {
		head, page := rest[:walFrame], rest[walFrame:walFrame+size]
		sum.add(head[:8])
		sum.add(page)
		if !bytes.Equal(head[8:16], salts) || !sum.is(head[16:]) {
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
	return overlay(data, pages, size, count)
}

// overlay puts pages in their places. A database that says to be larger than both files
// together is damaged.
func overlay(data []byte, pages map[uint32][]byte, size int, count uint32) []byte {
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
	n := int(binary.BigEndian.Uint16(data[pageSizes:]))
	if n == 1 {
		return walPages
	}
	return n
}

// walSum is the running sum of a log.
type walSum struct {
	order binary.ByteOrder
	a, b  uint32
}

func (s *walSum) add(p []byte) {
	for ; len(p) >= 8; p = p[8:] {
		s.a += s.order.Uint32(p) + s.b
		s.b += s.order.Uint32(p[4:]) + s.a
	}
}

func (s *walSum) is(p []byte) bool {
	return binary.BigEndian.Uint32(p) == s.a && binary.BigEndian.Uint32(p[4:]) == s.b
}
