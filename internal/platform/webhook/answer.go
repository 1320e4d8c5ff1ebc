package webhook

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	maxRetryAfter        = 24 * time.Hour   // the longest delay that a receiver may ask for
	defaultThrottleDelay = 30 * time.Second // for a receiver that is overloaded and gives no time
)

// interpretResponse converts a response to an outcome.
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

// parseRetryAfter parses a number of seconds or a date. An invalid value is 0.
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
