package webhooks

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/retake-dev/retake"
)

// Prefixes of the ids that others meet.
const (
	eventPrefix   = "evt_"
	messagePrefix = "msg_"
)

const maxTextBytes = 1000 // bytes of a text that people wrote; a message stays small

// NewEvent makes an event. Its id is made of the namespace, the type and the key, which
// says what happened so that to say it twice is to say it once.
func NewEvent(t retake.EventType, at time.Time, data retake.EventData, key ...string) (retake.Event, error) {
	data.Intent, data.Name, data.Why = truncateText(data.Intent), truncateText(data.Name), truncateText(data.Why)
	raw, err := json.Marshal(data)
	if err != nil {
		return retake.Event{}, fmt.Errorf("encode event: %w", err)
	}
	return retake.Event{ID: EventID(data.Namespace, t, key...), Type: t, Time: at.UTC(), Data: raw}, nil
}

// EventID makes the id of an event of what tells it from every other.
func EventID(ns retake.NamespaceID, t retake.EventType, key ...string) string {
	return eventPrefix + hashParts(append([]string{string(ns), string(t)}, key...)...)
}

// hashParts tells lists of texts apart, also those that read the same when joined.
func hashParts(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p)))) // a hash takes everything
		_, _ = h.Write([]byte(p))
	}
	return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)[:20]))
}

// truncateText shortens a text between two characters.
func truncateText(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxTextBytes {
		return s
	}
	end := maxTextBytes
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
