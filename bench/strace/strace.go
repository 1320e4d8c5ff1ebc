// Package strace reads what strace -f -y -T wrote about calls that wait for the disk.
//
// It only reads text. It never runs anything.
package strace

import (
	"regexp"
	"strconv"
	"strings"
)

// Calls is what strace must be told to look at.
const Calls = "fsync,fdatasync,syncfs,sync_file_range,sync"

// Syncs are the calls of one process, by what they make durable.
type Syncs struct {
	Store Sum // files and directories of the store
	Rest  Sum // other files
	Whole Sum // whole file systems
}

// Sum is how many calls there were, and how long their threads waited.
type Sum struct{ Calls, Millis float64 }

// A call is one line, or two when another thread comes between: the first has the
// path, the second the time.
var (
	callLine   = regexp.MustCompile(`^(\d+) +(\w+)\((?:\d+<([^>]*)>)?`)
	resumeLine = regexp.MustCompile(`^(\d+) +<\.\.\. \w+ resumed>`)
	tookEnd    = regexp.MustCompile(`<(\d+\.\d+)>$`)
)

// Read adds up the calls; store is the directory of the store.
func Read(text, store string) Syncs {
	var out Syncs
	open := map[string]*Sum{} // by thread
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		var sum *Sum
		if call := callLine.FindStringSubmatch(line); call != nil {
			sum = out.of(call[2], call[3], store)
			sum.Calls++
			open[call[1]] = sum
		} else if back := resumeLine.FindStringSubmatch(line); back != nil {
			sum = open[back[1]]
		}
		if took := tookEnd.FindStringSubmatch(line); took != nil && sum != nil {
			seconds, _ := strconv.ParseFloat(took[1], 64) // the pattern lets only numbers through
			sum.Millis += seconds * 1000
		}
	}
	return out
}

func (s *Syncs) of(call, path, store string) *Sum {
	switch {
	case call == "syncfs" || call == "sync":
		return &s.Whole
	case path == store || strings.HasPrefix(path, store+"/"):
		return &s.Store
	default:
		return &s.Rest
	}
}
