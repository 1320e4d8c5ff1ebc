package main

import (
	"os"

	"github.com/retake-dev/retake/internal/explain/xray"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// xrayWord is the word by which we start ourselves to read hostile bytes.
const xrayWord = "xray"

// xrayed is the life of a child that reads what files mean. It gives up what it does not
// need before it reads a byte; what an old kernel cannot take from it, it keeps.
func xrayed() int {
	proc.EnterSandbox(xray.Cage)
	if err := xray.Serve(os.Stdin, os.Stdout); err != nil {
		return 1
	}
	return 0
}
