package xray

import (
	"encoding/binary"
	"strconv"

	"github.com/retake-dev/retake"
)

// Tags of a header of rpm.
const (
	rpmName    = 1000
	rpmVersion = 1001
	rpmRelease = 1002
	rpmEpoch   = 1003
)

const rpmEntry = 16 // bytes: tag, type, offset, count

// readRPM reads the headers that rpm keeps as rows of a database.
func readRPM(in input) ([]retake.Trait, error) {
	db, err := openSQLite(in.data, nil)
	if err != nil {
		return nil, err
	}
	defer db.close()
	l := newList(in)
	err = db.rows("SELECT blob FROM Packages", func(scan func(...any) error) error {
		var blob []byte
		if err := scan(&blob); err != nil {
			return err
		}
		name, version := rpmHeader(blob)
		if name != "gpg-pubkey" { // a key, kept as if it were a package
			l.pack("rpm", name, version, false)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return l.traits, nil
}

// rpmHeader takes the name and the version out of a header: a table of entries, and the
// data that they point into. What points elsewhere is not there.
func rpmHeader(b []byte) (name, version string) {
	if len(b) < 8 {
		return "", ""
	}
	entries, size := int64(binary.BigEndian.Uint32(b)), int64(binary.BigEndian.Uint32(b[4:]))
	if entries*rpmEntry+size > int64(len(b)-8) {
		return "", ""
	}
	table, data := b[8:8+entries*rpmEntry], b[8+entries*rpmEntry:]
	tags := map[uint32]string{}
	for ; len(table) >= rpmEntry; table = table[rpmEntry:] {
		tag, at := binary.BigEndian.Uint32(table), int64(binary.BigEndian.Uint32(table[8:]))
		switch {
		case at >= int64(len(data)):
		case tag == rpmEpoch && at+4 <= int64(len(data)):
			tags[tag] = strconv.FormatUint(uint64(binary.BigEndian.Uint32(data[at:])), 10) + ":"
		case tag >= rpmName && tag <= rpmRelease:
			tags[tag] = untilNUL(data[at:])
		}
	}
	if tags[rpmVersion] == "" || tags[rpmRelease] == "" {
		return "", ""
	}
	return tags[rpmName], tags[rpmEpoch] + tags[rpmVersion] + "-" + tags[rpmRelease]
}

func untilNUL(b []byte) string {
	for i, c := range b[:min(len(b), kilo)] {
		if c == 0 {
			return string(b[:i])
		}
	}
	return ""
}
