// Package archive turns checkpoints into tar archives, and tar archives into
// directories.
//
// Write reads a checkpoint through a retake.Reader, and nothing else. Extract writes
// below one open directory by handles; it takes no path, follows no link, gives no
// owner, and trusts nothing that a header says of sizes.
//
//	X1  Equal checkpoints give equal bytes; what is extracted is what was written.
//	X2  An archive is taken whole or not at all: after a refusal the directory is empty.
//	X3  Nothing outside the directory is written or read. A link that leads out of it is
//	    written as a link, never followed, and reported.
//	X4  Memory, bytes and time are bounded by the limits, whatever the archive holds.
package archive

import (
	"fmt"
	"math"
	"time"

	"github.com/retake-dev/retake"
)

// Limits bound what an archive may contain. 0 means the value of DefaultLimits.
type Limits struct {
	Entries int64 // names, with the directories that lead to them
	Bytes   int64 // of all files, inflated, with what thousands of directories take on the disk
	Depth   int   // names in one path
	Name    int   // bytes of one path, and of the text of a link

	Ratio int64                 // bytes of files for each byte that comes in, beyond the first ratioExempt; 0: any
	Room  func() (int64, error) // bytes that may still be written to the disk; nil: nobody asks
}

const (
	ratioExempt   = 64 << 20 // bytes of files that need no explanation
	roomCheckStep = 16 << 20 // bytes that are written before room is asked for again
)

// DefaultLimits are far above the size of any project.
func DefaultLimits() Limits {
	return Limits{Entries: 1 << 20, Bytes: 32 << 30, Depth: 200, Name: 4096}
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	if l.Entries <= 0 {
		l.Entries = d.Entries
	}
	if l.Bytes <= 0 {
		l.Bytes = d.Bytes
	}
	if l.Depth <= 0 {
		l.Depth = d.Depth
	}
	if l.Name <= 0 {
		l.Name = d.Name
	}
	return l
}

// Report is what was extracted.
type Report struct {
	Files    int64    `json:"files"`
	Dirs     int64    `json:"dirs"`
	Symlinks int64    `json:"symlinks"`
	Links    int64    `json:"links"` // more names of files
	FIFOs    int64    `json:"fifos"`
	Bytes    int64    `json:"bytes"`
	Outward  []string `json:"outward,omitempty"`  // links that lead out of the archive's tree
	Dropped  []string `json:"dropped,omitempty"`  // came with setuid or setgid, and are without
	Bare     []string `json:"bare,omitempty"`     // could not be given their extended attributes here
	Skipped  []string `json:"skipped,omitempty"`  // the mark of another workspace, and what its restores kept
	Unlisted int64    `json:"unlisted,omitempty"` // more of these than the lists have
}

// Keys of PAX records. A name with "=" cannot be part of the first form.
const (
	schilyXattrKey     = "SCHILY.xattr."
	libarchiveXattrKey = "LIBARCHIVE.xattr." // name percent-encoded, value in base64
)

const (
	modeBits  = 0o7777
	setidBits = 0o6000 // setuid and setgid
)

func invalidArchive(format string, args ...any) error {
	return &retake.Error{
		Kind: retake.Invalid, What: "the archive is refused: " + fmt.Sprintf(format, args...), Safe: "Nothing of it was kept.",
	}
}

// unixNanos returns the time in nanoseconds, or 0 if it does not fit.
func unixNanos(t time.Time) int64 {
	if t.Before(time.Unix(0, math.MinInt64)) || t.After(time.Unix(0, math.MaxInt64)) {
		return 0
	}
	return t.UnixNano()
}
