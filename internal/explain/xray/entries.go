package xray

import (
	"fmt"
	"slices"

	"github.com/retake-dev/retake"
)

// entryReaders need no bytes.
var entryReaders = []reader{
	{name: "mode@1", wants: isRegularFile, readEntry: readMode},
	{name: "executable@1", wants: isProgram, readEntry: readExecutable},
}

func isRegularFile(p fileLocation) bool { return p.entry.Kind == retake.KindFile }

func readMode(path string, e retake.Entry) []retake.Trait {
	return []retake.Trait{{Kind: retake.FactMode, Name: path, Value: fmt.Sprintf("%04o", e.Mode&0o7777)}}
}

// pathDirs are the directories of PATH, in the root.
var pathDirs = []string{"bin", "sbin", "usr/bin", "usr/sbin", "usr/local/bin", "usr/local/sbin"}

// isProgram reports whether a file can be started by its name: it is in a directory of PATH
// below the root, or in .local/bin of a home.
func isProgram(p fileLocation) bool {
	return p.entry.Kind == retake.KindFile && p.entry.Mode&0o111 != 0 && (slices.Contains(pathDirs, p.dir) || p.inDir(".local/bin") && p.isWorkspaceFile())
}

func readExecutable(path string, _ retake.Entry) []retake.Trait {
	return []retake.Trait{{Kind: retake.FactExecutable, Name: path}}
}
