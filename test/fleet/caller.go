//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/retake-dev/retake"
)

// deed is one request that is asked until it is answered.
type deed struct {
	name   string // of its times; "": they are not kept
	method string
	path   string
	key    string // bearer
	once   string // idempotency key
	body   any
	may    func(answer) bool // says of a refusal that it is a good answer; nil: of none
}

type answer struct {
	status int
	body   []byte
	tries  int
}

// caller asks the fleet and keeps count.
type caller struct {
	base string
	http *http.Client

	mu       sync.Mutex
	took     map[string][]time.Duration // guarded by mu
	asked    int64                      // guarded by mu; deeds
	declined int64                      // guarded by mu; deeds with a refusal that is a good answer
	refused  int64                      // guarded by mu; deeds that came to nothing
	why      []string                   // guarded by mu; the first few of them
	troubles map[string]int64           // guarded by mu; answers that were asked again after
}

const (
	onePatience = 45 * time.Second // for one try
	patience    = 3 * time.Minute  // for one deed
	firstPause  = 50 * time.Millisecond
	longPause   = 2 * time.Second
)

func newCaller(base string) *caller {
	return &caller{base: base, http: &http.Client{
		Timeout:   onePatience,
		Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 30 * time.Second, DisableCompression: true},
	}, took: map[string][]time.Duration{}, troubles: map[string]int64{}}
}

// do asks until there is an answer that asking again would not change. Whatever the
// answer, asking again carries the same idempotency key.
func (c *caller) do(ctx context.Context, d deed) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began, pause := time.Now(), firstPause
	var a answer
	var err error
	for try := 1; ; try++ {
		a, err = c.once(ctx, d)
		a.tries = try
		if err == nil && !a.again() {
			break
		}
		c.trouble(d, a, err)
		select {
		case <-ctx.Done():
			return a, c.keep(d, a, time.Since(began), fmt.Errorf("%s %s: no answer in %s, last %s", d.method, d.path, patience, a.told(err)))
		case <-time.After(pause):
		}
		pause = min(2*pause, longPause)
	}
	if a.status >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %s", d.method, d.path, a.told(nil))
	}
	return a, c.keep(d, a, time.Since(began), err)
}

// must is do, for what cannot be done without.
func (c *caller) must(ctx context.Context, d deed) (answer, error) { return c.do(ctx, d) }

func (c *caller) once(ctx context.Context, d deed) (answer, error) {
	res, err := c.send(ctx, d)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(res.Body)
	return answer{status: res.StatusCode, body: b}, err
}

func (c *caller) send(ctx context.Context, d deed) (*http.Response, error) {
	var body io.Reader
	if d.body != nil {
		b, err := json.Marshal(d.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, d.method, c.base+d.path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+d.key)
	if d.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if d.once != "" {
		req.Header.Set("Idempotency-Key", d.once)
	}
	return c.http.Do(req)
}

// problem is how an error is told.
type problem struct {
	Code  string `json:"code"`
	What  string `json:"what"`
	Cause string `json:"cause"`
}

func (a answer) problem() (p problem) {
	_ = json.Unmarshal(a.body, &p) // what it is not is empty
	return p
}

// again: every fault of the other side may pass, also a full disk. What was done in part
// is ended in another way.
func (a answer) again() bool {
	return a.status >= http.StatusInternalServerError && !a.partly() || a.status == http.StatusTooManyRequests ||
		a.status == http.StatusConflict && a.problem().Code == "in_progress"
}

func (a answer) partly() bool { return a.problem().Code == "incomplete" }

func (a answer) told(err error) string {
	if err != nil {
		return err.Error()
	}
	p := a.problem()
	if p.Cause != "" {
		p.What += " (" + p.Cause + ")"
	}
	return fmt.Sprintf("%d %s: %.300s", a.status, p.Code, p.What)
}

func (c *caller) trouble(d deed, a answer, err error) {
	text := "no answer"
	if err == nil {
		p := a.problem()
		text = fmt.Sprintf("%d %s: %.120s", a.status, p.Code, p.What)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.troubles) < 200 || c.troubles[text] > 0 {
		c.troubles[text]++
	}
}

// warned counts what a good answer warned of.
func (c *caller) warned(all []retake.Warning) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range all {
		c.troubles["200 with warning "+w.Code]++
	}
}

func (c *caller) keep(d deed, a answer, took time.Duration, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	if err != nil && d.may != nil && d.may(a) {
		c.declined++
		return err
	}
	if err != nil {
		c.refused++
		if len(c.why) < 20 {
			c.why = append(c.why, fmt.Sprintf("%s after %.1f s and %d tries: %v", d.name, took.Seconds(), a.tries, err))
		}
		return err
	}
	if d.name != "" {
		c.took[d.name] = append(c.took[d.name], took)
	}
	return nil
}

// harvest answers what was kept since the last harvest.
func (c *caller) harvest() (took map[string][]time.Duration, asked, refused int64, why []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	took, asked, refused, why = c.took, c.asked, c.refused, c.why
	c.took, c.asked, c.refused, c.why = map[string][]time.Duration{}, 0, 0, nil
	return took, asked, refused, why
}
