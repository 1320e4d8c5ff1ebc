// Package xray reads what files mean: packages, settings, tables, units, secrets. One
// reader reads the bytes of one file and answers traits; facts are what differs between
// the traits of two checkpoints. A comparison of rows reads a database at both at once.
//
// It may start a child, through what it is given, and talk to it by two pipes. It opens
// no file, asks no network, runs nothing that it reads, and reads no clock.
//
//	X1  Foreign bytes are parsed in the child alone; the child learns no path.
//	X2  What a reader answers depends on the bytes and the key alone, so it can be kept
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

// Request is one file that one reader shall read. Open is not used by readers of entries. Log
// opens what LogOf names, if it is there; what is kept must then be kept by both objects.
type Request struct {
	Reader string
	Path   string
	Entry  retake.Entry
	Open   func(context.Context) (io.ReadCloser, error)
	Log    func(context.Context) (io.ReadCloser, error)
}

// Reading is what a reader read, or why it could not.
type Reading struct {
	Traits []retake.Trait `json:"traits"`
	Why    string         `json:"why,omitempty"`
}

// failReason is a reason why something could not be read, in words for people.
type failReason string

func (w failReason) Error() string { return string(w) }

// The reasons that have nothing to do with a format.
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

// What each kind of file may have at most.
const (
	maxText   = mega
	maxLock   = 16 * mega
	maxStatus = 64 * mega
	maxSQLite = 64 * mega
)

// evidenceRank is how well a file shows that a package is there; the lowest is the best.
type evidenceRank int

const (
	rankInstalled evidenceRank = iota // it is the package
	rankListed                        // a list of what is installed
	rankLocked                        // a wish
)

// reader reads one kind of file. Exactly one of read and look is set.
type reader struct {
	name          string // with its version: the key of what is kept
	limit         int64
	rank          evidenceRank
	wants         func(p fileLocation) bool
	read          func(in input) ([]retake.Trait, error)
	readEntry     func(path string, e retake.Entry) []retake.Trait // by the entry alone
	skipOversized bool                                             // a file over the limit is none of its own
	magic         string                                           // how its files begin; the others have nothing for it
}

// input is all that a reader sees.
type input struct {
	data []byte
	log  []byte
	key  []byte
}

// readers are all of them, in the order in which they are told.
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

// ReadersFor answers which readers want a file: names with versions. It looks at no bytes.
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

// IsCacheable reports whether what a reader answers may be kept by the object that it read.
func IsCacheable(name string) bool {
	r, ok := findReader(name)
	return ok && r.read != nil
}

// readerName is a name without its version.
func readerName(name string) string {
	name, _, _ = strings.Cut(name, "@")
	return name
}
