//go:build linux

package g19

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/webhook"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
	"github.com/retake-dev/retake/test/parts"
)

// killing is a server that is killed while checkpoints are saved, and who is told of them.
type killing struct {
	g      *serverbed.Guest
	dir    string
	dsn    string
	secret string
	sink   *serverbed.Receiver
	srv    *parts.Server
	url    string

	mu    sync.Mutex
	acked []retake.CheckpointID // guarded by mu
	first map[string]bool       // messages whose first try failed; guarded by mu
	codes map[int]int           // answers to saves; guarded by mu

	refusal string      // the last one; guarded by mu
	stuck   []string    // guarded by mu
	deaf    atomic.Bool // the receiver takes nothing
}

// killedCouriers: every checkpoint that was acknowledged is told at least once, by a message
// whose signature is good, whenever the server is killed.
func killedCouriers(r *harness.Run, dsn string) harness.Verdict {
	v := harness.Verdict{
		Guarantee: "G19", What: "SIGKILL of a server: what was acknowledged is told, signed", Detail: map[string]any{},
		Control: "messages taken from the rows, and another secret: both are seen",
	}
	exe, err := daemonbed.Program(r)
	start := time.Now()
	var k *killing
	if err == nil {
		k, err = newKilling(r, exe, dsn)
	}
	if err != nil {
		v.Fail("%v", err)
		return v
	}
	n := r.Figure(20, 200)
	v.Tried = int64(n)
	if err := k.ordeal(r, n); err != nil {
		v.Fail("%v", err)
	}
	for _, what := range k.wrong(k.secret) {
		v.Fail("%s", what)
	}
	k.mu.Lock()
	v.Detail["acknowledged"], v.Detail["messages"], v.Detail["kills"] = len(k.acked), len(k.sink.All()), n
	v.Detail["answers to saves"], v.Detail["last refusal"] = k.codes, k.refusal
	k.mu.Unlock()
	v.Caught, err = k.controls()
	if err = errors.Join(err, k.srv.Close(), k.sink.Close()); err != nil {
		v.Fail("control: %v", err)
	}
	v.Seconds = time.Since(start).Seconds()
	return v
}

// ordeal kills n times, and waits until all is told.
func (k *killing) ordeal(r *harness.Run, n int) error {
	if err := k.kills(r, n); err != nil {
		return err
	}
	if r.Tier != "c" {
		if err := k.pass(); err != nil { // in the other tier the leases of the dead end by themselves
			return err
		}
	}
	if !k.wait(3 * time.Minute) {
		return errors.New("not all that was acknowledged is told")
	}
	return nil
}

func newKilling(r *harness.Run, exe, dsn string) (*killing, error) {
	k := &killing{dsn: dsn, first: map[string]bool{}, codes: map[int]int{}}
	h, g, err := oneGuest(r, serverbed.HallOptions{Postgres: dsn}) // it makes a store with a cheap key
	if err != nil {
		return nil, err
	}
	k.g, k.dir = g, h.Dir
	if k.sink, err = serverbed.NewReceiver(k.receive); err != nil {
		return nil, err
	}
	a, err := h.Must(g.Keys[retake.KeyAdmin], http.MethodPost, "/v1/webhooks", `{"url":"`+k.sink.URL+`","types":["checkpoint.created"]}`)
	if err != nil {
		return nil, err
	}
	k.secret = a.Pick("secret")
	if err := h.Close(); err != nil {
		return nil, err
	}
	k.srv, err = parts.StartServer(parts.Serving{
		Program: exe, Dir: r.Scratch("serve"), Data: k.dir, Postgres: dsn, Flags: []string{"--lenient-webhooks"},
	}, "server")
	if err == nil {
		k.url = "http://" + k.srv.Address
	}
	return k, err
}

// receive takes messages; the first try of one in thirty fails.
func (k *killing) receive(r *http.Request) int {
	id := r.Header.Get(webhook.HeaderID)
	k.mu.Lock()
	fails := len(id) > 0 && id[len(id)-1] == '7' && !k.first[id]
	k.first[id] = true
	k.mu.Unlock()
	if fails || k.deaf.Load() {
		return http.StatusServiceUnavailable
	}
	return http.StatusNoContent
}

