//go:build !unix

package servicetest

import "os"

func makeFIFO(path string) error { return os.Mkdir(path, 0o700) }
