package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
)

// cutMark ends a message that was too long for the one who told it.
const truncationMark = "[cut]"

// EndsWith reports whether a transcript ends with the agent's last words. The message
// may be cut, or hold all that was said in the turn; blanks do not count. Without a
// message it is enough that the last record is whole.
func EndsWith(agent string, tail []byte, message string) bool {
	last := lastRecord(tail)
	if last == nil {
		return false
	}
	message = collapseSpaces(strings.TrimSuffix(strings.TrimSpace(message), truncationMark))
	if message == "" {
		return true
	}
	if cut := bytes.IndexByte(tail, '\n'); cut >= 0 && !json.Valid(tail[:cut]) && !isDocument(tail) {
		tail = tail[cut+1:] // the tail began inside a record
	}
	words := Read(agent, tail)
	for i := len(words) - 1; i >= 0; i-- {
		switch {
		case words[i].Who == Note:
			continue
		case words[i].Who != Agent || words[i].Tool != "":
			return false
		}
		said := collapseSpaces(words[i].Text)
		return strings.Contains(said, message) || strings.HasSuffix(message, said)
	}
	return false
}

// lastRecord is the record at the end, when it is whole.
func lastRecord(tail []byte) []byte {
	tail = bytes.TrimSpace(tail)
	if isDocument(tail) && json.Valid(tail) {
		return tail
	}
	line := tail[bytes.LastIndexByte(tail, '\n')+1:]
	if len(line) < 2 || line[0] != '{' || !json.Valid(line) {
		return nil
	}
	return line
}

// isDocument reports whether the bytes look like one JSON value over many lines.
func isDocument(b []byte) bool {
	return len(b) > 1 && b[0] == '{' && (b[1] == '\n' || b[1] == '\r')
}

func collapseSpaces(s string) string { return strings.Join(strings.Fields(s), " ") }
