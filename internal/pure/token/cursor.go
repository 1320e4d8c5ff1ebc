package token

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

const (
	macSize     = 16
	maxCursor   = 4096
	cursorLabel = "retake cursor 1" // separates cursors from anything else that is signed with the key
)

// Cursors creates and opens the cursors of lists. It may be used concurrently.
type Cursors struct{ key []byte }

// NewCursors takes the secret that all servers of one address share. Without one it creates
// its own, and its cursors are valid as long as it exists: an empty secret would be known to
// everybody.
func NewCursors(key []byte) *Cursors {
	if len(key) > 0 {
		return &Cursors{key: slices.Clone(key)}
	}
	own := make([]byte, sha256.Size)
	_, _ = rand.Read(own)
	return &Cursors{key: own}
}

// Seal returns the cursor for position at of the list that filter selects.
func (c *Cursors) Seal(filter, at string) string {
	return base64.RawURLEncoding.EncodeToString(append(c.mac(filter, at), at...))
}

// Open returns the position of a cursor. A cursor of another list or another server, or a
// forged one, is Invalid.
func (c *Cursors) Open(filter, cursor string) (string, error) {
	// The decoder skips line ends, and each cursor must have one spelling.
	if len(cursor) > maxCursor || strings.ContainsAny(cursor, "\r\n") {
		return "", invalidCursor()
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(b) < macSize {
		return "", invalidCursor()
	}
	at := string(b[macSize:])
	if !hmac.Equal(b[:macSize], c.mac(filter, at)) {
		return "", invalidCursor()
	}
	return at, nil
}

// mac includes the lengths, so that no byte can move from the filter to the position.
func (c *Cursors) mac(filter, at string) []byte {
	h := hmac.New(sha256.New, c.key)
	var size [8]byte
	for _, part := range []string{cursorLabel, filter, at} {
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	return h.Sum(nil)[:macSize]
}

func invalidCursor() error {
	return &retake.Error{
		Kind: retake.Invalid, What: "the cursor does not belong to this list", Safe: "Nothing was changed.",
		Hint: "Ask for the list again without a cursor, and keep the filter while you page.",
	}
}
