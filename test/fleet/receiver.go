//go:build linux

package main

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/webhook"
)

// receiver gets the messages of all namespaces and checks their signatures.
type receiver struct {
	l      net.Listener
	server *http.Server

	mu      sync.Mutex
	secrets map[string]string                        // guarded by mu; by namespace
	seen    map[string]map[retake.CheckpointID]int64 // guarded by mu
	forged  int64                                    // guarded by mu
	why     string                                   // guarded by mu
}

func startReceiver() (*receiver, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{l: l, secrets: map[string]string{}, seen: map[string]map[retake.CheckpointID]int64{}}
	r.server = &http.Server{Handler: http.HandlerFunc(r.take), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = r.server.Serve(l) }() // ends with close
	return r, nil
}

func (r *receiver) url(ns string) string { return "http://" + r.l.Addr().String() + "/" + ns }

func (r *receiver) close() error { return r.server.Close() }

// expect says how messages of a namespace are signed.
func (r *receiver) expect(ns, secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets[ns] = secret
	r.seen[ns] = map[retake.CheckpointID]int64{}
}

func (r *receiver) take(w http.ResponseWriter, req *http.Request) {
	ns := strings.TrimPrefix(req.URL.Path, "/")
	body, err := io.ReadAll(io.LimitReader(req.Body, 64<<10))
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	secret, ok := r.secrets[ns]
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable) // its secret is on the way to us
		return
	}
	var m struct {
		Type retake.EventType `json:"type"`
		Data retake.EventData `json:"data"`
	}
	err = webhook.Verify(secret, req.Header, body, time.Now())
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err != nil || m.Type != retake.EventCreated || string(m.Data.Namespace) != ns {
		r.forged++
		r.why = string(body)
		if err != nil {
			r.why = err.Error()
		}
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.seen[ns][m.Data.Checkpoint]++
	w.WriteHeader(http.StatusNoContent)
}

// has reports how often a checkpoint was told of.
func (r *receiver) has(ns string, id retake.CheckpointID) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen[ns][id]
}

// told answers the number of messages, and of those whose signature was wrong.
func (r *receiver) told() (messages, forged int64, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ns := range r.seen {
		for _, n := range ns {
			messages += n
		}
	}
	return messages, r.forged, r.why
}
