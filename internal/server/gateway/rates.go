package gateway

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

// rateLimiter limits each key: requests per second, and for agents restores per hour. A namespace is
// open at one server, to which the others pass its requests on, so that they are counted once.
type rateLimiter struct {
	clock clock.Clock
	mu    sync.Mutex
	byKey map[retake.KeyID]*keyLimiters // guarded by mu
}

type keyLimiters struct {
	requests *rate.Limiter
	restores *rate.Limiter
	limits   retake.Limits
}

func newRateLimiter(c clock.Clock) *rateLimiter {
	return &rateLimiter{clock: c, byKey: map[retake.KeyID]*keyLimiters{}}
}

// restoreOperations are the operations that change files.
var restoreOperations = map[string]bool{"apply-restore": true, "restore": true, "restore-snapshot": true, "fork": true}

// reserve takes a token for a request and tells the client in h how many are left. It returns how
// long to wait if there is none, or 0.
func (r *rateLimiter) reserve(h http.Header, k retake.Key, l retake.Limits, a routeInfo) time.Duration {
	now := r.clock.Now()
	p := r.limitersFor(k.ID, l)
	wait := takeToken(p.requests, now)
	addRateHeaders(h, "requests", p.requests, now)
	if wait == 0 && k.Kind == retake.KeyAgent && restoreOperations[a.operation] {
		wait = takeToken(p.restores, now)
		addRateHeaders(h, "restores", p.restores, now)
	}
	return wait
}

// addRateHeaders adds a limit and what is left of it, as the IETF draft of these headers has them.
func addRateHeaders(h http.Header, name string, l *rate.Limiter, now time.Time) {
	if l == nil {
		return
	}
	left := max(l.TokensAt(now), 0)
	full := (float64(l.Burst()) - left) / float64(l.Limit()) // until all are there again
	h.Add("RateLimit-Policy", fmt.Sprintf("%q;q=%d;w=%d", name, l.Burst(), int64(math.Ceil(float64(l.Burst())/float64(l.Limit())))))
	h.Add("RateLimit", fmt.Sprintf("%q;r=%d;t=%d", name, int64(left), int64(math.Ceil(full))))
}

// limitersFor returns the limiters of a key. They start anew when the limits change.
func (r *rateLimiter) limitersFor(id retake.KeyID, l retake.Limits) *keyLimiters {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.byKey[id]
	if p == nil || p.limits != l {
		if len(r.byKey) >= maxCacheEntries {
			clear(r.byKey)
		}
		p = &keyLimiters{requests: newLimiter(float64(l.PerSecond), 2*l.PerSecond), restores: newLimiter(float64(l.RestoreHour)/3600, l.RestoreHour), limits: l}
		r.byKey[id] = p
	}
	return p
}

// newLimiter returns nil if there is no limit.
func newLimiter(perSecond float64, burst int64) *rate.Limiter {
	if burst <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(perSecond), int(burst))
}

// takeToken takes one token and returns 0, or leaves it and returns how long to wait.
func takeToken(l *rate.Limiter, now time.Time) time.Duration {
	if l == nil {
		return 0
	}
	res := l.ReserveN(now, 1)
	d := res.DelayFrom(now)
	if d > 0 {
		res.CancelAt(now)
	}
	return d
}

func writeRateLimited(w http.ResponseWriter, r *http.Request, wait time.Duration) {
	seconds := int64(math.Ceil(wait.Seconds()))
	w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	httpapi.WriteProblem(w, r, &retake.Error{Kind: retake.Busy, What: "this key asks more often than it may", Safe: unchanged,
		Hint: fmt.Sprintf("ask again in %d s", seconds)}, http.StatusTooManyRequests)
}
