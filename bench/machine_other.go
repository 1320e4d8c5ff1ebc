//go:build !linux

package main

import (
	"runtime"

	"github.com/retake-dev/retake/bench/record"
)

// Elsewhere times are measured, and the facts that only Linux tells are left out.
func lookAtMachine(string) (record.Machine, error) {
	return record.Machine{
		System: runtime.GOOS + "/" + runtime.GOARCH, Kernel: "unknown", Cores: runtime.NumCPU(),
		FileSystem: "unknown", Go: runtime.Version(),
	}, nil
}

func sameDisk(string, string) bool { return false }

func writeBack() {}
