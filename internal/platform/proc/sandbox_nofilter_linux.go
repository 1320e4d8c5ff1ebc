//go:build linux && !amd64 && !arm64

package proc

func filterCalls() error { return ErrUnsupported }
