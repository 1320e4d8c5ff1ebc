// Package hostprobe reads named places of the machine outside a workspace: what is
// installed, which services, crontabs and profiles there are, and who listens.
//
// It only reads, it runs nothing, and it takes little time: 300 ms for all of it. It
// never waits for a pipe or a device, and follows no link that leads out of the place
// it was told to look at. Nothing it reads is ever restored.
//
//	Q1  A result is complete, within the named limits. When the time is up the result is
//	    nil: nothing is known, and nothing may be concluded.
//	Q2  Files come sorted by path, ports by name, so that equal machines answer equally.
//	Q3  Of a profile nothing leaves this package but a digest.
package hostprobe

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
)

// Options say where to look. Home and WorkspaceRoot are paths as the machine has them, also
// if Root is not "/".
type Options struct {
	Root          string        // "/", or the root of a simulated machine in a test
	Home          string        // of the user; empty: no place of a user is read
	WorkspaceRoot string        // what is below it is not outside
	AgentPIDs     []int         // processes whose children belong to the workspace: its agents
	Limit         time.Duration // of one call; 0 is half of 300 ms, for two calls make a probe
}

// defaultLimit is the time limit of one of the two calls of a probe.
const defaultLimit = 150 * time.Millisecond

func (o Options) limit() time.Duration {
	if o.Limit > 0 {
		return o.Limit
	}
	return defaultLimit
}

// File is one file of a named place.
type File struct {
	Path    string // absolute, as the machine has it
	Size    int64
	ModTime int64 // nanoseconds since 1970
	Open    func() (io.ReadCloser, error)
}

const (
	maxFiles    = 4000     // that are returned
	maxFileSize = 64 << 20 // that are read of a file
	maxDirNames = 20_000   // that are read of a directory
)

// errTooBig is returned for files that take too long to read while somebody waits.
var errTooBig = errors.New("too big to read")

// isInWorkspace reports whether a path is in the workspace.
func (o Options) isInWorkspace(name string) bool {
	if o.WorkspaceRoot == "" {
		return false
	}
	skip := path.Clean(o.WorkspaceRoot)
	return name == skip || skip == "/" || strings.HasPrefix(name, skip+"/")
}

// digestLength is enough to notice a change.
const digestLength = 12

// Profiles returns a digest of each shell profile among the files.
func Profiles(files []File) []retake.Trait {
	var out []retake.Trait
	for _, f := range files {
		if isProfile(f.Path) {
			out = append(out, retake.Trait{Kind: retake.FactProfile, Name: f.Path, Value: fileDigest(f)})
		}
	}
	return out
}

// unreadableDigest stands for the digest of a file that exists and cannot be read.
const unreadableDigest = "unreadable"

func fileDigest(f File) string {
	r, err := f.Open()
	if err != nil {
		return unreadableDigest
	}
	defer r.Close() //nolint:errcheck // only read
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return unreadableDigest
	}
	return hex.EncodeToString(h.Sum(nil))[:digestLength]
}

func isProfile(name string) bool {
	if path.Dir(name) == "/etc/profile.d" {
		return true
	}
	if slices.Contains(systemProfiles, strings.TrimPrefix(name, "/etc/")) && strings.HasPrefix(name, "/etc/") {
		return true
	}
	return slices.ContainsFunc(homeProfiles, func(p string) bool { return strings.HasSuffix(name, "/"+p) })
}
