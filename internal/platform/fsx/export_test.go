//go:build linux && !portable

package fsx

// PlainOS is OS on a kernel without openat2.
func PlainOS() FS {
	s := &osFS{}
	s.probe.Do(func() {})
	s.plain.Store(true)
	return s
}