// kills lets two agents save, and kills the server at random checkpoints.
func (k *killing) kills(r *harness.Run, n int) error {
	rnd := rand.New(rand.NewPCG(uint64(r.Seed), 19))
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() { k.saves(ctx, i) })
	}
	defer wg.Wait()
	defer stop()
	for range n {
		after := time.NewTimer(time.Duration(20+rnd.IntN(500)) * time.Millisecond)
		<-after.C
		k.srv.Kill()
		if err := k.srv.Start(); err != nil {
			return err
		}
	}
	return nil
}

// saves takes checkpoints until ctx ends. One that was not acknowledged is asked for again,
// under its own id.
func (k *killing) saves(ctx context.Context, who int) {
	for i := 0; ctx.Err() == nil; i++ {
		_ = serverbed.PlantFile(filepath.Join(k.dir, "ns", "alpha", "files", "default", fmt.Sprintf("f%d.txt", who)), fmt.Sprint(who, i)) // a save more or less that finds nothing
		id := retake.CheckpointID(retake.CheckpointPrefix + uuid.Must(uuid.NewV7()).String())
		key := map[string]string{}
		if who == 1 {
			key["Idempotency-Key"] = string(id)
		}
		for refusals := 0; ctx.Err() == nil; {
			status := k.save(id, key)
			if status == http.StatusCreated {
				break
			}
			if status > 0 {
				refusals++
			}
			if refusals == tooMany {
				k.mu.Lock()
				k.stuck = append(k.stuck, fmt.Sprintf("%s is refused for long: %s", id, k.refusal))
				k.mu.Unlock()
			}
			pause := time.NewTimer(20 * time.Millisecond)
			<-pause.C
		}
	}
}

// tooMany refusals of one checkpoint take longer than anything that a dead server leaves may
// stand in the way.
const tooMany = 500

// save answers the status, 0 without one.
func (k *killing) save(id retake.CheckpointID, header map[string]string) int {
	a := serverbed.AskAt(k.url, serverbed.Asked{Key: k.g.Keys[retake.KeyAgent], Method: http.MethodPost, Path: "/v1/snapshots", Wait: 20 * time.Second,
		Body: []byte(`{"label":"by hand","snapshot_id":"` + string(id) + `"}`), Header: header})
	k.mu.Lock()
	defer k.mu.Unlock()
	k.codes[a.Status]++
	switch a.Status {
	case http.StatusCreated:
		k.acked = append(k.acked, id)
	case 0:
	default:
		k.refusal = a.Pick("detail")
	}
	return a.Status
}

// rows looks at the database while the server is down.
func (k *killing) rows(texts ...string) error {
	k.srv.Kill()
	v, err := serverbed.ViewRows(k.dir, k.dsn)
	if err != nil {
		return err
	}
	err = v.Enter("alpha")
	for _, text := range texts {
		if err == nil {
			_, err = v.Conn.ExecContext(context.Background(), text)
		}
	}
	if err = errors.Join(err, v.Close()); err != nil {
		return err
	}
	return k.srv.Start()
}

// pass lets the minute go by for which the claims of a dead server hold.
func (k *killing) pass() error { return k.rows(`UPDATE due SET lease_us = 0`) }

// controls lose messages, and check with another secret.
func (k *killing) controls() (int64, error) {
	_, other, _ := webhook.NewSecret(retake.SchemeShared)
	var caught int64
	if len(k.wrong(other)) > 0 {
		caught++
	}
	k.deaf.Store(true)
	for range 3 {
		if k.save(retake.CheckpointID(retake.CheckpointPrefix+uuid.Must(uuid.NewV7()).String()), nil) != http.StatusCreated {
			return caught, errors.New("a save without kills is not acknowledged")
		}
	}
	if err := k.rows(`DELETE FROM outbox`, `DELETE FROM due WHERE queue IN ('outbox', 'delivery')`, `DELETE FROM delivery WHERE state = 'waiting'`); err != nil {
		return caught, err
	}
	k.deaf.Store(false)
	if !k.wait(2 * time.Second) {
		caught += int64(len(k.lost()))
	}
	return caught, nil
}
