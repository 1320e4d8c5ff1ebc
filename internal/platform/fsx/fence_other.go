//go:build !linux || portable

package fsx

// CanFence reports whether the kernel can do what Fence asks for.
func CanFence() bool { return false }

// Fence runs f where nothing is to be kept out of, in memory. Elsewhere it
// reports false and does not run f: only Linux can fence one thread.
func Fence(dirs []Dir, f func()) bool {
	for _, d := range dirs {
		if _, ok := bare(d).(*portableDir); ok {
			return false
		}
	}
	f()
	return true
}
