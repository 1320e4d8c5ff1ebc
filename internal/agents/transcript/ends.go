package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
)

// truncationMark ends a message that was too long for the hook that reported it.
const truncationMark = "[cut]"

// EndsWith reports whether a transcript ends with the agent's final message. The message
// may be truncated, or contain everything said in the turn; white space does not count.
// Without a message it is enough that the last record is complete.
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

// lastRecord returns the record at the end, or nil if it is not complete.
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
