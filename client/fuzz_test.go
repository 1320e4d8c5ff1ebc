package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// readEventsOf reads all events of a stream.
func readEventsOf(r io.Reader) (events []streamEvent, err error) {
	lines := bufio.NewReader(r)
	for {
		e, err := nextEvent(lines)
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
}

// A daemon sends events in pieces of any size. How they are cut must not change what is read, an
// event is not longer than what was sent, and the end of the stream is never taken for a result.
func FuzzEventStream(f *testing.F) {
	f.Add([]byte("event: progress\ndata: {\"done\":1}\n\nevent: result\ndata: {\"id\":1}\n\n"))
	f.Add([]byte("id: 7\r\nevent: problem\r\ndata: {\"code\":\"busy\",\"what\":\"w\"}\r\n\r\n"))
	f.Add([]byte(": comment\n\ndata: a\ndata: b\n\nevent: result\n\n"))
	f.Add([]byte("event: result\ndata: {}"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		whole, err := readEventsOf(bytes.NewReader(stream))
		var broken *connError
		if !errors.As(err, &broken) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("the end of the stream is %v", err)
		}
		cut, _ := readEventsOf(iotest.OneByteReader(bytes.NewReader(stream)))
		if len(cut) != len(whole) {
			t.Fatalf("%d events at once, %d byte by byte", len(whole), len(cut))
		}
		size := 0
		for i, e := range whole {
			if e.event != cut[i].event || e.id != cut[i].id || !bytes.Equal(e.data, cut[i].data) {
				t.Fatalf("%+v at once, %+v byte by byte", e, cut[i])
			}
			if e.event == "" || strings.ContainsAny(e.event+e.id, "\n") || bytes.ContainsRune(e.data, '\n') {
				t.Fatalf("no event: %+v", e)
			}
			size += len(e.event) + len(e.data)
		}
		if size > len(stream) {
			t.Fatalf("%d bytes of events in %d bytes", size, len(stream))
		}
		wantOutcome(t, stream, whole)
	})
}

// wantOutcome checks that the first result or problem of a stream is its outcome.
func wantOutcome(t *testing.T, stream []byte, events []streamEvent) {
	t.Helper()
	data, err := new(apiRequest).readOutcome(bytes.NewReader(stream))
	for _, e := range events {
		switch e.event {
		case wire.ResultEvent:
			if err != nil || !bytes.Equal(data, e.data) {
				t.Fatalf("the result %q is read as %q, %v", e.data, data, err)
			}
			return
		case wire.ProblemEvent:
			if err == nil {
				t.Fatalf("the problem %q is no error", e.data)
			}
			return
		}
	}
	if err == nil {
		t.Fatalf("a stream without a result returns %q", data)
	}
}

// A problem is always an error with a kind, and is the same problem when it is sent on.
func FuzzProblem(f *testing.F) {
	f.Add([]byte(`{"code":"busy","what":"w","what_raw":"/w==","safe":"Nothing was changed.","hint":"h","cause":"c"}`))
	f.Add([]byte(`{"code":"denied","plan":{"digest":"7f3a","obstacles":[{"class":"changed"}]}}`))
	f.Add([]byte(`{"what":"no code"}`))
	f.Add([]byte(`<html>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := readProblem(data)
		if err == nil || retake.AsError(err).Kind == "" {
			t.Fatalf("%q is %v", data, err)
		}
		if json.Unmarshal(data, new(wire.Problem)) != nil || p.Code == "" {
			return
		}
		b, merr := json.Marshal(p)
		if merr != nil {
			t.Fatal(merr)
		}
		_, again := readProblem(b)
		a, c := retake.AsError(err), retake.AsError(again)
		if a.Kind != c.Kind || a.What != c.What || a.Safe != c.Safe || a.Hint != c.Hint || (a.Err == nil) != (c.Err == nil) {
			t.Fatalf("%+v became %+v", a, c)
		}
	})
}
