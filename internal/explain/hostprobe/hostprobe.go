// Package hostprobe reads named places of the machine outside a workspace: what is
// installed, which services, crontabs and profiles there are, and who listens.
//
// It only reads, it runs nothing, and it takes little time: 300 ms for all of it. It
// never waits for a pipe or a device, and follows no link that leads out of the place
// it was told to look at. Nothing it reads is ever restored.
//
//	Q1  What it answers is all there is, within the limits that are named. When the time
//	    is over it answers nil: nothing is known, and nothing may be concluded.
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

// Options say where to look. Home and Skip are paths as the machine has them, also when
// Root is not "/".
type Options struct {
	Root          string        // "/", or where a machine lies in a test
	Home          string        // of the user; empty: no place of a user is read
	WorkspaceRoot string        // the root of the workspace: what lies there is not outside
	AgentPIDs     []int         // processes whose children belong to the workspace: its agents
	Limit         time.Duration // of one call; 0 is half of 300 ms, for two calls make a probe
}

// defaultLimit is that of one of the two calls of a probe.
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
	maxFiles    = 4000     // that are answered
	maxFileSize = 64 << 20 // that are read of a file
	maxDirNames = 20_000   // that are read of a directory
)

// errTooBig is for files that nobody should read while somebody waits.
var errTooBig = errors.New("too big to read")

// isInWorkspace: the path lies in the workspace.
func (o Options) isInWorkspace(name string) bool {
	if o.WorkspaceRoot == "" {
		return false
	}
	skip := path.Clean(o.WorkspaceRoot)
	return name == skip || skip == "/" || strings.HasPrefix(name, skip+"/")
}

// digestLength is enough to see a change.
const digestLength = 12

// Profiles tells of the shell profiles among the files which bytes they have, as a
// digest.
func Profiles(files []File) []retake.Trait {
	var out []retake.Trait
	for _, f := range files {
		if isProfile(f.Path) {
			out = append(out, retake.Trait{Kind: retake.FactProfile, Name: f.Path, Value: fileDigest(f)})
		}
	}
	return out
}

// unreadable stands for the digest of a file that is there and cannot be read.
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
