// Package pattern holds regular expressions that are compiled when they are first used:
// one program is started for every event of an agent, and most starts need none of them.
//
// It touches nothing else.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy compiles a text at the first call. A text that is none panics then, as
// regexp.MustCompile does at the start.
func Lazy(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
