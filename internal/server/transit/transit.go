// Package transit keeps the key-encryption key at a key server that has the API of Vault's
// transit engine, such as HashiCorp Vault or OpenBao.
//
// The key server seals one data key, which is in a file. Secrets are sealed with the data key,
// which is in memory only: a request needs no key server. Until the key server has opened the data
// key once, everything that needs it fails as unavailable, and is tried again.
//
//	T1  The data key is in no file, no log and no error. Nor is the token.
//	T2  Only the configured address is spoken to: no redirects, no proxies.
//	T3  A data key seals something only after its file cannot be lost by a power cut, and after the
//	    key server has opened it.
package transit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/pure/secretbox"
)

// Options say where the key server and the sealed data key are.
type Options struct {
	URL       string // of the key, such as https://vault:8200/v1/transit/keys/retake
	TokenFile string // read for each call
	CAFile    string // certificates to trust; "": those of the system
	File      string // of the sealed data key; created if there is none
	Local     [][]byte
	OnlyOpens bool          // the first of Local seals, and the data key only opens what it sealed before
	Timeout   time.Duration // of a call; 0: 10 seconds
	Clock     clock.Clock
	Log       *slog.Logger
}

// Keeper seals with the data key, and opens with it and with the local keys.
type Keeper struct {
	opts   Options
	server *keyServer
	local  *secretbox.LocalKeeper // nil: there are no local keys
	whole  atomic.Pointer[secretbox.LocalKeeper]
	turn   chan struct{} // has the one that asks the key server
	failed time.Time     // when it was last asked in vain; of the one whose turn it is
}

var _ secretbox.Keeper = (*Keeper)(nil)

// retryAfter is how long nobody asks the key server after it failed.
const retryAfter = time.Second

// New returns a keeper. It does not speak to the key server yet.
func New(o Options) (*Keeper, error) {
	if o.Timeout <= 0 {
		o.Timeout = callTimeout
	}
	s, err := newKeyServer(o)
	if err != nil {
		return nil, err
	}
	k := &Keeper{opts: o, server: s, turn: make(chan struct{}, 1)}
	if len(o.Local) > 0 {
		if k.local, err = secretbox.NewLocalKeeper(o.Local...); err != nil {
			return nil, err
		}
	}
	if o.OnlyOpens && k.local == nil {
		return nil, &retake.Error{Kind: retake.Invalid, What: "there is no key that seals", Safe: unchanged, Hint: "set one: --kek-file, or --kek-url"}
	}
	return k, nil
}

// String does not reveal the keys when a keeper is printed.
func (k *Keeper) String() string { return "keeper of a key server" }

// GoString does not reveal them either.
func (k *Keeper) GoString() string { return k.String() }

// Seal encrypts with the data key.
func (k *Keeper) Seal(ctx context.Context, purpose string, plain []byte) ([]byte, error) {
	if k.opts.OnlyOpens {
		return k.local.Seal(ctx, purpose, plain)
	}
	whole, err := k.loaded(ctx)
	if err != nil {
		return nil, err
	}
	return whole.Seal(ctx, purpose, plain)
}

// Open decrypts. What a local key opens needs no key server.
func (k *Keeper) Open(ctx context.Context, purpose string, sealed []byte) ([]byte, error) {
	if k.local != nil {
		plain, err := k.local.Open(ctx, purpose, sealed)
		if !errors.Is(err, secretbox.ErrKey) {
			return plain, err
		}
	}
	whole, err := k.loaded(ctx)
	if err != nil {
		return nil, err
	}
	return whole.Open(ctx, purpose, sealed)
}

// KeyIDs returns the IDs of all keys.
func (k *Keeper) KeyIDs(ctx context.Context) ([]string, error) {
	whole, err := k.loaded(ctx)
	if err != nil {
		return nil, err
	}
	return whole.KeyIDs(ctx)
}

// Ready returns an error while the data key is not there. It asks for it, so that a server that
// gets no requests because it is not ready becomes ready all the same.
func (k *Keeper) Ready(ctx context.Context) error {
	_, err := k.loaded(ctx)
	return err
}

// errNotThere is what requests get, without the cause: that is for the owner of the server.
var errNotThere = &retake.Error{Kind: retake.Away, What: "the key-encryption key is not there: the key server has not given it yet", Safe: unchanged, Hint: "try again later; the reason is in the server's log"}

// loaded returns a keeper with all keys, and asks the key server if it has not answered yet.
func (k *Keeper) loaded(ctx context.Context) (*secretbox.LocalKeeper, error) {
	if whole := k.whole.Load(); whole != nil {
		return whole, ctx.Err()
	}
	select {
	case k.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-k.turn }()
	if whole := k.whole.Load(); whole != nil {
		return whole, ctx.Err()
	}
	if since := k.opts.Clock.Now().Sub(k.failed); since >= 0 && since < retryAfter {
		return nil, errNotThere
	}
	// Others wait for the answer, so it does not end with the one that asked.
	if err := k.load(context.WithoutCancel(ctx)); err != nil {
		k.failed = k.opts.Clock.Now()
		k.opts.Log.Error("ask the key server for the key-encryption key", "err", err)
		return nil, errNotThere
	}
	k.opts.Log.Info("the key server has given the key-encryption key")
	return k.whole.Load(), ctx.Err()
}

