package transcript

import (
	"encoding/json"
	"path/filepath"
	"time"
)

// ownRecord is one line of a transcript that Retake writes. Some agents keep their
// conversations in a database or in memory; for these, what their hooks report is written
// down in this form.
type ownRecord struct {
	Who  string    `json:"who"`
	Tool string    `json:"tool,omitempty"`
	Text string    `json:"text"`
	Time time.Time `json:"time"`
}

// OwnDir is the directory of the transcripts that Retake writes.
const OwnDir = "talks"

// IsOwn reports whether Retake wrote a transcript.
func IsOwn(path string) bool { return filepath.Base(filepath.Dir(path)) == OwnDir }

// FormatLine encodes a line of a transcript that Retake writes.
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

// turnEndedOwn checks the last line: a turn ends with what the agent said.
func turnEndedOwn(tail []byte, since time.Time) (string, bool) {
	said := readOwn(tail)
	if len(said) == 0 {
		return "", false
	}
	l := said[len(said)-1]
	return l.Text, l.Who == Agent && l.Tool == "" && l.Time.After(since)
}

// forkDocker continues a session of docker-agent. It keeps its sessions in a database and
// cannot begin one with what was said up to a turn.
func forkDocker(r ForkRequest) Branch {
	return wholeBranch(r, "docker-agent continues a session with everything that was said; name the file of your agent after run, if it has one",
		"docker-agent", "run", "--session", r.Session)
}
