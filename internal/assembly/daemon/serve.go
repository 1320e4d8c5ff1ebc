package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/daemonctl"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/diag"
	"github.com/retake-dev/retake/internal/ui/httpapi"
	"github.com/retake-dev/retake/internal/ui/web"
)

const (
	headerWait = 10 * time.Second
	looksAgain = time.Minute // at the clock, when nobody asks

	placesEvery = 500 * time.Millisecond // two stats: who has no socket to speak to waits this long
)

// serve serves until there is a reason to exit, and then shuts down in order.
func (d *daemon) serve(ctx context.Context) error {
	opening, cancelOpening := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelOpening()
	carried, cancelCarried := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelCarried()
	leaving, leave := context.WithCancel(context.Background())
	defer leave()
	svc := d.openService(opening, carried, leaving)
	d.requests.start(d.Clock)
	d.console = newConsole(d, d.requests.countRequests(d.Clock, d.requireDataDir(d.keepHistory(svc))))
	server := d.newServer(d.routes(svc))
	server.RegisterOnShutdown(leave)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ownerListener{d.sock.Load(), d.callerUID(), d.log}) }()
	idle, stopIdle := context.WithCancel(ctx)
	defer stopIdle()
	go d.watchIdle(idle, svc)
	go d.watchPlaces(idle, server)

	var err error
	select {
	case <-ctx.Done():
		d.log.Info("leaving", "why", "asked by a signal")
	case why := <-d.exitReason:
		d.log.Info("leaving", "why", why)
	case err = <-ended:
		why := "cannot listen"
		if errors.Is(err, net.ErrClosed) { // by ourselves, with a reason
			why, err = <-d.exitReason, nil
		}
		d.log.Info("leaving", "why", why, "err", err)
	}
	finished := d.drainRequests(server, cancelCarried)
	d.unfinished = !finished
	cancelOpening()
	return errors.Join(err, d.closeService(svc, finished))
}

func (d *daemon) newServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: headerWait, ConnContext: markRoot,
		ErrorLog: slog.NewLogLogger(d.log.Handler(), slog.LevelWarn),
	}
}

// drainRequests accepts no new requests and waits for those in flight. Work that takes too
// long is cancelled: nothing sealed is lost by that.
func (d *daemon) drainRequests(server *http.Server, cancelCarried func()) bool {
	patient, cancel := context.WithTimeout(context.Background(), daemonctl.FinishWait)
	defer cancel()
	if d.shutdownServers(patient, server) {
		return true
	}
	d.log.Warn("stopping requests that take too long", "in flight", d.requests.count())
	cancelCarried()
	last, cancelLast := context.WithTimeout(context.Background(), daemonctl.GraceAfter)
	defer cancelLast()
	if d.shutdownServers(last, server) {
		return true
	}
	_ = server.Close() // nobody is left to hear
	d.console.close()
	return false
}

// shutdownServers takes no new requests at the socket and at the console, and waits for both.
func (d *daemon) shutdownServers(ctx context.Context, server *http.Server) bool {
	console := make(chan error, 1)
	go func() { console <- d.console.shutdown(ctx) }()
	err := server.Shutdown(ctx)
	return isCleanShutdown(<-console) && isCleanShutdown(err)
}

// isCleanShutdown reports whether a shutdown waited for all requests; a listener that was
// closed before does not matter.
func isCleanShutdown(err error) bool { return err == nil || errors.Is(err, net.ErrClosed) }

// closeService closes the service, unless a request is still inside it.
func (d *daemon) closeService(p *pendingService, finished bool) error {
	<-p.done
	if p.service == nil || !finished {
		return nil
	}
	if err := p.service.Close(); err != nil {
		d.log.Error("close service", "err", err)
		return fmt.Errorf("close service: %w", err)
	}
	d.log.Info("ended")
	return nil
}

