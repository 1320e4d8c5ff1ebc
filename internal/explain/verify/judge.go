package verify

import (
	"regexp"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/proc"
	"github.com/retake-dev/retake/internal/pure/pattern"
)

// Exit codes of shells.
const (
	exitRefused  = 126 // there, and cannot be run
	exitNotFound = 127
	exitSignal   = 128 // and the number of the signal
)

// Signals that come from outside: from a person, or from a kernel that is out of memory.
// All others are the command's own fault.
const (
	signalHangup    = 1
	signalInterrupt = 2
	signalKill      = 9
	signalTerminate = 15
)

// judgeExit returns what an exit status means. A shell passes on the signal that ended its
// child as an exit code.
func judgeExit(end proc.ExitStatus, output string) (retake.Verdict, string) {
	switch end.Exit {
	case 0:
		return retake.Passed, ""
	case exitNotFound:
		return retake.CouldNotRun, notFoundReason(output)
	case exitRefused:
		return retake.CouldNotRun, cannotRunReason(output)
	case exitSignal + signalKill, exitSignal + signalTerminate:
		return retake.CouldNotRun, "killed"
	}
	if end.Signal == signalHangup || end.Signal == signalInterrupt {
		return retake.CouldNotRun, "killed"
	}
	return retake.Failed, ""
}

// How shells and env name what they could not run: before the last colon.
var (
	notFoundPattern      = pattern.Lazy(`(?m)([^\s:'"‘’“”` + "`" + `]+)['"’”]?: (?:command not found|not found|No such file or directory|inaccessible or not found)\s*$`)
	notExecutablePattern = pattern.Lazy(`(?m)([^\s:'"‘’“”` + "`" + `]+)['"’”]?: (?:Permission denied|Is a directory|is a directory|cannot execute|Exec format error|cannot execute binary file.*|bad interpreter.*)\s*$`)
)

func notFoundReason(output string) string { return withName("not found", notFoundPattern(), output) }

func cannotRunReason(output string) string {
	return withName("cannot be run", notExecutablePattern(), output)
}

// maxProgramName is enough to recognize a program.
const maxProgramName = 60

// withName adds the program that the last matching line names. The output is untrusted, so
// only printable ASCII is kept.
func withName(what string, at *regexp.Regexp, output string) string {
	all := at.FindAllStringSubmatch(output, -1)
	if len(all) == 0 {
		return what
	}
	name := strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return -1
		}
		return r
	}, all[len(all)-1][1])
	if name == "" {
		return what
	}
	if len(name) > maxProgramName {
		name = name[:maxProgramName]
	}
	return what + ": " + name
}
