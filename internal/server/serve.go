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
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 2 * time.Minute
	shutdownTimeout   = 30 * time.Second
)

// Serve serves requests until ctx ends. Then it stops in order: it takes no new requests,
// finishes the ones in progress and ends the jobs. begin is called once all addresses are
// bound, so that it does not create anything for a server that cannot start; ready is called
// after it, with the address of the API.
func (s *Server) Serve(ctx context.Context, begin func() error, ready func(address string)) error {
	api, err := net.Listen("tcp", s.opts.ListenAddress)
	if err != nil {
		return &retake.Error{Kind: retake.Away, What: "the address cannot be listened to", Safe: "Nothing was changed.", Hint: "how to choose another: retake help serve", Err: err}
	}
	api = limitAddresses(api, maxConnsPerAddress, func() { s.metrics.CountRefused("connections") })
	_ = os.Remove(s.peerSocket) // left by an earlier process with the same process ID
	peers, err := net.Listen("unix", s.peerSocket)
	if err == nil {
		err = os.Chmod(s.peerSocket, 0o600)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("listen to other servers: %w", err), api.Close())
	}
	if err := begin(); err != nil {
		return errors.Join(err, api.Close(), peers.Close())
	}
	ready(api.Addr().String()) // the listener queues requests from here on
	servers := []*http.Server{s.newHTTPServer(s.gateway), s.newHTTPServer(s.peerRoutes(s.gateway))}
	ended := make(chan error, 3)
	go func() {
		if s.opts.CertFile != "" {
			ended <- servers[0].ServeTLS(api, s.opts.CertFile, s.opts.CertKeyFile)
			return
		}
		ended <- servers[0].Serve(api)
	}()
	go func() { ended <- servers[1].Serve(peers) }()
	if s.opts.MetricsAddress != "" {
		admin, err := net.Listen("tcp", s.opts.MetricsAddress)
		if err != nil {
			return errors.Join(fmt.Errorf("listen for metrics: %w", err), api.Close(), peers.Close())
		}
		servers = append(servers, s.newHTTPServer(s.AdminHandler()))
		go func() { ended <- servers[2].Serve(admin) }()
	}
	jobs, stopJobs := context.WithCancel(context.WithoutCancel(ctx))
	jobsEnded := make(chan struct{})
	go func() { defer close(jobsEnded); s.runJobs(jobs) }()
	select {
	case <-ctx.Done():
		err = nil
	case err = <-ended:
	}
	stopJobs()
	s.cancelStreams()
	for _, h := range servers {
		err = errors.Join(err, s.shutDownHTTP(h))
	}
	<-jobsEnded
	return err
}

// newHTTPServer returns an HTTP server with the timeouts and limits of this process.
func (s *Server) newHTTPServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelDebug),
	}
}

// shutDownHTTP waits for requests in progress, and aborts them after shutdownTimeout.
func (s *Server) shutDownHTTP(h *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	err := h.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		s.cancelWork()
		return h.Close()
	}
	return err
}

// AdminHandler serves the metrics and the health checks.
func (s *Server) AdminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.metrics.Handler())
	mux.Handle("GET /livez", s.gateway)
	mux.Handle("GET /readyz", s.gateway)
	return mux
}
