//go:build linux

package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// What the server promises, in docs/server/setup.md and the changelog.
const (
	headerTime   = 10 * time.Second // for the header of a request, and for a handshake
	bodyTime     = 30 * time.Second // for 16 KiB of a body, or all of it
	responseTime = 30 * time.Second // for a part of a response
	importTime   = 15 * time.Second // that an import waits for others
	idleTime     = 2 * time.Minute  // between two requests
)

// target is what slow connections are made to.
type target struct {
	address string
	secure  *authority // nil: plain HTTP
	key     string     // of an operator
	post    string     // path that takes a small body
	upload  string     // path that takes a long body
	large   string     // path of a long answer, with a key
	page    string     // path of a long answer, for everybody
}

// line is one slow connection.
type line struct {
	net.Conn
	target *target
	keyed  bool
}

// wire says over what a kind of slow connection goes.
type wire int

const (
	either wire = iota // plain, or HTTP/1.1 in TLS
	plain              // bytes: for a server with TLS, those of no handshake
	http1              // TLS only
	http2              // TLS only
)

// kind is a way to be slow.
type kind struct {
	name string
	over wire
	keys []bool                                   // with and without a key
	ends time.Duration                            // the server's own limit
	few  bool                                     // it takes much work to set up
	play func(ctx context.Context, l *line) error // until the server ends it
}

var (
	everybody = []bool{false, true}
	strangers = []bool{false}
	callers   = []bool{true}
)

// kinds are all ways to be slow.
var kinds = []kind{
	{name: "no bytes", over: plain, keys: strangers, ends: headerTime, play: playSilence},
	{name: "no bytes after a handshake", over: http1, keys: strangers, ends: headerTime, play: playSilence},
	{name: "header", over: either, keys: everybody, ends: headerTime, play: playHeader},
	{name: "body", over: either, keys: everybody, ends: bodyTime, play: playBody},
	{name: "body that stops", over: either, keys: everybody, ends: bodyTime, play: playStop},
	{name: "chunks", over: either, keys: everybody, ends: bodyTime, play: playChunks},
	{name: "idle", over: either, keys: everybody, ends: idleTime, play: playIdle},
	{name: "one answer not read", over: either, keys: callers, ends: responseTime, play: playUnread},
	{name: "pages not read", over: either, keys: strangers, ends: responseTime, play: playPages},
	{name: "many answers not read", over: either, keys: everybody, ends: responseTime, few: true, play: playManyUnread},
	{name: "import", over: either, keys: callers, ends: importTime + bodyTime, play: playImport},
	{name: "no preface", over: http2, keys: strangers, ends: headerTime, play: playSilence},
	{name: "HTTP/2, pings", over: http2, keys: strangers, ends: idleTime, play: playPings},
	{name: "HTTP/2, bodies", over: http2, keys: everybody, ends: bodyTime + idleTime, play: playStreams},
	{name: "HTTP/2, no window", over: http2, keys: everybody, ends: responseTime + idleTime, play: playNoWindow},
}

// dial connects from one of many addresses of this machine.
func (t *target) dial(ctx context.Context, k *kind, from net.IP) (net.Conn, error) {
	d := net.Dialer{Timeout: time.Minute, LocalAddr: &net.TCPAddr{IP: from}}
	if strings.HasSuffix(k.name, "not read") {
		d.Control = func(_, _ string, c syscall.RawConn) (err error) {
			return errors.Join(c.Control(func(fd uintptr) { err = shrink(int(fd)) }), err)
		}
	}
	c, err := d.DialContext(ctx, "tcp", t.address)
	if err != nil || t.secure == nil || k.over == plain {
		return c, err
	}
	protocol := "http/1.1"
	if k.over == http2 {
		protocol = "h2"
	}
	s := tls.Client(c, t.secure.config(protocol))
	if err := s.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return s, nil
}

// shrink makes the buffers of a connection small, at both ends: the server's grows with the size
// of a segment. Who does not read needs few requests to fill them.
func shrink(fd int) error {
	err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4<<10)
	return errors.Join(err, syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, 536))
}

