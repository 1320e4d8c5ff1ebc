//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
)

// client works in a workspace of its own, and remembers what it was told.
type client struct {
	base string
	key  string
	ws   retake.Workspace
	http *http.Client
	rnd  *rand.Rand
	all  *counter

	acks     []saved
	restored int
	wrong    []string // what was acknowledged and is not so
}

// saved is a checkpoint that a server acknowledged, and what its only file must hold.
type saved struct {
	id   retake.CheckpointID
	text string
}

const (
	onePatience = 45 * time.Second // for one try
	patience    = 2 * time.Minute  // for one request
	workFile    = "work.txt"
)

func newClient(base, key string, ws retake.Workspace, seed uint64, all *counter) *client {
	return &client{base: base, key: key, ws: ws, rnd: rand.New(rand.NewPCG(seed, 1)), all: all, http: &http.Client{Timeout: onePatience}}
}

// work saves, lists and restores until ctx ends. What was begun is done to its end.
func (c *client) work(ctx context.Context) {
	done := context.WithoutCancel(ctx)
	for turn := 0; ctx.Err() == nil; turn++ {
		if err := c.save(done, turn); err == nil {
			_ = c.list(done) // a failure is counted
			if turn%4 == 3 {
				if err := c.restore(done, c.acks[c.rnd.IntN(len(c.acks))]); err != nil {
					c.wrong = append(c.wrong, err.Error())
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (c *client) save(ctx context.Context, turn int) error {
	text := fmt.Sprintf("%s %d\n", uuid.NewString(), turn)
	if err := os.WriteFile(c.path(), []byte(text), 0o644); err != nil {
		return err
	}
	b, err := c.ask(ctx, http.MethodPost, "checkpoints", map[string]any{"intent": text})
	if err != nil {
		return err
	}
	var res retake.SaveResult
	if err := json.Unmarshal(b, &res); err != nil {
		return err
	}
	c.acks = append(c.acks, saved{res.Checkpoint.ID, text})
	return nil
}

func (c *client) path() string { return filepath.Join(string(c.ws.Root), workFile) }

// list looks for what was just acknowledged.
func (c *client) list(ctx context.Context) error {
	b, err := c.ask(ctx, http.MethodGet, "checkpoints?limit=20", nil)
	if err != nil {
		return err
	}
	var t retake.Timeline
	if err := json.Unmarshal(b, &t); err != nil {
		return err
	}
	last := c.acks[len(c.acks)-1].id
	if !slices.ContainsFunc(t.Checkpoints, func(cp retake.Checkpoint) bool { return cp.ID == last }) {
		c.wrong = append(c.wrong, fmt.Sprintf("%s is acknowledged and not listed", last))
	}
	return nil
}

// restore goes back to a checkpoint and compares the file.
func (c *client) restore(ctx context.Context, to saved) error {
	if _, err := c.ask(ctx, http.MethodPost, "restore", map[string]any{"ref": to.id}); err != nil {
		return err
	}
	c.restored++
	b, err := os.ReadFile(c.path())
	if err == nil && string(b) != to.text {
		err = fmt.Errorf("a restore of %s gives %q, saved was %q", to.id, b, to.text)
	}
	return err
}

// readBack reads the file of a checkpoint from the history.
func (c *client) readBack(ctx context.Context, of saved) error {
	b, err := c.ask(ctx, http.MethodGet, "file?path="+workFile+"&ref="+string(of.id), nil)
	if err == nil && string(b) != of.text {
		err = fmt.Errorf("it holds %q, saved was %q", b, of.text)
	}
	return err
}

// ask sends a request until it is answered with something that asking again would not change. All
// tries carry the same idempotency key.
func (c *client) ask(ctx context.Context, method, rest string, body any) ([]byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	begun, key, pause := time.Now(), uuid.NewString(), 50*time.Millisecond
	for tries := 0; ; tries++ {
		b, again, err := c.once(ctx, method, rest, key, text)
		if err == nil || !again || ctx.Err() != nil {
			if err != nil {
				err = fmt.Errorf("%s %s after %.1f s: %w", method, rest, time.Since(begun).Seconds(), err)
			}
			c.all.add(tries, time.Since(begun), err)
			return b, err
		}
		c.all.retried(err)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, 2*time.Second)
	}
}

func (c *client) once(ctx context.Context, method, rest, key string, text []byte) (b []byte, again bool, err error) {
	var body io.Reader
	if method == http.MethodPost {
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+"/v1/workspaces/"+string(c.ws.ID)+"/"+rest, body)
	if err != nil {
		return nil, false, err
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, true, errors.Join(errNoAnswer, err)
	}
	defer res.Body.Close() //nolint:errcheck // only read
	if b, err = io.ReadAll(res.Body); err != nil {
		return nil, true, errors.Join(errNoAnswer, err)
	}
	if res.StatusCode < http.StatusBadRequest {
		return b, false, nil
	}
	var p struct{ Code, What string }
	_ = json.Unmarshal(b, &p) // what it is not is empty
	again = res.StatusCode >= http.StatusInternalServerError || res.StatusCode == http.StatusTooManyRequests || p.Code == "in_progress"
	return b, again, fmt.Errorf("%d %s: %s", res.StatusCode, p.Code, p.What)
}

var errNoAnswer = errors.New("no answer")

// counter counts the requests of all clients since it was last reset.
type counter struct {
	mu   sync.Mutex
	now  stepResult      // guarded by mu
	seen map[string]bool // guarded by mu
}

func (c *counter) add(retries int, took time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now.Requests++
	c.now.Retries += retries
	c.now.Longest = max(c.now.Longest, took.Seconds())
	if err != nil {
		c.now.Failed++
		if len(c.now.Why) < 10 {
			c.now.Why = append(c.now.Why, err.Error())
		}
	}
}

// retried remembers each answer once; the words of the network say where, which is of no interest.
func (c *counter) retried(err error) {
	text := err.Error()
	if errors.Is(err, errNoAnswer) {
		text = errNoAnswer.Error()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.seen[text] && len(c.seen) < 50 {
		c.seen[text] = true
		c.now.Seen = append(c.now.Seen, text)
	}
}

func (c *counter) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.seen = stepResult{}, map[string]bool{}
}

func (c *counter) result() stepResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}
