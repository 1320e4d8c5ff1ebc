// Package pattern holds regular expressions that are compiled at their first use: the
// program is started for every event of an agent, and most starts need none of them.
//
// It touches nothing else.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy returns a function that compiles text at its first call. An invalid text panics then,
// as regexp.MustCompile does at the start.
func Lazy(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
