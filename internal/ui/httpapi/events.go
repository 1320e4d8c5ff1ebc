package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/retake-dev/retake"
)

const (
	progressInterval  = 100 * time.Millisecond
	keepAliveInterval = 15 * time.Second // then a sign of life, for what stands between

	progressStreamText = "Any number of `progress` events, each with a Progress. Then one `result` event with the body of the JSON response, or one `problem` event with a Problem."
)

// progress is retake.Progress on the wire.
type progress struct {
	Files int64 `json:"files" doc:"The number of files so far."`
	Total int64 `json:"total" doc:"The number of files in all. 0 while it is not known."`
	Bytes int64 `json:"bytes" doc:"The number of bytes so far."`
}

// latestProgress keeps the newest progress. Work is never held up by who looks on.
type latestProgress struct {
	mu       sync.Mutex
	value    progress      // guarded by mu
	fresh    bool          // guarded by mu
	firstSet chan struct{} // closed by the first
	once     sync.Once
}

func (l *latestProgress) set(p retake.Progress) {
	l.mu.Lock()
	l.value, l.fresh = progress{Files: p.Files, Total: p.Total, Bytes: p.Bytes}, true
	l.mu.Unlock()
	l.once.Do(func() { close(l.firstSet) })
}

func (l *latestProgress) takeFresh() (progress, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fresh := l.fresh
	l.fresh = false
	return l.value, fresh
}

// streamProgress runs f and tells how far it is, then how it ended. It returns when f has
// ended, also when the asker is long gone: who stops us waits for requests.
func streamProgress[O any](a *api, asker context.Context, w http.ResponseWriter, f func(func(retake.Progress)) (O, error)) {
	s := &eventStream{w: w, flush: http.NewResponseController(w).Flush}
	w.Header().Set("Content-Type", eventType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	s.sendKeepAlive()
	news := &latestProgress{firstSet: make(chan struct{})}
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
		s.sendEvent("problem", problemOf(err).withRequestID(asker))
		return
	}
	s.sendEvent("result", out)
}

type eventStream struct {
	w     http.ResponseWriter
	flush func() error
}

// sendProgress tells the news until the work is done or nobody listens.
func (s *eventStream) sendProgress(news *latestProgress, gone, done <-chan struct{}) {
	ticks := time.NewTicker(progressInterval)
	defer ticks.Stop()
	first, quiet := news.firstSet, time.Duration(0)
	for {
		select {
		case <-done:
			if p, fresh := news.takeFresh(); fresh { // the only word, when all went fast
				s.sendEvent("progress", p)
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
			s.sendEvent("progress", p)
			quiet = 0
		} else if quiet >= keepAliveInterval {
			s.sendKeepAlive()
			quiet = 0
		}
	}
}

// sendEvent writes one event. JSON has no line breaks. Who is gone reads nothing.
func (s *eventStream) sendEvent(event string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(http.ErrAbortHandler) // never looks like a good end
	}
	_, _ = s.w.Write([]byte("event: " + event + "\ndata: " + string(data) + "\n\n"))
	_ = s.flush()
}

func (s *eventStream) sendKeepAlive() {
	_, _ = s.w.Write([]byte(":\n\n"))
	_ = s.flush()
}
