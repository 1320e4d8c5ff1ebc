// Package token creates and parses the texts that a server hands out and gets back: API keys,
// and cursors of lists.
//
// It touches nothing but the source of randomness. It never stores, logs or returns a
// secret that it was not just asked to create.
//
//	T1  A key is rtk_<kind>_<26 characters of 5 random bits><6 characters of checksum>.
//	    130 bits cannot be guessed; the checksum only tells a typing error from a wrong key.
//	T2  What is kept of a key is the SHA-256 of all of it, and its last four characters.
//	T3  A cursor opens only with the filter and the secret that it was made with.
package token

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"hash/crc32"
	"strings"

	"github.com/retake-dev/retake"
)

const (
	prefix           = "rtk_"
	randomAlphabet   = "abcdefghijklmnopqrstuvwxyz234567"
	checksumAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	randomLength     = 26
	checksumLength   = 6 // 62^6 > 2^32
	tailSize         = 4
)

// New creates a key. The secret is for its owner only.
func New(kind retake.KeyKind) (secret string, digest [sha256.Size]byte, tail string) {
	var b [randomLength]byte
	_, _ = rand.Read(b[:]) // it never returns an error
	for i := range b {
		b[i] = randomAlphabet[b[i]%byte(len(randomAlphabet))] // 256 is a multiple of 32: all symbols are equally likely
	}
	text := prefix + string(kind) + "_" + string(b[:])
	secret = text + checksum(text)
	return secret, sha256.Sum256([]byte(secret)), secret[len(secret)-tailSize:]
}

// Parse parses a key. A well-formed key need not exist: look up the digest.
func Parse(secret string) (kind retake.KeyKind, digest [sha256.Size]byte, ok bool) {
	kind, size := matchKey(secret)
	if size == 0 || size != len(secret) {
		return "", digest, false
	}
	return kind, sha256.Sum256([]byte(secret)), true
}

// CountKeys returns the number of well-formed keys in a text, to search places where there
// must never be one.
func CountKeys(text []byte) int {
	s, n := string(text), 0
	for {
		i := strings.Index(s, prefix)
		if i < 0 {
			return n
		}
		s = s[i:]
		if _, size := matchKey(s); size > 0 {
			n++
			s = s[size:]
			continue
		}
		s = s[len(prefix):]
	}
}

// matchKey returns the kind and the length of the key that a text begins with; 0 if there is
// none.
func matchKey(s string) (retake.KeyKind, int) {
	for _, kind := range append([]retake.KeyKind{retake.KeyProvisioner}, retake.KeyKinds...) {
		head := prefix + string(kind) + "_"
		if !strings.HasPrefix(s, head) {
			continue
		}
		size := len(head) + randomLength + checksumLength
		if len(s) < size || !isRandomPart(s[len(head):len(head)+randomLength]) {
			return "", 0
		}
		body, check := s[:size-checksumLength], s[size-checksumLength:size]
		if subtle.ConstantTimeCompare([]byte(checksum(body)), []byte(check)) != 1 {
			return "", 0
		}
		return kind, size
	}
	return "", 0
}

// isRandomPart reports whether all characters are from randomAlphabet. It always checks all of
// them, and uses no table, so that its time reveals nothing about the secret.
func isRandomPart(s string) bool {
	bad := 0
	for i := range len(s) {
		c := int(s[i])
		letter := subtle.ConstantTimeLessOrEq('a', c) & subtle.ConstantTimeLessOrEq(c, 'z')
		digit := subtle.ConstantTimeLessOrEq('2', c) & subtle.ConstantTimeLessOrEq(c, '7')
		bad |= 1 - (letter | digit)
	}
	return bad == 0
}

func checksum(s string) string {
	sum := crc32.ChecksumIEEE([]byte(s))
	var out [checksumLength]byte
	for i := checksumLength - 1; i >= 0; i-- {
		out[i] = checksumAlphabet[sum%uint32(len(checksumAlphabet))]
		sum /= uint32(len(checksumAlphabet))
	}
	return string(out[:])
}
