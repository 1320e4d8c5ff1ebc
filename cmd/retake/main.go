// Command retake shows and changes the history of a workspace. It speaks to the daemon, which
// is the program retaked, and starts it when it is needed.
package main

import (
	"os"

	"github.com/retake-dev/retake/internal/assembly/program"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// version is set by a release at build time.
var version = program.Unversioned

func main() {
	if handled, exit := proc.RunHelper(os.Args[1:]); handled {
		os.Exit(exit)
	}
	os.Exit(program.Run(os.Args[1:], program.Version(version), nil))
}
