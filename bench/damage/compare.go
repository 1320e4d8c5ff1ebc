//go:build linux

package main

import (
	"crypto/sha256"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// found is how a restored directory differs from the state that was saved.
type found struct {
	exact          map[string]bool
	wrong, missing []string
	extra          int
}

func (f found) complete() bool { return len(f.wrong)+len(f.missing)+f.extra == 0 }

// compare reads every file below root. What cannot be read counts as missing.
func compare(want state, root string) found {
	f := found{exact: map[string]bool{}}
	seen := map[string]bool{}
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error { //nolint:errcheck // the function returns none
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		rel, _ := filepath.Rel(root, path)
		sum, ok := want[rel]
		if !ok {
			f.extra++
			return nil
		}
		is, err := hashFile(path)
		switch {
		case err != nil:
			return nil
		case is == sum:
			f.exact[rel] = true
		default:
			f.wrong = append(f.wrong, rel)
		}
		seen[rel] = true
		return nil
	})
	for path := range want {
		if !seen[path] {
			f.missing = append(f.missing, path)
		}
	}
	return f
}

func hashFile(path string) (sum [sha256.Size]byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer file.Close() //nolint:errcheck // only read
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// tally counts what one reading of all states gave.
type tally struct {
	Snapshots int  `json:"snapshots_exact"`
	Files     int  `json:"files_exact"`
	Newest    bool `json:"newest_exact"`
	New       bool `json:"new_backup_exact,omitempty"`
	// The restore command exited with 0, but these files have other bytes or are not there.
	Wrong   int `json:"files_wrong_exit_0,omitempty"`
	Missing int `json:"files_missing_exit_0,omitempty"`
	// Of these two: neither the file nor its directory is named in the output of the repair.
	Unnamed  int  `json:"unnamed_by_repair,omitempty"`
	Nothing  bool `json:"nothing_opens,omitempty"`
	TimedOut int  `json:"timed_out,omitempty"`
}

// add counts one state. A state whose restore failed has no silent files: it was reported.
func (t *tally) add(i int, f found, failed bool, said string) {
	if f.complete() {
		t.Snapshots++
		t.Newest = t.Newest || i == states-1
	}
	t.Files += len(f.exact)
	if failed {
		return
	}
	t.Wrong += len(f.wrong)
	t.Missing += len(f.missing)
	for _, path := range append(f.wrong, f.missing...) {
		if !named(said, path) {
			t.Unnamed++
		}
	}
}

// named reports whether an output names a path or its directory.
func named(said, path string) bool {
	if strings.Contains(said, path) {
		return true
	}
	dir := regexp.MustCompile(`(?m)(^|[/ "'])` + regexp.QuoteMeta(filepath.Dir(path)) + `($|["':,\s])`)
	return dir.MatchString(said)
}

// salvaged joins what a restore and a mount of the same state gave. A file counts as wrong only if
// the mount delivered it without a read error.
func salvaged(restored, mounted found) found {
	for path := range restored.exact {
		mounted.exact[path] = true
	}
	mounted.missing = without(mounted.missing, mounted.exact)
	mounted.wrong = without(mounted.wrong, mounted.exact)
	return mounted
}

func without(paths []string, have map[string]bool) (out []string) {
	for _, p := range paths {
		if !have[p] {
			out = append(out, p)
		}
	}
	return out
}
