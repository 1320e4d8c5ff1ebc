//go:build linux

package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/parts"
)

// stage is a server with what is needed to besiege it: any server, so that one without limits
// can be put before the same judge.
type stage struct {
	target  *target
	ops     []operation
	pid     func() int
	crashes func() int
}

// plan says how a siege goes.
type plan struct {
	connections int
	rounds      int // of quiet and siege, in turn
	times       int // that each operation is done in one of them
	bars        bars
	chosen      func(*kind) bool // that are played
	awaited     func(*kind) bool // whose end is waited for
}

// bars are what a siege is judged by.
type bars struct {
	ratio       float64       // of the medians of an operation, besieged and quiet
	floor       time.Duration // a median below it is good, whatever the ratio
	slack       time.Duration // that a connection may last longer than promised
	descriptors int           // that may be left over
	memory      int64         // bytes that may be left over
	patience    time.Duration // for both to come back: an idle process looks for garbage every two minutes
}

// siegeResult is what is known after a siege.
type siegeResult struct {
	Name        string     `json:"name"`
	Connections int        `json:"connections"`
	Operations  []*figures `json:"operations"`
	Outcomes    []*outcome `json:"slow_connections"`
	Before      use        `json:"before"`
	Peak        use        `json:"peak"`
	After       use        `json:"after"`
	Crashes     int        `json:"crashes"`
	Failures    []string   `json:"failures"`
	Seconds     float64    `json:"seconds"`
}

// play measures in turn without and with a siege. At the end nobody comes back, and the server
// must get rid of all.
func (s *stage) play(ctx context.Context, name string, p plan) (res siegeResult, err error) {
	begun := time.Now()
	res.Name, res.Connections = name, p.connections
	for _, op := range s.ops {
		res.Operations = append(res.Operations, &figures{Name: op.name})
	}
	warm := make([]*figures, len(s.ops))
	for i := range warm {
		warm[i] = &figures{}
	}
	measure(ctx, s.ops, warm, 3, false)
	if res.Before, err = usedBy(s.pid()); err != nil {
		return res, err
	}
	for range p.rounds {
		measure(ctx, s.ops, res.Operations, p.times, false)
		if err := s.round(ctx, &res, p, true); err != nil {
			return res, err
		}
		between := p.bars
		between.memory = 1 << 40 // memory is given back later
		s.recover(&res, between)
	}
	if err := s.round(ctx, &res, p, false); err != nil {
		return res, err
	}
	s.recover(&res, p.bars)
	for _, f := range res.Operations {
		f.sumUp()
	}
	res.Crashes, res.Seconds = s.crashes(), time.Since(begun).Seconds()
	res.Failures = judge(&res, p.bars)
	return res, ctx.Err()
}

// settleTime is for requests that were sent in the beginning to be answered: not they are slow.
const settleTime = 2 * time.Second

// round measures under siege. In the last round it waits until the server has ended it.
func (s *stage) round(ctx context.Context, res *siegeResult, p plan, again bool) error {
	war, err := besiege(ctx, s.target, slotsFor(s.target.secure != nil, p.connections, p.chosen), again)
	if err != nil {
		return err
	}
	defer war.lift()
	<-time.After(settleTime)
	var both sync.WaitGroup
	defer both.Wait()
	both.Go(func() { measure(ctx, s.ops, res.Operations, p.times, true) })
	if again {
		both.Wait()
		return s.peak(res)
	}
	if err := s.peak(res); err != nil {
		return err
	}
	res.Outcomes, err = war.watch(ctx, p.bars.slack, p.awaited)
	return err
}

func (s *stage) peak(res *siegeResult) error {
	u, err := usedBy(s.pid())
	res.Peak.Descriptors = max(res.Peak.Descriptors, u.Descriptors)
	res.Peak.Memory = max(res.Peak.Memory, u.Memory)
	return err
}

// recover waits until the server has what it had before, or patience ends. A dead server has
// nothing, which is another failure.
func (s *stage) recover(res *siegeResult, b bars) {
	for end := time.Now().Add(b.patience); ; <-time.After(250 * time.Millisecond) {
		u, err := usedBy(s.pid())
		if res.After = u; err != nil || unreturned(res, b) == "" || time.Now().After(end) {
			return
		}
	}
}

