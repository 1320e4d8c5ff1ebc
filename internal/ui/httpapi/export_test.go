package httpapi

import (
	"net/http"

	"github.com/retake-dev/retake"
)

// WatchDone streams the news of work that has told p and ended before anybody looked.
func WatchDone(w http.ResponseWriter, p retake.Progress) {
	news := &latest{first: make(chan struct{})}
	news.tell(p)
	done := make(chan struct{})
	close(done)
	(&stream{w: w, flush: func() error { return nil }}).watch(news, nil, done)
}
