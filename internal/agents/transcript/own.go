package transcript

import (
	"encoding/json"
	"path/filepath"
	"time"
)

// Some agents keep their conversations where nobody else can read them, in a database or
// in memory. What their hooks report is written down by us, in this form.

// ownRecord is one line that we wrote.
type ownRecord struct {
	Who  string    `json:"who"`
	Tool string    `json:"tool,omitempty"`
	Text string    `json:"text"`
	Time time.Time `json:"time"`
}

// OwnDir is the directory of the transcripts that we write.
const OwnDir = "talks"

// IsOwn reports whether a transcript is one that we wrote.
func IsOwn(path string) bool { return filepath.Base(filepath.Dir(path)) == OwnDir }

// FormatLine is a line of a transcript that we write.
func FormatLine(l Line) []byte {
	b, err := json.Marshal(ownRecord(l))
	if err != nil {
		return nil // texts and a time
	}
	return append(b, '\n')
}

func readOwn(data []byte) []Line {
	var out lineList
	for raw := range jsonRecords(data) {
		switch r := decode[ownRecord](raw); {
		case r.Who == Agent && r.Tool != "":
			out.addCall(r.Tool, r.Text, r.Time)
		case r.Who == Tool:
			out.addResult(r.Tool, r.Text, r.Time)
		case r.Who == You || r.Who == Agent || r.Who == Note:
			out.addText(r.Who, r.Text, r.Time)
		}
	}
	return out
}

// turnEndedOwn looks at the last line: the end of a turn is what the agent said.
func turnEndedOwn(tail []byte, since time.Time) (string, bool) {
	said := readOwn(tail)
	if len(said) == 0 {
		return "", false
	}
	l := said[len(said)-1]
	return l.Text, l.Who == Agent && l.Tool == "" && l.Time.After(since)
}

// forkDocker continues a session of docker-agent. It keeps sessions in a database of its
// own and has no way to begin one with what was said up to a turn.
func forkDocker(r ForkRequest) Branch {
	return wholeBranch(r, "docker-agent continues a session with everything that was said; name the file of your agent after run, if it has one",
		"docker-agent", "run", "--session", r.Session)
}