// head is a request line with its header, without the line that ends it.
func (l *line) head(method, path string, more ...string) string {
	text := method + " " + path + " HTTP/1.1\r\nHost: siege\r\n"
	if l.keyed {
		text += "Authorization: Bearer " + l.target.key + "\r\n"
	}
	return text + strings.Join(more, "")
}

// drip writes a piece each second until the server ends the connection.
func (l *line) drip(ctx context.Context, piece string) error {
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, l.Conn)
		ended <- errors.Join(err, io.EOF)
	}()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-ended:
			return err
		case <-tick.C:
			if _, err := io.WriteString(l.Conn, piece); err != nil {
				return err
			}
		}
	}
}

func playSilence(ctx context.Context, l *line) error { return l.drip(ctx, "") }

func playHeader(ctx context.Context, l *line) error {
	if _, err := io.WriteString(l.Conn, l.head(http.MethodGet, "/v1/about", "X-Slow: ")); err != nil {
		return err
	}
	return l.drip(ctx, "a")
}

// playStop begins a body, and says no more.
func playStop(ctx context.Context, l *line) error {
	text := l.head(http.MethodPost, l.target.post, "Content-Type: application/json\r\n", "Content-Length: 100000\r\n\r\n{")
	if _, err := io.WriteString(l.Conn, text); err != nil {
		return err
	}
	return l.drip(ctx, "")
}

func playBody(ctx context.Context, l *line) error {
	text := l.head(http.MethodPost, l.target.post, "Content-Type: application/json\r\n", "Content-Length: 100000\r\n\r\n{")
	if _, err := io.WriteString(l.Conn, text); err != nil {
		return err
	}
	return l.drip(ctx, " ")
}

func playChunks(ctx context.Context, l *line) error {
	text := l.head(http.MethodPost, l.target.post, "Content-Type: application/json\r\n", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n")
	if _, err := io.WriteString(l.Conn, text); err != nil {
		return err
	}
	return l.drip(ctx, "1\r\n \r\n")
}

func playImport(ctx context.Context, l *line) error {
	path := fmt.Sprintf("%s?name=slow-%d", l.target.upload, time.Now().UnixNano())
	if _, err := io.WriteString(l.Conn, l.head(http.MethodPost, path, "Content-Type: application/x-tar\r\n", "Content-Length: 1000000000\r\n\r\n")); err != nil {
		return err
	}
	return l.drip(ctx, "a")
}

func playIdle(ctx context.Context, l *line) error {
	if _, err := io.WriteString(l.Conn, l.head(http.MethodGet, "/v1/about", "\r\n")); err != nil {
		return err
	}
	res, err := http.ReadResponse(bufio.NewReader(l.Conn), nil)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	return errors.Join(res.Body.Close(), l.drip(ctx, ""))
}

// playUnread asks for one long answer and reads nothing of it.
func playUnread(ctx context.Context, l *line) error {
	if _, err := io.WriteString(l.Conn, l.head(http.MethodGet, l.target.large, "\r\n")); err != nil {
		return err
	}
	<-ctx.Done() // what the server does is seen in its sockets
	return ctx.Err()
}

// playManyUnread asks for much in many small requests, and reads nothing. The server answers the
// next request when the last answer has left, so that its buffers fill after a handler returned.
func playManyUnread(ctx context.Context, l *line) error { return l.flood(ctx, "/v1/about", 10_000) }

// playPages is the same with what everybody may read.
func playPages(ctx context.Context, l *line) error { return l.flood(ctx, l.target.page, 200) }

func (l *line) flood(ctx context.Context, path string, times int) error {
	one := l.head(http.MethodGet, path, "\r\n")
	for range times {
		if _, err := io.WriteString(l.Conn, one); err != nil {
			return err // the connection was closed, by us or by the server
		}
	}
	<-ctx.Done()
	return ctx.Err()
}
