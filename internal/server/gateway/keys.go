package gateway

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/token"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

const (
	keyCacheAge     = 2 * time.Second // every server refuses a revoked key after this time
	keyUseInterval  = time.Minute
	maxCacheEntries = 10_000
)

// caller is the authenticated sender of a request.
type caller struct {
	ns  retake.NamespaceID
	key retake.Key
}

// keyCache caches keys for a short time, so that not every request reads the ledger.
type keyCache struct {
	opts    Options
	mu      sync.Mutex
	entries map[[32]byte]cachedKey // guarded by mu
}

type cachedKey struct {
	caller
	readAt     time.Time
	useNotedAt time.Time
}

func newKeyCache(o Options) *keyCache { return &keyCache{opts: o, entries: map[[32]byte]cachedKey{}} }

var errInvalidKey = &retake.Error{Kind: retake.Denied, What: "missing or invalid API key", Safe: unchanged, Hint: "send Authorization: Bearer rtk_…"}

// authenticate returns the caller of a request. The error is the same for every invalid key.
func (k *keyCache) authenticate(r *http.Request) (caller, error) {
	secret, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return caller{}, errInvalidKey
	}
	return k.callerOf(r.Context(), strings.TrimSpace(secret))
}

// callerOf returns the caller that a secret belongs to.
func (k *keyCache) callerOf(ctx context.Context, secret string) (caller, error) {
	kind, digest, ok := token.Parse(secret)
	if !ok {
		return caller{}, errInvalidKey
	}
	h, err := k.lookUpDigest(ctx, digest)
	if errors.Is(err, serverdb.ErrNotFound) {
		return caller{}, errInvalidKey
	}
	if err != nil {
		return caller{}, &retake.Error{Kind: retake.Away, What: "the keys cannot be read", Safe: unchanged, Hint: "try again", Err: err}
	}
	if h.key.Kind != kind || !h.key.Live(k.opts.Clock.Now()) {
		return caller{}, errInvalidKey
	}
	return h.caller, nil
}

// lookUpDigest returns the key with a digest, from the cache or from the ledger. From time to
// time it notes in the ledger that the key is in use.
func (k *keyCache) lookUpDigest(ctx context.Context, digest [32]byte) (cachedKey, error) {
	now := k.opts.Clock.Now()
	k.mu.Lock()
	h, ok := k.entries[digest]
	k.mu.Unlock()
	if ok && now.Sub(h.readAt) < keyCacheAge {
		return h, nil
	}
	ns, key, err := k.opts.Ledger.KeyByDigest(ctx, digest)
	if err != nil {
		k.remove(digest)
		return h, err
	}
	used := h.useNotedAt
	if now.Sub(used) > keyUseInterval {
		used = now
		if err := k.opts.Ledger.Book(ns).UsedKey(ctx, key.ID, now); err != nil {
			k.opts.Log.Warn("note the use of a key", "err", err)
		}
	}
	h = cachedKey{caller{ns, key}, now, used}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.entries) >= maxCacheEntries {
		clear(k.entries)
	}
	k.entries[digest] = h
	return h, nil
}

func (k *keyCache) remove(digest [32]byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.entries, digest)
}
