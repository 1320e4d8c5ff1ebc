// Package secretbox encrypts secrets that are stored in a database, with a key that is not
// stored there.
//
// Keeper is the port, and secretboxtest is its suite. LocalKeeper has its keys in memory. The
// package reads no file and no environment, and never logs.
//
//	S1  What was sealed for one purpose does not open for another.
//	S2  The first key seals, every key opens: a new key is put in front, all is opened and
//	    sealed again, and then the old key is removed.
//	S3  If one bit is changed anywhere, it does not open.
package secretbox

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// Reasons why something does not open.
var (
	ErrKey     = errors.New("no key here opens it")
	ErrDamaged = errors.New("it was changed, or sealed for another purpose")
)

// Keeper seals and opens secrets. The purpose says what a secret is and whose, such as
// "repository/acme". It is not stored in the sealed bytes and must be the same at both ends.
type Keeper interface {
	Seal(ctx context.Context, purpose string, plain []byte) ([]byte, error)
	Open(ctx context.Context, purpose string, sealed []byte) ([]byte, error)
	// KeyIDs returns the IDs of the keys: the first seals, all open. They say nothing of the keys.
	KeyIDs(ctx context.Context) ([]string, error)
}

// KeyID returns the ID of the key that something was sealed with, or ErrDamaged.
func KeyID(sealed []byte) (string, error) {
	if len(sealed) < headerSize || sealed[0] != version {
		return "", fmt.Errorf("read key id: %w", ErrDamaged)
	}
	return hex.EncodeToString(sealed[1:headerSize]), nil
}

// Header returns the bytes that everything sealed with a key begins with, and nothing else does.
func Header(keyID string) ([]byte, error) {
	id, err := hex.DecodeString(keyID)
	if err != nil || len(id) != idSize {
		return nil, fmt.Errorf("make header: %q is not the id of a key", keyID)
	}
	return append([]byte{version}, id...), nil
}

const (
	version    = 1
	idSize     = 8
	headerSize = 1 + idSize // version and key id; nonce, ciphertext and tag follow
)

// LocalKeeper seals with keys in memory.
type LocalKeeper struct{ keys []localKey }

type localKey struct {
	id   [idSize]byte
	aead cipher.AEAD // prepends a random nonce itself
}

// NewLocalKeeper returns a keeper with keys of 32 bytes: the first seals, all open.
func NewLocalKeeper(keys ...[]byte) (*LocalKeeper, error) {
	if len(keys) == 0 {
		return nil, errors.New("make keeper: there is no key")
	}
	k := &LocalKeeper{}
	for i, key := range keys {
		if len(key) != KeySize {
			return nil, fmt.Errorf("make keeper: key %d has %d bytes, not %d", i+1, len(key), KeySize)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("make keeper: %w", err)
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, fmt.Errorf("make keeper: %w", err)
		}
		sum := sha256.Sum256(key)
		k.keys = append(k.keys, localKey{id: [idSize]byte(sum[:idSize]), aead: aead})
	}
	return k, nil
}

// String does not reveal the keys when a keeper is printed.
func (k *LocalKeeper) String() string { return fmt.Sprintf("keeper of %d keys", len(k.keys)) }

// GoString does not reveal them either.
func (k *LocalKeeper) GoString() string { return k.String() }

// KeyIDs returns the IDs of the keys.
func (k *LocalKeeper) KeyIDs(context.Context) ([]string, error) {
	ids := make([]string, 0, len(k.keys))
	for _, key := range k.keys {
		ids = append(ids, hex.EncodeToString(key.id[:]))
	}
	return ids, nil
}

// Seal encrypts with the first key. Sealing the same text twice gives different bytes.
func (k *LocalKeeper) Seal(ctx context.Context, purpose string, plain []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	key := k.keys[0]
	head := make([]byte, headerSize, headerSize+key.aead.Overhead()+len(plain))
	head[0] = version
	copy(head[1:], key.id[:])
	return key.aead.Seal(head, nil, plain, additionalData(head, purpose)), nil
}

// Open decrypts with the key whose id is in the header.
func (k *LocalKeeper) Open(ctx context.Context, purpose string, sealed []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(sealed) < headerSize {
		return nil, fmt.Errorf("open sealed: %w", ErrDamaged)
	}
	if sealed[0] != version {
		return nil, fmt.Errorf("open sealed: version %d is unknown: %w", sealed[0], ErrKey)
	}
	head, rest := sealed[:headerSize], sealed[headerSize:]
	for _, key := range k.keys {
		if [idSize]byte(head[1:]) != key.id {
			continue
		}
		plain, err := key.aead.Open(nil, nil, rest, additionalData(head, purpose))
		if err != nil {
			return nil, fmt.Errorf("open sealed: %w", ErrDamaged) // the cause adds nothing
		}
		return plain, nil
	}
	return nil, fmt.Errorf("open sealed: %w", ErrKey)
}

// additionalData is authenticated but not encrypted. The header has a fixed size, so no byte
// can move from it to the purpose.
func additionalData(head []byte, purpose string) []byte {
	return append(append(make([]byte, 0, len(head)+len(purpose)), head[:headerSize]...), purpose...)
}
