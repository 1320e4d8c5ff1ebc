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

// Prefixes of IDs.
const (
	eventPrefix   = "evt_"
	messagePrefix = "msg_"
)

const maxTextBytes = 1000 // limit for a text that people wrote, to keep messages small

// NewEvent creates an event. Its ID is derived from the namespace, the type and the key. The key
// must identify what happened, so that publishing it again adds nothing.
func NewEvent(t retake.EventType, at time.Time, data retake.EventData, key ...string) (retake.Event, error) {
	data.Intent, data.Name, data.Why = truncateText(data.Intent), truncateText(data.Name), truncateText(data.Why)
	raw, err := json.Marshal(data)
	if err != nil {
		return retake.Event{}, fmt.Errorf("encode event: %w", err)
	}
	return retake.Event{ID: EventID(data.Namespace, t, key...), Type: t, Time: at.UTC(), Data: raw}, nil
}

// EventID derives the ID of an event from its namespace, its type and its key.
func EventID(ns retake.NamespaceID, t retake.EventType, key ...string) string {
	return eventPrefix + hashParts(append([]string{string(ns), string(t)}, key...)...)
}

// hashParts hashes a list of texts. The length of each is part of the hash, so that lists which
// are equal when joined get different hashes.
func hashParts(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p)))) // writing to a hash never fails
		_, _ = h.Write([]byte(p))
	}
	return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)[:20]))
}

// truncateText shortens a text to maxTextBytes without splitting a character.
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
