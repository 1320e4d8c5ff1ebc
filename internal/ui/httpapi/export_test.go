package httpapi

import (
	"net/http"

	"github.com/retake-dev/retake"
)

// WatchDone streams the progress of work that set p and ended before sendProgress started.
func WatchDone(w http.ResponseWriter, p retake.Progress) {
	news := &latestProgress{firstSet: make(chan struct{})}
	news.set(p)
	done := make(chan struct{})
	close(done)
	(&eventStream{w: w, flush: func() error { return nil }}).sendProgress(news, nil, done)
}
