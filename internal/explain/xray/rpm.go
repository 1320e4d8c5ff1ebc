package xray

import (
	"encoding/binary"
	"strconv"

	"github.com/retake-dev/retake"
)

// Tags of a header of rpm.
const (
	rpmTagName    = 1000
	rpmTagVersion = 1001
	rpmTagRelease = 1002
	rpmTagEpoch   = 1003
)

const rpmEntrySize = 16 // bytes: tag, type, offset, count

// readRPM reads the package headers that rpm stores as rows of a database.
func readRPM(in input) ([]retake.Trait, error) {
	db, err := openSQLite(in.data, nil)
	if err != nil {
		return nil, err
	}
	defer db.close()
	l := newTraitList(in)
	err = db.forEachRow("SELECT blob FROM Packages", func(scan func(...any) error) error {
		var blob []byte
		if err := scan(&blob); err != nil {
			return err
		}
		name, version := parseRPMHeader(blob)
		if name != "gpg-pubkey" { // a key, kept as if it were a package
			l.addPackage("rpm", name, version, false)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return l.traits, nil
}

// parseRPMHeader returns the name and the version in a header: a table of entries, and the
// data they point into. Offsets outside the data are ignored.
func parseRPMHeader(b []byte) (name, version string) {
	if len(b) < 8 {
		return "", ""
	}
	entries, size := int64(binary.BigEndian.Uint32(b)), int64(binary.BigEndian.Uint32(b[4:]))
	if entries*rpmEntrySize+size > int64(len(b)-8) {
		return "", ""
	}
	table, data := b[8:8+entries*rpmEntrySize], b[8+entries*rpmEntrySize:]
	tags := map[uint32]string{}
	for ; len(table) >= rpmEntrySize; table = table[rpmEntrySize:] {
		tag, at := binary.BigEndian.Uint32(table), int64(binary.BigEndian.Uint32(table[8:]))
		switch {
		case at >= int64(len(data)):
		case tag == rpmTagEpoch && at+4 <= int64(len(data)):
			tags[tag] = strconv.FormatUint(uint64(binary.BigEndian.Uint32(data[at:])), 10) + ":"
		case tag >= rpmTagName && tag <= rpmTagRelease:
			tags[tag] = untilNUL(data[at:])
		}
	}
	if tags[rpmTagVersion] == "" || tags[rpmTagRelease] == "" {
		return "", ""
	}
	return tags[rpmTagName], tags[rpmTagEpoch] + tags[rpmTagVersion] + "-" + tags[rpmTagRelease]
}

func untilNUL(b []byte) string {
	for i, c := range b[:min(len(b), kilo)] {
		if c == 0 {
			return string(b[:i])
		}
	}
	return ""
}
