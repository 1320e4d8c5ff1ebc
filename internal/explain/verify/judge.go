package verify

import (
	"regexp"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/proc"
	"github.com/retake-dev/retake/internal/pure/pattern"
)

// Exit codes as shells give them.
const (
	exitRefused  = 126 // there, and cannot be run
	exitNotFound = 127
	exitSignal   = 128 // and the number of the signal
)

// Signals that come from outside: from a person, or from a kernel without memory. The
// others are what the command did to itself.
const (
	hangup    = 1
	interrupt = 2
	kill      = 9
	terminate = 15
)

// judge says what an exit means. A shell passes on as a code what ended its child.
func judge(end proc.Ended, output string) (retake.Verdict, string) {
	switch end.Exit {
	case 0:
		return retake.Passed, ""
	case exitNotFound:
		return retake.CouldNotRun, missing(output)
	case exitRefused:
		return retake.CouldNotRun, refused(output)
	case exitSignal + kill, exitSignal + terminate:
		return retake.CouldNotRun, "killed"
	}
	if end.Signal == hangup || end.Signal == interrupt {
		return retake.CouldNotRun, "killed"
	}
	return retake.Failed, ""
}

// How shells and env name what they could not run: before the last colon.
var (
	absent = pattern.Late(`(?m)([^\s:'"‘’“”` + "`" + `]+)['"’”]?: (?:command not found|not found|No such file or directory|inaccessible or not found)\s*$`)
	barred = pattern.Late(`(?m)([^\s:'"‘’“”` + "`" + `]+)['"’”]?: (?:Permission denied|Is a directory|is a directory|cannot execute|Exec format error|cannot execute binary file.*|bad interpreter.*)\s*$`)
)

func missing(output string) string { return named("not found", absent(), output) }

func refused(output string) string { return named("cannot be run", barred(), output) }

// maxNamed is enough to know a program by.
const maxNamed = 60

// named adds what the last such line names. Foreign text: only its plain part is told.
func named(what string, at *regexp.Regexp, output string) string {
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
	if len(name) > maxNamed {
		name = name[:maxNamed]
	}
	return what + ": " + name
}
