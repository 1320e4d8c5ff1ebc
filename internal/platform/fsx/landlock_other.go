//go:build !linux || portable

package fsx

// SupportsLandlock reports whether the kernel supports what RunWithLandlock needs.
func SupportsLandlock() bool { return false }

// RunWithLandlock runs f if all dirs are in memory. Otherwise it returns false without running
// f: only Linux can restrict a single thread.
func RunWithLandlock(dirs []Dir, f func()) bool {
	for _, d := range dirs {
		if _, ok := UnwrapDir(d).(*portableDir); ok {
			return false
		}
	}
	f()
	return true
}
