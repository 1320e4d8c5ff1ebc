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
	progressEvery = 100 * time.Millisecond
	quietFor      = 15 * time.Second // then a sign of life, for what stands between

	eventsText = "Any number of `progress` events, each with a Progress. Then one `result` event with the body of the JSON response, or one `problem` event with a Problem."
)

// progress is retake.Progress on the wire.
type progress struct {
	Files int64 `json:"files" doc:"The number of files so far."`
	Total int64 `json:"total" doc:"The number of files in all. 0 while it is not known."`
	Bytes int64 `json:"bytes" doc:"The number of bytes so far."`
}

// latest keeps the newest progress. Work is never held up by who looks on.
type latest struct {
	mu    sync.Mutex
	p     progress      // guarded by mu
	fresh bool          // guarded by mu
	first chan struct{} // closed by the first
	once  sync.Once
}

func (l *latest) tell(p retake.Progress) {
	l.mu.Lock()
	l.p, l.fresh = progress{Files: p.Files, Total: p.Total, Bytes: p.Bytes}, true
	l.mu.Unlock()
	l.once.Do(func() { close(l.first) })
}

func (l *latest) take() (progress, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fresh := l.fresh
	l.fresh = false
	return l.p, fresh
}

// events runs f and tells how far it is, then how it ended. It returns when f has
// ended, also when the asker is long gone: who stops us waits for requests.
func events[O any](a *api, asker context.Context, w http.ResponseWriter, f func(func(retake.Progress)) (O, error)) {
	s := &stream{w: w, flush: http.NewResponseController(w).Flush}
	w.Header().Set("Content-Type", eventType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	s.pulse()
	news := &latest{first: make(chan struct{})}
	var out O
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		out, err = guarded(a, func() (O, error) { return f(news.tell) })
	}()
	s.watch(news, asker.Done(), done)
	<-done
	if err != nil {
		s.send("problem", problemOf(err).of(asker))
		return
	}
	s.send("result", out)
}

type stream struct {
	w     http.ResponseWriter
	flush func() error
}

// watch tells the news until the work is done or nobody listens.
func (s *stream) watch(news *latest, gone, done <-chan struct{}) {
	ticks := time.NewTicker(progressEvery)
	defer ticks.Stop()
	first, quiet := news.first, time.Duration(0)
	for {
		select {
		case <-done:
			if p, fresh := news.take(); fresh { // the only word, when all went fast
				s.send("progress", p)
			}
			return
		case <-gone:
			return
		case <-first:
			first = nil
		case <-ticks.C:
			quiet += progressEvery
		}
		if p, fresh := news.take(); fresh {
			s.send("progress", p)
			quiet = 0
		} else if quiet >= quietFor {
			s.pulse()
			quiet = 0
		}
	}
}

// send writes one event. JSON has no line breaks. Who is gone reads nothing.
func (s *stream) send(event string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(http.ErrAbortHandler) // never looks like a good end
	}
	_, _ = s.w.Write([]byte("event: " + event + "\ndata: " + string(data) + "\n\n"))
	_ = s.flush()
}

func (s *stream) pulse() {
	_, _ = s.w.Write([]byte(":\n\n"))
	_ = s.flush()
}
