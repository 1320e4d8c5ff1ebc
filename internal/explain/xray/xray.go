// Package xray reads what files mean: packages, settings, tables, units, secrets. One
// reader reads the bytes of one file and returns traits; facts are what differs between
// the traits of two checkpoints. A comparison of rows reads a database at both at once.
//
// It may start a child, through what it is given, and talk to it by two pipes. It opens
// no file, asks no network, runs nothing that it reads, and reads no clock.
//
//	X1  Foreign bytes are parsed in the child alone; the child learns no path.
//	X2  What a reader returns depends on the bytes and the key alone, so it can be cached
//	    by the object and the name of the reader. Readers of entries are never kept.
//	X3  Time and memory are bounded for each file; what could not be read says why, and
//	    is compared with nothing.
//	X4  No value of a .env file and no likely secret leaves a reader, only its digest.
package xray

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// Request asks one reader to read one file. Open is not used by readers of entries. Log
// opens the file that LogPath names, if it exists; a cached reading must then be keyed by
// both objects.
type Request struct {
	Reader string
	Path   string
	Entry  retake.Entry
	Open   func(context.Context) (io.ReadCloser, error)
	Log    func(context.Context) (io.ReadCloser, error)
}

// Reading is what a reader found, or why it could not read.
type Reading struct {
	Traits []retake.Trait `json:"traits"`
	Why    string         `json:"why,omitempty"`
}

// failReason says, in words for people, why something could not be read.
type failReason string

func (w failReason) Error() string { return string(w) }

// Reasons that do not depend on the format.
const (
	reasonTooSlow        failReason = "took too long"
	reasonOutOfMemory    failReason = "took too much memory"
	reasonCrashed        failReason = "the reader broke off"
	reasonNoBytes        failReason = "the bytes could not be read"
	reasonUnknownReader  failReason = "there is no such reader"
	reasonTooDeep        failReason = "nested too deep"
	reasonNoTimeLeft     failReason = "there was no time left"
	reasonTooManyEntries failReason = "more than 20,000 entries"
)

func reasonTooLarge(size int64) failReason {
	return failReason("too large (" + termtext.Count((size+mega-1)/mega) + " MB)")
}

const (
	kilo = 1 << 10
	mega = 1 << 20
)

// Size limits by kind of file.
const (
	maxText   = mega
	maxLock   = 16 * mega
	maxStatus = 64 * mega
	maxSQLite = 64 * mega
)

// evidenceRank is how well a file proves that a package is present; lower is better.
type evidenceRank int

const (
	rankInstalled evidenceRank = iota // it is the package
	rankListed                        // a list of what is installed
	rankLocked                        // a wish
)

// reader reads one kind of file. Exactly one of read and readEntry is set.
type reader struct {
	name          string // with its version: the key of what is kept
	limit         int64
	rank          evidenceRank
	wants         func(p fileLocation) bool
	read          func(in input) ([]retake.Trait, error)
	readEntry     func(path string, e retake.Entry) []retake.Trait // by the entry alone
	skipOversized bool                                             // skip files over the limit without a reason
	magic         string                                           // how its files begin; the others have nothing for it
}

// input is all that a reader sees.
type input struct {
	data []byte
	log  []byte
	key  []byte
}

// allReaders lists all readers, in the order in which their results are reported.
var allReaders = sync.OnceValue(func() []reader {
	return slices.Concat(entryReaders, systemReaders, pythonReaders, nodeReaders, otherReaders, projectReaders, settingReaders, machineReaders)
})

var readersByName = sync.OnceValue(func() map[string]reader {
	all := map[string]reader{}
	for _, r := range allReaders() {
		all[r.name] = r
	}
	return all
})

func findReader(name string) (reader, bool) {
	r, ok := readersByName()[name]
	return r, ok
}

// ReadersFor returns the names, with versions, of the readers that want a file. It does not
// look at the bytes.
func ReadersFor(path string, e retake.Entry) []string {
	p := newFileLocation(path, e)
	var names []string
	for _, r := range allReaders() {
		if r.read != nil && (e.Kind != retake.KindFile || e.Size == 0 || r.skipOversized && e.Size > r.limit) {
			continue
		}
		if r.wants(p) {
			names = append(names, r.name)
		}
	}
	return names
}

// IsCacheable reports whether the result of a reader may be cached by the object it read.
func IsCacheable(name string) bool {
	r, ok := findReader(name)
	return ok && r.read != nil
}

// readerName returns a reader's name without its version.
func readerName(name string) string {
	name, _, _ = strings.Cut(name, "@")
	return name
}