// watchIdle asks the daemon to exit when it was idle for long.
func (d *daemon) watchIdle(ctx context.Context, p *pendingService) {
	opened := p.done
	for {
		stay := d.Settings.IdleTimeout()
		if p.hasFailed() {
			stay = brokenStay // the next one may have more luck
		}
		left := looksAgain
		if stay > 0 {
			idle := d.requests.idleTime(d.Clock)
			if idle >= stay {
				d.requestExit("nobody asks")
				return
			}
			left = min(looksAgain, stay-idle)
		}
		select {
		case <-ctx.Done():
			return
		case <-opened:
			opened = nil
		case <-time.After(left):
		}
	}
}

// watchPlaces asks the daemon to leave when its data directory was deleted or replaced. Requests
// look too, but they may never come: the next command starts a daemon on the directory that is
// there now, and this one would stay beside it for ever. A socket that was removed, as a logout
// does, is made again: nobody else can, while this daemon lives.
func (d *daemon) watchPlaces(ctx context.Context, server *http.Server) {
	tick := time.NewTicker(placesEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if d.isDataDirLost() {
			d.leaveLostDataDir()
			return
		}
		if d.sock.Load().isLost() && !d.listenAgain(server) {
			return
		}
	}
}

// listenAgain makes the socket anew. The old listener stays open until the end: closing it would
// end the server. If there can be no socket, the daemon leaves, so that the next one can look for
// another place.
func (d *daemon) listenAgain(server *http.Server) bool {
	sock, err := listenSocket(d.Conf, nil)
	if err != nil {
		d.log.Error("the socket was removed and cannot be made again", "socket", d.Conf.Socket, "err", err)
		d.requestExit("the socket is gone")
		return false
	}
	d.log.Warn("the socket was removed, and is made again", "socket", sock.path)
	d.sock.Store(sock)
	go func() {
		if err := server.Serve(ownerListener{sock, d.callerUID(), d.log}); err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, http.ErrServerClosed) {
			d.requestExit("cannot listen")
		}
	}()
	return true
}

// requestCounter counts requests in flight.
type requestCounter struct {
	mu    sync.Mutex
	n     int64     // guarded by mu
	since time.Time // guarded by mu; when the last one ended
}

func (t *requestCounter) start(c clock.Clock) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.since = c.Now()
}

func (t *requestCounter) count() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n
}

// idleTime is how long nothing has been in flight.
func (t *requestCounter) idleTime(c clock.Clock) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n > 0 {
		return 0
	}
	return c.Now().Sub(t.since)
}

func (t *requestCounter) countRequests(c clock.Clock, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.mu.Lock()
		t.n++
		t.mu.Unlock()
		defer func() {
			t.mu.Lock()
			t.n--
			t.since = c.Now()
			t.mu.Unlock()
		}()
		h.ServeHTTP(w, r)
	})
}

// pendingService is the service while it is being opened, and after.
type pendingService struct {
	done    chan struct{}  // closed when the rest is set
	service retake.Service // nil when it did not work
	handler http.Handler
}

// openService opens the service beside the first requests.
func (d *daemon) openService(ctx, carried, leaving context.Context) *pendingService {
	p := &pendingService{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		s, err := d.Open(ctx, diag.New(d.log, d.Clock, nil))
		if err != nil {
			if ctx.Err() == nil { // else we leave before it was open
				d.log.Error("open service", "err", err)
			}
			p.handler = httpapi.RefuseAll(err)
			return
		}
		p.service = s
		o := httpapi.Options{About: func() retake.About { return d.about }, DetachWork: true, WorkContext: carried, StreamContext: leaving, Log: d.log}
		if d.Events != nil {
			o.Events = d.Events
		}
		p.handler = web.ContentHandler(httpapi.New(s, o), s, httpapi.WriteProblem)
	}()
	return p
}

func (p *pendingService) hasFailed() bool {
	select {
	case <-p.done:
		return p.service == nil
	default:
		return false
	}
}

// ServeHTTP waits for the service as long as the asker does.
func (p *pendingService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case <-p.done:
		p.handler.ServeHTTP(w, r)
	case <-r.Context().Done():
	}
}
