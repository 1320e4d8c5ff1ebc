//go:build !linux || portable

package fsx

// SupportsLandlock reports whether the kernel can do what Fence asks for.
func SupportsLandlock() bool { return false }

// RunWithLandlock runs f where nothing is to be kept out of, in memory. Elsewhere it
// reports false and does not run f: only Linux can fence one thread.
func RunWithLandlock(dirs []Dir, f func()) bool {
	for _, d := range dirs {
		if _, ok := unwrapDir(d).(*portableDir); ok {
			return false
		}
	}
	f()
	return true
}
