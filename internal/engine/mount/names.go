package mount

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/retake-dev/retake"
)

// latestName names the link to the newest checkpoint.
const latestName = "latest"

// maxIntentBytes is how many bytes of an intent go into a name.
const maxIntentBytes = 60

// Label returns the name of a folder: the number, the time in the zone of now, with its date
// if that is another day, and the intent or what the checkpoint is.
func Label(cp retake.Checkpoint, now time.Time) string {
	t, form := cp.Time.In(now.Location()), "15.04"
	if t.Format(time.DateOnly) != now.Format(time.DateOnly) {
		form = time.DateOnly + " 15.04"
	}
	return strings.TrimSpace(fmt.Sprintf("%04d %s %s", cp.Number, t.Format(form), safeName(labelText(cp), maxIntentBytes)))
}

func labelText(cp retake.Checkpoint) string {
	switch {
	case cp.Intent != "":
		return cp.Intent
	case cp.Trigger == retake.TriggerInit:
		return "start"
	case cp.Return != nil:
		return "after " + string(cp.Return.Course)
	}
	return ""
}

// safeName makes untrusted text a part of a file name, at most n bytes long. It may be empty
// and is never "." or "..".
func safeName(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == '/' || r == utf8.RuneError || !unicode.IsPrint(r):
			return '_'
		}
		return r
	}, s)
	s = strings.TrimLeft(s, " ")
	if len(s) > n {
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n]
	}
	return strings.TrimRight(s, " .")
}
