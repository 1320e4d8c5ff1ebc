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
	keyAge    = 2 * time.Second // a key that was revoked is refused after that, on every server
	usedEvery = time.Minute
	mostKeys  = 10_000
)

// visitor is who asks.
type visitor struct {
	ns  retake.NamespaceID
	key retake.Key
}

// keyring remembers keys for a moment, so that not every request asks the ledger.
type keyring struct {
	o    Options
	mu   sync.Mutex
	held map[[32]byte]heldKey // guarded by mu
}

type heldKey struct {
	visitor
	at   time.Time
	used time.Time
}

func newKeyring(o Options) *keyring { return &keyring{o: o, held: map[[32]byte]heldKey{}} }

var errNoKey = &retake.Error{Kind: retake.Denied, What: "missing or invalid API key", Safe: unchanged, Hint: "send Authorization: Bearer rtk_…"}

// find answers who asks. Whatever is wrong with a key, the answer is the same.
func (k *keyring) find(r *http.Request) (visitor, error) {
	secret, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return visitor{}, errNoKey
	}
	return k.whose(r.Context(), strings.TrimSpace(secret))
}

// whose answers who has a key.
func (k *keyring) whose(ctx context.Context, secret string) (visitor, error) {
	kind, digest, ok := token.Parse(secret)
	if !ok {
		return visitor{}, errNoKey
	}
	h, err := k.known(ctx, digest)
	if errors.Is(err, serverdb.ErrNotFound) {
		return visitor{}, errNoKey
	}
	if err != nil {
		return visitor{}, &retake.Error{Kind: retake.Away, What: "the keys cannot be read", Safe: unchanged, Hint: "try again", Err: err}
	}
	if h.key.Kind != kind || !h.key.Live(k.o.Clock.Now()) {
		return visitor{}, errNoKey
	}
	return h.visitor, nil
}

func (k *keyring) known(ctx context.Context, digest [32]byte) (heldKey, error) {
	now := k.o.Clock.Now()
	k.mu.Lock()
	h, ok := k.held[digest]
	k.mu.Unlock()
	if ok && now.Sub(h.at) < keyAge {
		return h, nil
	}
	ns, key, err := k.o.Ledger.KeyByDigest(ctx, digest)
	if err != nil {
		k.drop(digest)
		return h, err
	}
	used := h.used
	if now.Sub(used) > usedEvery {
		used = now
		if err := k.o.Ledger.Book(ns).UsedKey(ctx, key.ID, now); err != nil {
			k.o.Log.Warn("note the use of a key", "err", err)
		}
	}
	h = heldKey{visitor{ns, key}, now, used}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.held) >= mostKeys {
		clear(k.held)
	}
	k.held[digest] = h
	return h, nil
}

func (k *keyring) drop(digest [32]byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.held, digest)
}