func unreturned(res *siegeResult, b bars) string {
	switch {
	case res.After.Descriptors > res.Before.Descriptors+b.descriptors:
		return fmt.Sprintf("%d descriptors before, %d after", res.Before.Descriptors, res.After.Descriptors)
	case res.After.Memory > res.Before.Memory+b.memory:
		return fmt.Sprintf("%d MB of memory before, %d MB after", res.Before.Memory>>20, res.After.Memory>>20)
	}
	return ""
}

// judge says what is wrong with a siege.
func judge(res *siegeResult, b bars) []string {
	out := []string{}
	add := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	if res.Crashes > 0 {
		add("the server crashed %d times", res.Crashes)
	}
	for _, f := range res.Operations {
		if f.Failed > 0 {
			add("%s failed %d times: %v", f.Name, f.Failed, f.Failures)
		}
		if f.Quiet.Count == 0 || f.Besieged.Count == 0 {
			add("%s was not measured", f.Name)
			continue
		}
		if f.Ratio > b.ratio && f.Besieged.Median > float64(b.floor.Milliseconds()) {
			add("%s takes %.1f ms besieged and %.1f ms otherwise, in the median: %.1f times", f.Name, f.Besieged.Median, f.Quiet.Median, f.Ratio)
		}
	}
	if len(res.Outcomes) == 0 {
		add("no slow connection was watched")
	}
	for _, o := range res.Outcomes {
		if o.Held > 0 {
			add("%s (key: %v): %d of %d connections held for more than %.0f s", o.Kind, o.Keyed, o.Held, o.Opened, o.Limit+b.slack.Seconds())
		}
	}
	if left := unreturned(res, b); left != "" {
		add("%s", left)
	}
	return out
}

// lay starts a server with a namespace of slow clients and one of normal clients.
func (o *options) lay(ctx context.Context, dir string, secure bool) (*stage, *server, error) {
	on := parts.Serving{Program: o.program, Dir: dir, Data: filepath.Join(dir, "data")}
	slow, err := addTenant(ctx, &on, "slow")
	if err != nil {
		return nil, nil, err
	}
	normal, err := addTenant(ctx, &on, "normal")
	if err != nil {
		return nil, nil, err
	}
	var certs *authority
	if secure {
		if certs, err = newAuthority(dir); err != nil {
			return nil, nil, err
		}
	}
	s, err := newServer(on, "server", certs)
	if err == nil {
		err = s.start(o.program)
	}
	if err != nil {
		return nil, nil, err
	}
	st, err := furnish(ctx, s, slow, normal, o.patience)
	if err == nil {
		err = s.restart() // an open namespace learns of new limits some seconds later
	}
	if err != nil {
		s.kill()
	}
	return st, s, err
}

// furnish makes the workspaces, and finds what can be asked for.
func furnish(ctx context.Context, s *server, slow, normal *tenant, patience time.Duration) (*stage, error) {
	c := newCaller(s, patience)
	for _, t := range []*tenant{slow, normal} {
		if err := c.widen(ctx, t, nil); err != nil {
			return nil, err
		}
	}
	ws, err := c.addWorkspace(ctx, normal, "everyday")
	if err != nil {
		return nil, err
	}
	text, err := c.must(ctx, http.MethodPost, "/v1/import?name=large", slow.keys[retake.KeyOperator], bytes.NewReader(largeArchive()))
	if err != nil {
		return nil, err
	}
	var large retake.SaveResult
	if err := json.Unmarshal(text, &large); err != nil {
		return nil, err
	}
	if text, err = c.must(ctx, http.MethodGet, "/", "", nil); err != nil {
		return nil, err
	}
	page := regexp.MustCompile(`src="(/[^"]+\.js)"`).FindSubmatch(text)
	if page == nil {
		return nil, fmt.Errorf("find a page: the console has no script: %.200s", text)
	}
	path := "/v1/workspaces/" + string(large.Workspace.ID)
	t := &target{
		address: s.address, secure: s.secure, key: slow.keys[retake.KeyOperator], post: path + "/checkpoints", upload: "/v1/import",
		large: path + "/file?ref=latest&path=large", page: string(page[1]),
	}
	return &stage{target: t, ops: c.everyday(normal, ws), pid: s.pid, crashes: s.crashes}, nil
}

// largeArchive holds one file that fills the buffers of a connection several times.
func largeArchive() []byte {
	text := make([]byte, 16<<20)
	_, _ = rand.Read(text) // it never fails
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	_ = w.WriteHeader(&tar.Header{Name: "large", Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))}) // a buffer takes all
	_, _ = w.Write(text)
	_ = w.Close()
	return out.Bytes()
}
