// Package webhook makes, signs, checks and sends messages according to Standard Webhooks 1.0.0.
//
// It makes the only connections to addresses that a customer chooses. It keeps nothing,
// and decides neither when a message is sent nor whether it is sent again.
//
//	W1  No connection is made to an address that is not public: what a name resolves to is
//	    filtered, and the address that is passed to the kernel is filtered again.
//	W2  A message goes where its URL says or nowhere: no redirect, no proxy.
//	W3  A response costs bounded time and memory, and its body is dropped.
//	W4  The bytes that are signed are the bytes that are sent.
package webhook

import (
	"encoding/json"
	"time"

	"github.com/retake-dev/retake"
)

const (
	maxBody       = 20_000 // the specification wants less than 20 kB
	maxTextLength = 1000   // characters that a text keeps when a body is too long
)

type message struct {
	Type      retake.EventType `json:"type"`
	Timestamp time.Time        `json:"timestamp"`
	Data      any              `json:"data"`
}

// Body returns the body of a message about an event, with the event name that the receiver
// subscribed to. If it is too long its texts are truncated, and if that is not enough only ids
// are left.
func Body(e retake.Event, name retake.EventType) []byte {
	for _, data := range [...]func(json.RawMessage) any{fullData, shortenedData, idsOnlyData} {
		b, err := json.Marshal(message{Type: name, Timestamp: e.Time.UTC(), Data: data(e.Data)})
		if err == nil && len(b) < maxBody {
			return b
		}
	}
	b, _ := json.Marshal(message{Type: name, Timestamp: e.Time.UTC(), Data: struct{}{}})
	return b
}

// fullData returns the data unchanged.
func fullData(raw json.RawMessage) any {
	if len(raw) == 0 {
		return struct{}{}
	}
	return raw
}

// shortenedData returns the data with truncated texts.
func shortenedData(raw json.RawMessage) any {
	var d retake.EventData
	_ = json.Unmarshal(raw, &d) // data that cannot be parsed is left out
	for _, s := range []*string{&d.Intent, &d.Answer, &d.Name, &d.Why, &d.Address} {
		if r := []rune(*s); len(r) > maxTextLength {
			*s = string(r[:maxTextLength]) + "…"
		}
	}
	return d
}

// idsOnlyData returns only the ids in the data.
func idsOnlyData(raw json.RawMessage) any {
	var d retake.EventData
	_ = json.Unmarshal(raw, &d)
	return retake.EventData{
		Namespace: d.Namespace, Workspace: d.Workspace, Checkpoint: d.Checkpoint, Number: d.Number, Parent: d.Parent,
	}
}

// Delays are the delays before the attempts to send one message.
var Delays = []time.Duration{
	0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
	5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

const delayJitter = 0.2 // random share of a delay, so that messages that failed together are spread out

// NextDelay returns the delay before the next attempt of a message after tried attempts, and
// false if there is none. rnd returns numbers from 0 to 1; nil means no jitter.
func NextDelay(tried int, rnd func() float64) (time.Duration, bool) {
	if tried < 0 || tried >= len(Delays) {
		return 0, false
	}
	d := Delays[tried]
	if rnd != nil {
		d += time.Duration(float64(d) * delayJitter * min(max(rnd(), 0), 1))
	}
	return d, true
}
