// Package webhook makes, signs, checks and sends messages as Standard Webhooks 1.0.0 says.
//
// It makes the only connections that a customer chooses the address of. It keeps nothing,
// and decides neither when a message is sent nor whether it is sent again.
//
//	W1  A connection is made to no address that is not public: what a name resolves to is
//	    filtered, and the address that the kernel is given is filtered again.
//	W2  A message goes where its URL says or nowhere: no redirect, no proxy.
//	W3  An answer costs bounded time and memory, and its body is dropped.
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

// Body makes the body of a message about an event, under the name that its receiver asked
// for. When it is too long its words are cut, and at last only ids are left.
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

func fullData(raw json.RawMessage) any {
	if len(raw) == 0 {
		return struct{}{}
	}
	return raw
}

func shortenedData(raw json.RawMessage) any {
	var d retake.EventData
	_ = json.Unmarshal(raw, &d) // what cannot be read is not told
	for _, s := range []*string{&d.Intent, &d.Answer, &d.Name, &d.Why, &d.Address} {
		if r := []rune(*s); len(r) > maxTextLength {
			*s = string(r[:maxTextLength]) + "…"
		}
	}
	return d
}

func idsOnlyData(raw json.RawMessage) any {
	var d retake.EventData
	_ = json.Unmarshal(raw, &d)
	return retake.EventData{
		Namespace: d.Namespace, Workspace: d.Workspace, Checkpoint: d.Checkpoint, Number: d.Number, Parent: d.Parent,
	}
}

// Delays are the pauses before the tries of one message.
var Delays = []time.Duration{
	0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
	5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

const delayJitter = 0.2 // of a delay is left to chance, so that messages that failed together part

// NextDelay answers the pause before the next try of a message that was tried so many times;
// false: there is none. rnd answers numbers from 0 up to 1; nil: there is no chance.
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
