// Package ignore decides which paths the user's policy, or git's rules, leave out.
//
// It works on patterns that it is given and touches no files. The globs of one
// name are matched by git-pkgs/gitignore; which pattern applies to which path is
// decided here. It never panics on hostile patterns.
//
//	I1  The last pattern that matches a path decides; a deeper file takes precedence.
//	I2  What is below a hidden directory is hidden, and no pattern brings it back.
//	I3  Git's rules never hide .git, and nothing below a .git that is not hidden.
//	I4  What exceeds the limits hides nothing: in doubt a path is kept.
package ignore

import (
	"errors"
	"fmt"
	"strings"
)

// Limits of the patterns that apply to one path.
const (
	MaxPatterns = 4096
	MaxLine     = 1024
	MaxBytes    = 256 << 10
)

// Reasons why a pattern of the policy is refused.
var (
	ErrTooMany = errors.New("too many patterns")
	ErrTooLong = errors.New("the pattern is too long")
	ErrNothing = errors.New("the pattern matches nothing")
)

// Excludes are the patterns of the policy, in the format of git's ignore files.
type Excludes struct {
	layer *patternLayer // nil: nothing is left out
}

// NewExcludes parses patterns, relative to the root of the workspace. A pattern that cannot
// match anything is an error, because the user meant something by it.
func NewExcludes(patterns []string) (*Excludes, error) {
	if len(patterns) > MaxPatterns {
		return nil, fmt.Errorf("read %d patterns: %w", len(patterns), ErrTooMany)
	}
	l := &patternLayer{}
	for _, text := range patterns {
		if len(text) > MaxLine {
			return nil, fmt.Errorf("read pattern %.60q: %w", text, ErrTooLong)
		}
		p, ok := parsePattern(text)
		if !ok || strings.Contains(text, "\n") {
			return nil, fmt.Errorf("read pattern %q: %w", text, ErrNothing)
		}
		if !l.addPattern(p) {
			return nil, fmt.Errorf("read %d patterns: %w", len(patterns), ErrTooMany)
		}
	}
	return &Excludes{layer: l}, nil
}

// Match reports whether the policy leaves out path, itself or with a directory above it. A nil
// Excludes leaves out nothing.
func (x *Excludes) Match(path string, isDir bool) bool {
	return x != nil && isHidden(x.layer, path, isDir, false)
}

// Rules are git's rules as they were found on the way down a tree. They are immutable:
// WithFile returns new ones that share the old.
type Rules struct {
	layer *patternLayer
}

// EmptyRules returns the rules at the root before any ignore file.
func EmptyRules() Rules { return Rules{} }

// WithFile adds the ignore file of a directory; "" is the root. Files must be added from the
// top down. Lines that exceed the limits are ignored; if one of them would un-ignore
// something, nothing below dir is hidden any more.
func (r Rules) WithFile(dir string, content []byte) Rules {
	l := &patternLayer{parent: r.layer, dir: strings.Trim(dir, "/")}
	if l.dir == "." {
		l.dir = ""
	}
	if r.layer != nil {
		l.count, l.bytes = r.layer.count, r.layer.bytes
	}
	for line := range strings.Lines(strings.TrimPrefix(string(content), "\ufeff")) {
		line = strings.TrimSuffix(line, "\n")
		l.hidesNothing = l.hidesNothing || !l.addLine(strings.TrimSuffix(line, "\r")) && line[0] == '!'
	}
	if len(l.patterns) == 0 && !l.hidesNothing {
		return r
	}
	return Rules{layer: l}
}

// Ignored reports whether git would ignore path, itself or with a directory above it, if
// nothing of it is tracked.
func (r Rules) Ignored(path string, isDir bool) bool {
	return isHidden(r.layer, path, isDir, true)
}

// patternLayer is one ignore file; parent is the one above it.
type patternLayer struct {
	parent       *patternLayer
	dir          string
	patterns     []pattern
	hidesNothing bool // nothing below dir is hidden
	count        int  // of this layer and all above
	bytes        int
}

// addLine adds a line, and reports whether it is within the limits.
func (l *patternLayer) addLine(line string) bool {
	if len(line) > MaxLine {
		return false
	}
	p, ok := parsePattern(line)
	return !ok || l.addPattern(p)
}

func (l *patternLayer) addPattern(p pattern) bool {
	if l.count == MaxPatterns || l.bytes+len(p.text) > MaxBytes {
		return false
	}
	l.patterns = append(l.patterns, p)
	l.count++
	l.bytes += len(p.text)
	return true
}

// isHidden checks every directory on the way to path, from the top down.
func isHidden(l *patternLayer, path string, isDir, git bool) bool {
	if l == nil {
		return false
	}
	for end, start := 0, 0; end < len(path); start = end + 1 {
		end = len(path)
		if i := strings.IndexByte(path[start:], '/'); i >= 0 {
			end = start + i
		}
		name := path[start:end]
		if git && name == ".git" {
			return false
		}
		if name != "" && name != "." && isHiddenByLayers(l, path[:end], name, isDir || end < len(path)) {
			return true
		}
	}
	return false
}

// isHiddenByLayers returns what the last matching pattern decides for one path, without the
// directories above it.
func isHiddenByLayers(l *patternLayer, path, name string, isDir bool) bool {
	for ; l != nil; l = l.parent {
		rel := path
		if l.dir != "" {
			below, ok := strings.CutPrefix(path, l.dir)
			if !ok || below == "" || below[0] != '/' {
				continue
			}
			rel = below[1:]
		}
		if l.hidesNothing {
			return false
		}
		for i := len(l.patterns) - 1; i >= 0; i-- {
			if p := &l.patterns[i]; p.match(rel, name, isDir) {
				return !p.negate
			}
		}
	}
	return false
}
