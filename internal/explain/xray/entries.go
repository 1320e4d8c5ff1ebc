package xray

import (
	"fmt"
	"slices"

	"github.com/retake-dev/retake"
)

// entryReaders need no bytes.
var entryReaders = []reader{
	{name: "mode@1", wants: hasMode, look: lookMode},
	{name: "executable@1", wants: inPath, look: lookExecutable},
}

func hasMode(p place) bool { return p.entry.Kind == retake.KindFile }

func lookMode(path string, e retake.Entry) []retake.Trait {
	return []retake.Trait{{Kind: retake.FactMode, Name: path, Value: fmt.Sprintf("%04o", e.Mode&0o7777)}}
}

// pathDirs are the directories of PATH, in the root.
var pathDirs = []string{"bin", "sbin", "usr/bin", "usr/sbin", "usr/local/bin", "usr/local/sbin"}

// inPath knows the programs that can be started by their name: those of the root, and
// those of any home.
func inPath(p place) bool {
	return p.entry.Kind == retake.KindFile && p.entry.Mode&0o111 != 0 && (slices.Contains(pathDirs, p.dir) || p.in(".local/bin") && p.ours())
}

func lookExecutable(path string, _ retake.Entry) []retake.Trait {
	return []retake.Trait{{Kind: retake.FactExecutable, Name: path}}
}
