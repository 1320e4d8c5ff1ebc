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

// rates hold each key to its limits: requests in a second, and for agents restores in an
// hour. They are this server's: a key that comes to three servers has three times as much.
type rates struct {
	clock clock.Clock
	mu    sync.Mutex
	held  map[retake.KeyID]*pace // guarded by mu
}

type pace struct {
	requests *rate.Limiter
	restores *rate.Limiter
	limits   retake.Limits
}

func newRates(c clock.Clock) *rates { return &rates{clock: c, held: map[retake.KeyID]*pace{}} }

// restoring are the operations that change files.
var restoring = map[string]bool{"apply-restore": true, "restore": true, "restore-snapshot": true, "fork": true}

// take answers how long to wait; 0: go on.
func (r *rates) take(k retake.Key, l retake.Limits, a ask) time.Duration {
	now := r.clock.Now()
	p := r.of(k.ID, l)
	if w := wait(p.requests, now); w > 0 {
		return w
	}
	if k.Kind == retake.KeyAgent && restoring[a.operation] {
		return wait(p.restores, now)
	}
	return 0
}

func (r *rates) of(id retake.KeyID, l retake.Limits) *pace {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.held[id]
	if p == nil || p.limits != l {
		if len(r.held) >= mostKeys {
			clear(r.held)
		}
		p = &pace{requests: limiter(float64(l.PerSecond), 2*l.PerSecond), restores: limiter(float64(l.RestoreHour)/3600, l.RestoreHour), limits: l}
		r.held[id] = p
	}
	return p
}

func limiter(perSecond float64, burst int64) *rate.Limiter {
	if burst <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(perSecond), int(burst))
}

func wait(l *rate.Limiter, now time.Time) time.Duration {
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

func tooOften(w http.ResponseWriter, r *http.Request, wait time.Duration) {
	seconds := int64(math.Ceil(wait.Seconds()))
	w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	httpapi.WriteProblem(w, r, &retake.Error{Kind: retake.Busy, What: "this key asks more often than it may", Safe: unchanged,
		Hint: fmt.Sprintf("ask again in %d s", seconds)}, http.StatusTooManyRequests)
}
