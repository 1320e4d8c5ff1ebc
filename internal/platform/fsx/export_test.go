//go:build linux && !portable

package fsx

// PlainOS is OS on a kernel without openat2.
func PlainOS() FS {
	s := &osFS{}
	s.probeOnce.Do(func() {})
	s.noOpenat2.Store(true)
	return s
}
