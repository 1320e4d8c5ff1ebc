package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// readResult returns the JSON of a response, which may be the last event of a stream.
func (a *apiRequest) readResult(r *http.Response) ([]byte, error) {
	if contentType(r) == wire.EventType {
		return a.readOutcome(r.Body)
	}
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, &connError{mayHaveArrived: true, err: err}
	}
	return data, nil
}

// readOutcome reads events until the result or a problem. A stream without either was cut short.
func (a *apiRequest) readOutcome(r io.Reader) ([]byte, error) {
	lines := bufio.NewReader(r)
	for {
		e, err := nextEvent(lines)
		if err != nil {
			return nil, err
		}
		switch e.event {
		case wire.ResultEvent:
			return e.data, nil
		case wire.ProblemEvent:
			return nil, parseProblem(e.data)
		case wire.ProgressEvent:
			a.reportProgress(e.data)
		}
	}
}

// streamEvent is one event of a stream.
type streamEvent struct {
	id, event string
	data      []byte
}

// nextEvent reads one event. The end of the stream is an error, because a stream that is
// complete is not read further.
func nextEvent(lines *bufio.Reader) (streamEvent, error) {
	var e streamEvent
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return streamEvent{}, &connError{mayHaveArrived: true, err: err}
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			if e.event != "" {
				return e, nil
			}
			e = streamEvent{}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "id":
			e.id = string(value)
		case "event":
			e.event = string(value)
		case "data":
			e.data = append(e.data, value...)
		}
	}
}

// reportProgress passes a progress event to the caller.
func (a *apiRequest) reportProgress(data []byte) {
	var p wire.Progress
	if a.onProgress != nil && json.Unmarshal(data, &p) == nil {
		a.onProgress(retake.Progress(p))
	}
}
