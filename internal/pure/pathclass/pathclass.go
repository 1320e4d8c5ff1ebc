// Package pathclass classifies a file by its path alone.
//
// It looks at names and touches nothing: no file, no store, no clock. A name can be
// wrong about the content of a file; callers that need certainty read the file.
//
// Invariants:
//  1. Every path has one class, and every class one theme.
//  2. A directory that programs fill decides for all below it; the one nearest to the
//     root does.
//  3. Work grows with the length of the path, whatever the names are.
package pathclass

import (
	"strings"

	"github.com/retake-dev/retake"
)

// Class is what kind of file a path names.
type Class string

// The classes.
const (
	Source     Class = "source"
	Test       Class = "test"
	Docs       Class = "docs"
	Asset      Class = "asset"    // pictures, fonts, archives: not text
	Manifest   Class = "manifest" // lists the packages that people asked for
	Lock       Class = "lock"     // lists all packages; written by a program
	Settings   Class = "settings"
	Env        Class = "env"
	Dependency Class = "dependency" // installed by a package manager
	Build      Class = "build"
	Cache      Class = "cache" // also swap files of editors, pid files, sockets
	Log        Class = "log"
	Database   Class = "database"
	Git        Class = "git" // and the data of other version control systems
)

// Theme returns the theme of a class.
func (c Class) Theme() retake.Theme {
	switch c {
	case Settings, Env:
		return retake.ThemeSettings
	case Dependency:
		return retake.ThemePackages
	case Build:
		return retake.ThemeBuild
	case Cache, Log:
		return retake.ThemeMoving
	case Database:
		return retake.ThemeDatabase
	case Git:
		return retake.ThemeGit
	case Source, Test, Docs, Asset, Manifest, Lock:
		return retake.ThemeSource
	default:
		return retake.ThemeSource
	}
}

// Of returns the class of a path below the root. A path that ends in "/" is a directory.
func Of(path string) Class {
	c, _ := classify(path)
	return c
}

// DecidingDir returns the directory, with a trailing "/", that decides for a path and
// everything else below it: "web/node_modules/", "dist/". It is empty if the name of the file
// decides.
func DecidingDir(path string) string {
	_, end := classify(path)
	return path[:end]
}

// IsVolatile reports whether a path is, by its name, one that changes all the time: logs,
// caches, pid files, the files beside a SQLite database. A database itself is not: its content
// matters.
func IsVolatile(path string) bool {
	switch Of(path) {
	case Cache, Log:
		return true
	case Database:
		return companionOf(path) != ""
	default:
		return false
	}
}

// companionOf returns the database that the path is a companion file of, or "".
func companionOf(path string) string {
	for _, suffix := range retake.Companions {
		if db, ok := strings.CutSuffix(path, suffix); ok {
			return db
		}
	}
	return ""
}

// classify returns the class, and the length of the directory that decided.
func classify(path string) (Class, int) {
	if c, end := systemClass(path); c != "" {
		return c, end
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	w := pathWalk{path: path, handwritten: sourceSuffixes()[suffix(name)]}
	for at := 0; at < len(path); {
		n := strings.IndexByte(path[at:], '/')
		if n < 0 {
			break
		}
		if c := w.classifyDir(path[at:at+n], at); c != "" {
			return c, at + n + 1
		}
		at += n + 1
	}
	if name == "" {
		return w.dirClass(), 0
	}
	return w.classifyFile(name), 0
}

// suffix returns the end of a name from its last dot, in lower case. A name that only begins
// with a dot has none.
func suffix(name string) string {
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		return strings.ToLower(name[i:])
	}
	return ""
}

// stem returns a name without its suffix.
func stem(name string) string {
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		return name[:i]
	}
	return name
}
