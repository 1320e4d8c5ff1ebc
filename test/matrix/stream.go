//go:build linux

package matrix

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

const (
	streamName = "streams"
	largeFile  = 24 << 20 // more than all buffers between the server and a reader that waits
	patience   = 40 * time.Second
	afterEnd   = 2 * time.Second // a server looks at the keys of long requests one by one
)

// stream is a long response whose key is revoked in the middle.
type stream struct {
	name, path, accept string
	large              bool // it has more bytes than fit into buffers; it is read again after the revocation
	revoke             bool
	secret, key        string
}

// outcome is how a stream ended.
type outcome struct {
	stream
	bytes int64
	took  time.Duration
	err   error
}

// ended says whether the stream ended before its time: a large one without all bytes, another one
// at all.
func (o outcome) ended() bool {
	if o.large {
		return o.bytes < largeFile/2
	}
	return o.took < patience
}

// streams has a namespace of its own, where nothing happens that a stream could tell.
type streams struct {
	hall *serverbed.Hall
	g    *serverbed.Guest
	all  []stream
}

func (b *Bed) openStreams() error {
	s := &streams{hall: b.hall}
	b.streams = s
	var err error
	if s.g, err = b.hall.Add(streamName); err != nil {
		return err
	}
	large := make([]byte, largeFile)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(large) // never fails
	if err := os.WriteFile(filepath.Join(b.hall.Files(streamName), "default", "large.bin"), large, 0o600); err != nil {
		return err
	}
	ws := "/v1/workspaces/" + string(s.g.Home)
	if _, err := b.hall.Must(s.g.Keys[retake.KeyAgent], http.MethodPost, ws+"/checkpoints", `{}`); err != nil {
		return err
	}
	a, err := b.hall.Must(s.g.Keys[retake.KeyReader], http.MethodGet, ws+"/list?ref=latest", "")
	if err != nil {
		return err
	}
	b.hall.Settled() // the events of this are told before a stream waits for more
	kinds := []stream{
		{name: "events", path: "/v1/events?after=latest", accept: "text/event-stream"},
		{name: "events, waiting", path: "/v1/events?after=latest&wait=60s"},
		{name: "file", path: ws + "/file?ref=latest&path=large.bin", large: true},
		{name: "object", path: "/v1/objects/" + a.Pick("entries.0.object"), large: true},
		{name: "archive", path: ws + "/checkpoints/latest/archive", large: true},
	}
	for _, k := range kinds {
		for _, k.revoke = range []bool{true, false} {
			if k.secret, k.key, err = s.makeKey(); err != nil {
				return err
			}
			s.all = append(s.all, k)
		}
	}
	return nil
}

func (s *streams) makeKey() (secret, id string, err error) {
	a, err := s.hall.Must(s.g.Keys[retake.KeyAdmin], http.MethodPost, "/v1/keys", `{"kind":"reader","name":"stream"}`)
	return a.Pick("secret"), a.Pick("key.id"), err
}

// Streams opens long responses, revokes their keys in the middle, and tells what is wrong: which of
// them went on. It takes about ten seconds, most of which are spent waiting.
func (b *Bed) Streams() []string { return judgeStreams(b.streams.watch()) }

// watch opens all streams at once, revokes the keys of half of them, and returns how they ended.
func (s *streams) watch() []outcome {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out := make([]outcome, len(s.all))
	cut := make(chan struct{}) // closed when the server has ended a stream without bytes
	var all, revoked sync.WaitGroup
	for i, k := range s.all {
		group := &all
		if k.revoke && !k.large {
			group = &revoked
		}
		group.Go(func() { out[i] = s.read(ctx, k, cut) })
	}
	revoked.Wait()
	<-time.After(afterEnd)
	close(cut)
	go func() { // those that are not revoked would wait as long as they can
		defer cancel()
		<-time.After(afterEnd * 3)
	}()
	all.Wait()
	return out
}

// slowClient leaves the bytes of a response at the server until somebody reads them.
var slowClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, ReadBufferSize: 4 << 10, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error { // before it connects: later the size is not taken
		return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 64<<10) })
	}}
	return d.DialContext(ctx, network, address)
}}}

// read reads a stream. It begins, the key is revoked, and it goes on when the server had time to
// see that.
func (s *streams) read(ctx context.Context, k stream, cut <-chan struct{}) (o outcome) {
	o.stream = k
	begun := time.Now()
	defer func() {
		if o.took = time.Since(begun); ctx.Err() != nil && !k.large {
			o.took = patience // it was still there
		}
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.hall.URL+k.path, http.NoBody)
	if err != nil {
		o.err = err
		return o
	}
	req.Header.Set("Authorization", "Bearer "+k.secret)
	if k.accept != "" {
		req.Header.Set("Accept", k.accept)
	}
	if strings.Contains(k.path, "wait=") { // there is no answer before the end
		time.AfterFunc(time.Second, func() { _ = s.end(k) }) // if it fails the stream goes on, and that is seen
	}
	res, err := slowClient.Do(req)
	if err != nil {
		o.err = err
		return o
	}
	defer res.Body.Close() //nolint:errcheck // only read
	if k.large {
		n, err := io.CopyN(io.Discard, res.Body, 64<<10)
		o.bytes = n
		o.err = errors.Join(err, s.end(k))
		<-cut
	} else if k.accept != "" {
		o.err = s.end(k)
	}
	n, _ := io.Copy(io.Discard, res.Body) // ends as a stream does, or in the middle
	o.bytes += n
	return o
}

// end revokes the key of a stream.
func (s *streams) end(k stream) error {
	if !k.revoke {
		return nil
	}
	_, err := s.hall.Must(s.g.Keys[retake.KeyAdmin], http.MethodDelete, "/v1/keys/"+k.key, "")
	return err
}

// judgeStreams tells which streams outlived their key, and which ended though theirs was valid: with
// those the test would see nothing.
func judgeStreams(all []outcome) []string {
	var out []string
	for _, o := range all {
		say := fmt.Sprintf("stream %s: %d bytes in %s", o.name, o.bytes, o.took.Round(time.Millisecond))
		switch {
		case o.revoke && o.err != nil:
			out = append(out, fmt.Sprintf("%s: %v", say, o.err))
		case o.revoke && !o.ended():
			out = append(out, say+" with a key that was revoked")
		case !o.revoke && o.ended():
			out = append(out, say+" and no more, with a valid key")
		}
	}
	return out
}
