package webhook

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	maxRetryAfter        = 24 * time.Hour   // that a receiver may put a message off
	defaultThrottleDelay = 30 * time.Second // that one gets who has too much to do and says no time
)

// interpretResponse says what an answer means.
func (s *Sender) interpretResponse(resp *http.Response) Outcome {
	o := Outcome{Status: resp.StatusCode}
	if o.Status >= 200 && o.Status <= 299 {
		return o
	}
	o.Err = fmt.Errorf("post message: the answer was %d", o.Status)
	o.RetryAfter = parseRetryAfter(resp.Header.Get("Retry-After"), s.clock.Now())
	switch o.Status {
	case http.StatusGone:
		o.Gone, o.RetryAfter = true, 0
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusGatewayTimeout:
		o.Throttled = true
		if o.RetryAfter == 0 {
			o.RetryAfter = defaultThrottleDelay
		}
	}
	return o
}

// parseRetryAfter reads a number of seconds or a date; what makes no sense is nothing.
func parseRetryAfter(text string, now time.Time) time.Duration {
	text = strings.TrimSpace(text)
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds > int64(maxRetryAfter/time.Second) { // err: more digits than fit
			return maxRetryAfter
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxRetryAfter)
}
