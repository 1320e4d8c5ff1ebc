package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/server/rewrap"
)

const (
	keyIDsPath  = "/peer/keys"
	peerTimeout = 10 * time.Second
)

// peerRoutes adds to a handler what only other processes of this user may ask, at the socket.
func (s *Server) peerRoutes(h http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", h)
	mux.HandleFunc("GET "+keyIDsPath, func(w http.ResponseWriter, r *http.Request) {
		ids, err := s.sealer.KeyIDs(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_ = json.NewEncoder(w).Encode(ids) // the other process may be gone
	})
	return mux
}

// peer is a running server of the data directory.
type peer struct {
	name string
	keys []string // IDs of its key-encryption keys, the one that seals first; nil: it does not say
}

// peers asks all running servers of the data directory for the IDs of their keys.
func (s *Server) peers(ctx context.Context) ([]peer, error) {
	sockets, err := filepath.Glob(filepath.Join(s.opts.DataDir, "run", "*.sock"))
	if err != nil {
		return nil, err
	}
	var out []peer
	for _, at := range sockets {
		keys, err := askKeyIDs(ctx, at)
		if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist) { // left by a server that was killed
			continue
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		pid, _, _ := strings.Cut(filepath.Base(at), "-")
		if err != nil {
			keys = nil
		}
		out = append(out, peer{"process " + pid, keys})
	}
	return out, nil
}

// askKeyIDs asks the server at a socket. A server of an older version does not know the question.
func askKeyIDs(ctx context.Context, socket string) (ids []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, peerTimeout)
	defer cancel()
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://server"+keyIDsPath, nil)
	if err != nil {
		return nil, err
	}
	res, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", res.StatusCode)
	}
	return ids, json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&ids)
}

// Rewrap seals every stored secret again with the current key. It refuses while a server runs that
// could not open them then.
func (s *Server) Rewrap(ctx context.Context) (rewrap.Result, error) {
	ids, err := s.sealer.KeyIDs(ctx)
	if err != nil {
		return rewrap.Result{}, err
	}
	all, err := s.peers(ctx)
	if err != nil {
		return rewrap.Result{}, err
	}
	for _, p := range all {
		if !slices.Contains(p.keys, ids[0]) {
			return rewrap.Result{}, &retake.Error{
				Kind: retake.Busy, What: "a server that runs could not open the secrets then: " + p.name + " " + missingKey(p), Safe: "Nothing was changed.",
				Hint: "stop it, and start it with the new key and the old one as RETAKE_KEK_OLD",
			}
		}
	}
	version := ""
	if s.keyServer != nil && !s.opts.KeyServer.OnlyOpens {
		if version, err = s.keyServer.Rewrap(ctx); err != nil {
			return rewrap.Result{}, err
		}
	}
	res, err := rewrap.Run(ctx, rewrap.Options{Ledger: s.ledger, Keeper: s.sealer, Backups: s.pool.NewBackup, Clock: s.opts.Clock})
	if err != nil {
		e := retake.AsError(err)
		return res, &retake.Error{
			Kind: e.Kind, What: "not all secrets were encrypted again", Safe: fmt.Sprintf("%d were, and stay so. The others are as they were. No secret is lost.", res.Resealed),
			Hint: "run it again: retake help admin rewrap", Err: err,
		}
	}
	res.KeyVersion = version
	all, err = s.peers(ctx) // what started meanwhile counts, too
	for _, p := range all {
		switch {
		case len(p.keys) > 0 && p.keys[0] == res.Key:
		case slices.Contains(p.keys, res.Key):
			res.Servers = append(res.Servers, p.name+" seals with another key")
		default:
			res.Servers = append(res.Servers, p.name+" "+missingKey(p))
		}
	}
	return res, err
}

func missingKey(p peer) string {
	if p.keys == nil {
		return "doesn't say which keys it has: it is of an older version, or waits for a key server"
	}
	return "doesn't have the new key"
}
