package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// A body that stops arriving, or arrives a byte at a time, ends the request; one that takes long
// because it is large does not.
func TestABodyMustKeepArriving(t *testing.T) {
	t.Parallel()
	const timeout = 5 * time.Second
	read := make(chan error, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, end := paceBody(w, r, timeout)
		defer end()
		_, err := io.ReadAll(r.Body)
		read <- err
	}))
	defer s.Close()
	for _, c := range []struct {
		name         string
		size, pieces int // bytes of a piece, and how many are sent of 8
		fails        bool
	}{{"stalls", 1, 2, true}, {"drips", 1, 8, true}, {"large", bodyPiece, 8, false}} {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: a\r\nConnection: %s\r\nContent-Length: %d\r\n\r\n", map[bool]string{true: "keep-alive", false: "close"}[c.fails], 8*c.size)
		for range c.pieces {
			_, _ = conn.Write(make([]byte, c.size)) // fails when the request was ended
			<-time.After(timeout / 4)               // the pace is what is tested
		}
		select {
		case err := <-read:
			if (err != nil) != c.fails {
				t.Errorf("%s: %v", c.name, err)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("%s: it is waited for", c.name)
		}
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.ReadAll(conn); c.fails && errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: the connection stays", c.name)
		}
		_ = conn.Close()
	}
}

// A body that nobody reads does not hold its connection either, and what reads it after the request
// touches nothing of it.
func TestAnUnreadBodyEnds(t *testing.T) {
	t.Parallel()
	bodies := make(chan io.ReadCloser, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, end := paceBody(w, r, time.Second)
		defer end()
		bodies <- r.Body
		w.WriteHeader(http.StatusNotFound)
	}))
	defer s.Close()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n")
	_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.ReadAll(conn); err != nil {
		t.Errorf("the connection stays: %v", err)
	}
	if _, err := (<-bodies).Read(make([]byte, 10)); err == nil {
		t.Error("it has bytes")
	}
}

// The rest of a body that was refused is not taken for more requests: behind a proxy that sends the
// requests of several clients over one connection, those would get each other's responses.
func TestTheRestOfABodyIsNoRequest(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, end := paceBody(w, r, time.Minute)
		defer end()
		_, _ = io.CopyN(io.Discard, r.Body, 10)
		_ = r.Body.Close()
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}))
	defer s.Close()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := strings.Repeat("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 100_000)
	go func() {
		_, _ = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}()
	_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	all, _ := io.ReadAll(conn) // the server may reset the connection
	if n := strings.Count(string(all), "HTTP/1.1 "); n != 1 {
		t.Errorf("%d responses to one request", n)
	}
}

// A response that fits into buffers, and is read by nobody, does not hold its connection.
func TestAResponseLeavesInTime(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) {
		w := pacedWriter{to, time.Second}
		w.begin()
		defer w.end()
		_, _ = w.Write(make([]byte, 3<<10)) // it stays in the buffer until the handler has returned
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			close(over)
		}
	}
	s.Start()
	defer s.Close()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() {
		for {
			if _, err := io.WriteString(conn, strings.Repeat("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 100)); err != nil {
				return
			}
		}
	}()
	select {
	case <-over:
	case <-time.After(30 * time.Second):
		t.Error("the connection stays")
	}
}

// Over HTTP/2, a handler that is slow does not break the body of a client that is not.
func TestASlowHandlerKeepsABodyOfHTTP2(t *testing.T) {
	t.Parallel()
	const timeout = time.Second
	read := make(chan error, 1)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, end := paceBody(w, r, timeout)
		defer end()
		<-time.After(2 * timeout) // as if a namespace were opened
		_, err := io.CopyN(io.Discard, r.Body, 10)
		<-time.After(2 * timeout) // as if the ten bytes were written to a slow disk
		if err == nil {
			_, err = io.ReadAll(r.Body)
		}
		read <- err
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	res, err := s.Client().Post(s.URL, "text/plain", bytes.NewReader(make([]byte, 8<<20)))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if err := <-read; err != nil || res.ProtoMajor != 2 {
		t.Errorf("HTTP/%d: %v", res.ProtoMajor, err)
	}
}

// A client that stops reading ends the response; one that reads slowly, or waits for a silent stream,
// does not.
func TestAResponseMustKeepLeaving(t *testing.T) {
	t.Parallel()
	const timeout = 2 * time.Second
	wrote := make(chan error, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paced := pacedWriter{w, timeout}
		size := 64 << 20
		if r.URL.Path == "/silent" {
			size = 1
		}
		var err error
		for range 2 {
			for sent := 0; sent < size && err == nil; sent += 32 << 10 {
				_, err = paced.Write(make([]byte, min(size, 32<<10)))
			}
			if err == nil {
				err = http.NewResponseController(paced).Flush()
			}
			if size == 1 {
				<-time.After(2 * timeout)
			}
		}
		wrote <- err
	}))
	defer s.Close()
	for _, c := range []struct {
		path  string
		reads bool
	}{{"/large", false}, {"/large", true}, {"/silent", true}} {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", c.path)
		if c.reads {
			go io.Copy(io.Discard, conn) //nolint:errcheck // it ends with the connection
		}
		select {
		case err := <-wrote:
			if (err == nil) != c.reads {
				t.Errorf("%s, read %v: %v", c.path, c.reads, err)
			}
		case <-time.After(time.Minute):
			t.Errorf("%s, read %v: it is waited for", c.path, c.reads)
		}
		_ = conn.Close()
	}
}
