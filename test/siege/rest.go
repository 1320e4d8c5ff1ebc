//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// A request that is refused before all of its body was read must end its connection, or the rest
// of the body is taken for more requests. Behind a proxy that sends the requests of several
// clients over one connection, those get each other's answers.

// smuggled is a request in a body. It has an answer of its own if the server takes it for one.
const smuggled = "GET /livez HTTP/1.1\r\nHost: smuggled\r\n\r\n"

// leftover is a request whose body is not read to its end.
type leftover struct {
	name  string
	head  func(l *line) string // of a request with a body of restBytes
	pause time.Duration        // after the first piece
}

const (
	restBytes  = 3 << 20
	firstPiece = 1 << 20
)

var leftovers = []leftover{
	{name: "a body that is too long", head: func(l *line) string {
		return l.head(http.MethodPost, l.target.post, "Content-Type: application/json\r\n")
	}},
	{name: "a body that is too long, with an idempotency key", head: func(l *line) string {
		return l.head(http.MethodPost, l.target.post, "Content-Type: application/json\r\n", "Idempotency-Key: rest\r\n")
	}},
	{name: "a body that takes too long", pause: bodyTime + 3*time.Second, head: func(l *line) string {
		return l.head(http.MethodPost, l.target.post, "Content-Type: application/json\r\n")
	}},
	{name: "no key", head: func(l *line) string {
		stranger := line{target: l.target}
		return stranger.head(http.MethodPost, l.target.post, "Content-Type: application/json\r\n")
	}},
	{name: "no such route", head: func(l *line) string { return l.head(http.MethodPost, "/v1/nothing") }},
	{name: "tools", head: func(l *line) string {
		return l.head(http.MethodPost, "/mcp", "Content-Type: application/json\r\n", "Accept: application/json, text/event-stream\r\n")
	}},
	{name: "an import", head: func(l *line) string {
		return l.head(http.MethodPost, l.target.upload+"?name=rest", "Content-Type: application/x-tar\r\n")
	}},
}

// twoRequests is a control: it is two requests, and must be counted as such.
var twoRequests = leftover{name: "control", head: func(*line) string { return smuggled + strings.TrimSuffix(smuggled, "\r\n") }}

// restResult is how one of them was answered.
type restResult struct {
	Name    string   `json:"name"`
	Answers []string `json:"answers"` // the first few
	Count   int      `json:"count"`
}

func (o *options) playRest(ctx context.Context, dir string, res *result) ([]string, error) {
	s, server, err := o.lay(ctx, dir, false)
	if err != nil {
		return nil, err
	}
	defer server.kill()
	var failures []string
	for _, one := range leftovers {
		r, err := one.send(ctx, s.target)
		if err != nil {
			return failures, err
		}
		res.Rest = append(res.Rest, r)
		note("%-50s %d answers: %.3q", r.Name, r.Count, r.Answers)
		if r.Count != 1 {
			failures = append(failures, fmt.Sprintf("%s: one request got %d answers, %.3q", r.Name, r.Count, r.Answers))
		}
	}
	if r, err := twoRequests.send(ctx, s.target); err != nil || r.Count < 2 {
		return failures, fmt.Errorf("two requests are counted as %d: the judge is blind: %w", r.Count, err)
	}
	return failures, nil
}

// send sends one request whose body is full of others, and counts the answers.
func (r *leftover) send(ctx context.Context, t *target) (res restResult, err error) {
	res = restResult{Name: r.name}
	c, err := t.dial(ctx, &kind{}, net.IPv4(127, 0, 0, 1))
	if err != nil {
		return res, err
	}
	defer c.Close() //nolint:errcheck // what matters was read
	l := &line{Conn: c, target: t, keyed: true}
	first := "{" + strings.Repeat(" ", firstPiece-1)
	if r.pause > 0 {
		first = "{"
	}
	rest := strings.Repeat(smuggled, (restBytes-len(first))/len(smuggled))
	rest += strings.Repeat("\n", restBytes-len(first)-len(rest))
	go func() {
		_, err := io.WriteString(c, r.head(l)+fmt.Sprintf("Content-Length: %d\r\n\r\n", restBytes)+first)
		if err == nil {
			<-time.After(r.pause)
			_, _ = io.WriteString(c, rest) // the server may have closed the connection, as it should
		}
	}()
	if err := c.SetReadDeadline(time.Now().Add(r.pause + 20*time.Second)); err != nil {
		return res, err
	}
	in := bufio.NewReader(c)
	for {
		answer, err := http.ReadResponse(in, nil)
		if err == nil {
			_, err = io.Copy(io.Discard, answer.Body)
			err = errors.Join(err, answer.Body.Close())
		}
		if err != nil {
			return res, nil // the server has closed the connection, or waits for more
		}
		if res.Count++; res.Count <= 3 {
			res.Answers = append(res.Answers, answer.Status)
		}
		if res.Count >= 1000 {
			return res, nil // it is known by now
		}
	}
}
