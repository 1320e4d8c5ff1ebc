package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

const (
	progressInterval  = 100 * time.Millisecond
	keepAliveInterval = 15 * time.Second // a silent stream sends a comment, so that proxies keep it open

	progressStreamText = "Any number of `progress` events, each with a Progress. Then one `result` event with the body of the JSON response, or one `problem` event with a Problem."
)

// latestProgress keeps the newest progress only. Setting it never blocks, so that a slow client
// does not slow down the work.
type latestProgress struct {
	mu       sync.Mutex
	value    wire.Progress // guarded by mu
	fresh    bool          // guarded by mu
	firstSet chan struct{} // closed by the first call of set
	once     sync.Once
}

func newLatestProgress() *latestProgress { return &latestProgress{firstSet: make(chan struct{})} }

func (l *latestProgress) get() wire.Progress {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.value
}

func (l *latestProgress) set(p retake.Progress) {
	l.mu.Lock()
	l.value, l.fresh = wire.Progress{Files: p.Files, Total: p.Total, Bytes: p.Bytes}, true
	l.mu.Unlock()
	l.once.Do(func() { close(l.firstSet) })
}

func (l *latestProgress) takeFresh() (wire.Progress, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fresh := l.fresh
	l.fresh = false
	return l.value, fresh
}

// streamProgress runs f and streams its progress, then its result or a problem. It returns only
// when f has returned, even if the client is gone, because a shutdown waits for requests.
func streamProgress[O any](a *api, asker context.Context, w http.ResponseWriter, f func(func(retake.Progress)) (O, error)) {
	s := &eventStream{w: w, flush: http.NewResponseController(w).Flush}
	w.Header().Set("Content-Type", eventType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	s.sendKeepAlive()
	news := newLatestProgress()
	var out O
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		out, err = recoverPanic(a, func() (O, error) { return f(news.set) })
	}()
	s.sendProgress(news, asker.Done(), done)
	<-done
	if err != nil {
		s.sendEvent(wire.ProblemEvent, problemOf(err).forCaller(asker))
		return
	}
	s.sendEvent(wire.ResultEvent, out)
}

// eventStream writes server-sent events.
type eventStream struct {
	w     http.ResponseWriter
	flush func() error
}

// sendProgress sends progress until the work is done or the client is gone.
func (s *eventStream) sendProgress(news *latestProgress, gone, done <-chan struct{}) {
	ticks := time.NewTicker(progressInterval)
	defer ticks.Stop()
	first, quiet := news.firstSet, time.Duration(0)
	for {
		select {
		case <-done:
			if p, fresh := news.takeFresh(); fresh { // fast work has not sent any progress yet
				s.sendEvent(wire.ProgressEvent, p)
			}
			return
		case <-gone:
			return
		case <-first:
			first = nil
		case <-ticks.C:
			quiet += progressInterval
		}
		if p, fresh := news.takeFresh(); fresh {
			s.sendEvent(wire.ProgressEvent, p)
			quiet = 0
		} else if quiet >= keepAliveInterval {
			s.sendKeepAlive()
			quiet = 0
		}
	}
}

// sendEvent writes one event. JSON contains no line breaks. Write errors are ignored: they mean
// that the client is gone.
func (s *eventStream) sendEvent(event string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(http.ErrAbortHandler) // the stream must not look complete
	}
	_, _ = s.w.Write([]byte("event: " + event + "\ndata: " + string(data) + "\n\n"))
	_ = s.flush()
}

// sendKeepAlive writes a comment, which clients ignore.
func (s *eventStream) sendKeepAlive() {
	_, _ = s.w.Write([]byte(":\n\n"))
	_ = s.flush()
}
