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

// rateLimiter limits each key: requests per second, and for agents restores per hour. The
// limits apply to this server alone: a key that uses three servers gets three times as much.
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

// reserve takes a token for a request. It returns how long to wait if there is none, or 0.
func (r *rateLimiter) reserve(k retake.Key, l retake.Limits, a routeInfo) time.Duration {
	now := r.clock.Now()
	p := r.limitersFor(k.ID, l)
	if w := takeToken(p.requests, now); w > 0 {
		return w
	}
	if k.Kind == retake.KeyAgent && restoreOperations[a.operation] {
		return takeToken(p.restores, now)
	}
	return 0
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
