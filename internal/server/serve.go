package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/retake-dev/retake"
)

const (
	headerWait = 10 * time.Second
	idleWait   = 2 * time.Minute
	finishWait = 30 * time.Second
)

// Serve answers until ctx ends, then leaves in order: no new requests, those under way
// to their end, the namespaces shut. begin is called when nothing can go wrong with the
// addresses any more: what it makes is told by ready, with the address.
func (s *Server) Serve(ctx context.Context, begin func() error, ready func(address string)) error {
	api, err := net.Listen("tcp", s.o.Listen)
	if err != nil {
		return &retake.Error{Kind: retake.Away, What: "the address cannot be listened to", Safe: "Nothing was changed.", Hint: "how to choose another: retake help serve", Err: err}
	}
	_ = os.Remove(s.socket) // of a process that had our number once
	peers, err := net.Listen("unix", s.socket)
	if err == nil {
		err = os.Chmod(s.socket, 0o600)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("listen to other servers: %w", err), api.Close())
	}
	if err := begin(); err != nil {
		return errors.Join(err, api.Close(), peers.Close())
	}
	ready(api.Addr().String()) // who asks from here on is answered in a moment
	servers := []*http.Server{s.http(s.front), s.http(s.front)}
	ended := make(chan error, 3)
	go func() {
		if s.o.Cert != "" {
			ended <- servers[0].ServeTLS(api, s.o.Cert, s.o.CertKey)
			return
		}
		ended <- servers[0].Serve(api)
	}()
	go func() { ended <- servers[1].Serve(peers) }()
	if s.o.Admin != "" {
		admin, err := net.Listen("tcp", s.o.Admin)
		if err != nil {
			return errors.Join(fmt.Errorf("listen for metrics: %w", err), api.Close(), peers.Close())
		}
		servers = append(servers, s.http(s.adminRoutes()))
		go func() { ended <- servers[2].Serve(admin) }()
	}
	jobs, stopJobs := context.WithCancel(context.WithoutCancel(ctx))
	jobsEnded := make(chan struct{})
	go func() { defer close(jobsEnded); s.jobs(jobs) }()
	select {
	case <-ctx.Done():
		err = nil
	case err = <-ended:
	}
	stopJobs()
	s.leave()
	for _, h := range servers {
		err = errors.Join(err, s.drain(h))
	}
	<-jobsEnded
	return err
}

func (s *Server) http(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: headerWait, IdleTimeout: idleWait, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(s.o.Log.Handler(), slog.LevelDebug),
	}
}

// drain waits for requests; those that go beyond all patience are stopped.
func (s *Server) drain(h *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), finishWait)
	defer cancel()
	err := h.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		s.stop()
		return h.Close()
	}
	return err
}

func (s *Server) adminRoutes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.meter.Handler())
	mux.Handle("GET /livez", s.front)
	mux.Handle("GET /readyz", s.front)
	return mux
}
