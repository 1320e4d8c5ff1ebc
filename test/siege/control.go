//go:build linux

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"
)

// bareServer serves without any limit of time, with few workers, as a program that nobody thought
// of slow clients for. The judge must find it failing, or it finds nothing.
type bareServer struct {
	http.Server
	workers chan struct{}
	page    []byte
}

const bareWorkers = 8

func startBareServer() (*bareServer, *stage, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	b := &bareServer{workers: make(chan struct{}, bareWorkers), page: make([]byte, 1<<20)}
	_, _ = rand.Read(b.page) // it never fails
	b.Handler, b.ErrorLog = b, log.New(io.Discard, "", 0)
	go func() { _ = b.Serve(l) }() // ends with Close
	c := &caller{base: "http://" + l.Addr().String(), http: &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}}
	var ops []operation
	for _, name := range []string{"save", "list", "get"} {
		ops = append(ops, operation{name, func(ctx context.Context) error {
			_, err := c.must(ctx, http.MethodGet, "/"+name, "", nil)
			return err
		}})
	}
	t := &target{address: l.Addr().String(), key: "any", post: "/post", upload: "/upload", large: "/large", page: "/page"}
	return b, &stage{target: t, ops: ops, pid: os.Getpid, crashes: func() int { return 0 }}, nil
}

// ServeHTTP reads a request to its end, and answers.
func (b *bareServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.workers <- struct{}{}
	defer func() { <-b.workers }()
	_, _ = io.Copy(io.Discard, r.Body) // the client may be gone
	_, _ = w.Write(b.page)
}

// playControl besieges the bare server, and fails if that is judged to be fine.
func playControl(ctx context.Context, connections int) (siegeResult, error) {
	b, s, err := startBareServer()
	if err != nil {
		return siegeResult{}, err
	}
	defer b.Close() //nolint:errcheck // it has nothing to lose
	quick := func(k *kind) bool { return k.ends <= headerTime }
	res, err := s.play(ctx, "control", plan{
		connections: connections, rounds: 1, times: 2, chosen: func(k *kind) bool { return !k.few }, awaited: quick,
		bars: bars{ratio: 10, floor: time.Second, slack: 5 * time.Second, descriptors: 1 << 20, memory: 1 << 40},
	})
	if err != nil {
		return res, fmt.Errorf("besiege the control: %w", err)
	}
	held, slow := 0, 0
	for _, o := range res.Outcomes {
		held += o.Held
	}
	for _, f := range res.Operations {
		slow += f.Failed
	}
	if held == 0 || slow == 0 {
		return res, errors.New("a server without limits is judged to be fine: the judge is blind")
	}
	return res, nil
}
