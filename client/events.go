package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/retake-dev/retake"
)

// result is the JSON of the answer, which may come at the end of events.
func (a *ask) result(r *http.Response) ([]byte, error) {
	if contentType(r) == eventType {
		return a.events(r.Body)
	}
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, &broken{sent: true, err: err}
	}
	return data, nil
}

// events reads until the event that ends them. Without one they broke off.
func (a *ask) events(r io.Reader) ([]byte, error) {
	lines := bufio.NewReader(r)
	event, data := "", []byte(nil)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, &broken{sent: true, err: err}
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) > 0 {
			field, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(field) {
			case "event":
				event = string(value)
			case "data":
				data = append(data, value...)
			}
			continue
		}
		switch event {
		case "result":
			return data, nil
		case "problem":
			return nil, parseProblem(data)
		case "progress":
			a.tell(data)
		}
		event, data = "", nil
	}
}

func (a *ask) tell(data []byte) {
	var p struct{ Files, Total, Bytes int64 }
	if a.follow != nil && json.Unmarshal(data, &p) == nil {
		a.follow(retake.Progress{Files: p.Files, Total: p.Total, Bytes: p.Bytes})
	}
}