// Load asks the key server for the data key, and returns why it does not give it.
func (k *Keeper) Load(ctx context.Context) error {
	select {
	case k.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-k.turn }()
	if k.whole.Load() != nil {
		return nil
	}
	return k.load(ctx)
}

func (k *Keeper) load(ctx context.Context) error {
	f, err := k.readFile(ctx)
	if err != nil {
		return err
	}
	key, err := k.open(ctx, f)
	if err != nil {
		return err
	}
	defer clear(key)
	keys := append([][]byte{key}, k.opts.Local...)
	if k.opts.OnlyOpens {
		keys = append(slices.Clone(k.opts.Local), key)
	}
	whole, err := secretbox.NewLocalKeeper(keys...)
	if err == nil {
		k.whole.Store(whole)
	}
	return err
}

// sealedKey is the content of the file. It is of no use without the key server.
type sealedKey struct {
	V      int    `json:"v"`
	ID     string `json:"id"`     // of the data key
	Sealed string `json:"sealed"` // as the key server returned it
}

// readFile reads the sealed data key, and creates it first if there is none.
func (k *Keeper) readFile(ctx context.Context) (f sealedKey, err error) {
	name := filepath.Base(k.opts.File)
	read := func() ([]byte, error) {
		return fsx.ReadOrCreate(k.opts.File, func() ([]byte, error) { return k.create(ctx) })
	}
	if k.opts.OnlyOpens {
		read = func() ([]byte, error) { return os.ReadFile(k.opts.File) }
	}
	b, err := read()
	if err != nil {
		return f, fmt.Errorf("read the data key: %w", err)
	}
	if json.Unmarshal(b, &f) != nil || f.V != 1 || f.ID == "" || !ciphertextPattern().MatchString(f.Sealed) {
		return f, &retake.Error{Kind: retake.Damaged, What: name + " is not the data key that a key server sealed", Safe: unchanged, Hint: "bring it back from a backup of the data directory"}
	}
	return f, nil
}

// create makes a data key. The key server must be able to open it, or the next start could not.
func (k *Keeper) create(ctx context.Context) ([]byte, error) {
	key := secretbox.NewKey()
	defer clear(key)
	id, err := idOf(key)
	if err != nil {
		return nil, err
	}
	sealed, err := k.server.encrypt(ctx, key)
	if err != nil {
		return nil, err
	}
	return k.marshal(ctx, sealedKey{V: 1, ID: id, Sealed: sealed})
}

// marshal returns the content of the file, if the key server can open it.
func (k *Keeper) marshal(ctx context.Context, f sealedKey) ([]byte, error) {
	key, err := k.open(ctx, f)
	if err != nil {
		return nil, err
	}
	clear(key)
	b, err := json.Marshal(f)
	return append(b, '\n'), err
}

// open returns the data key.
func (k *Keeper) open(ctx context.Context, f sealedKey) ([]byte, error) {
	key, err := k.server.decrypt(ctx, f.Sealed)
	if err != nil {
		return nil, err
	}
	if id, err := idOf(key); err != nil || id != f.ID {
		return nil, &retake.Error{Kind: retake.Damaged, What: "the key server opened another data key than the one in " + filepath.Base(k.opts.File), Safe: unchanged}
	}
	return key, nil
}

// Rewrap has the data key sealed with the newest version of the key server's key, and returns that
// version. The data key stays the same.
func (k *Keeper) Rewrap(ctx context.Context) (version string, err error) {
	f, err := k.readFile(ctx)
	if err != nil {
		return "", err
	}
	was := versionOf(f.Sealed)
	if f.Sealed, err = k.server.rewrap(ctx, f.Sealed); err != nil {
		return "", err
	}
	if versionOf(f.Sealed) == was {
		return was, nil
	}
	b, err := k.marshal(ctx, f)
	if err == nil {
		err = fsx.ReplaceFile(k.opts.File, b, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("replace the data key: %w", err)
	}
	return versionOf(f.Sealed), nil
}

// versionOf returns the version of the key server's key that sealed something.
func versionOf(ciphertext string) string {
	parts := strings.SplitN(ciphertext, ":", 3)
	return parts[1] // ciphertextPattern has it so
}

func idOf(key []byte) (string, error) {
	k, err := secretbox.NewLocalKeeper(key)
	if err != nil {
		return "", err
	}
	ids, err := k.KeyIDs(context.Background())
	if err != nil {
		return "", err
	}
	return ids[0], nil
}
