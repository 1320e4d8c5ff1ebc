package kopia

import (
	"bytes"

	"github.com/kopia/kopia/repo/object"
	"golang.org/x/crypto/blake2b"

	"github.com/retake-dev/retake"
)

// hashAlgorithm is that of the engine's default format, which all our stores have.
const hashAlgorithm = "BLAKE2B-256-128"

// Matches reports whether an object surely has these bytes, by its name alone: the engine names a
// small object by the keyed hash of its bytes. It reads nothing. False also means not known.
func (s *Store) Matches(id retake.ObjectID, data []byte) bool {
	oid, err := object.ParseID(string(id))
	if err != nil {
		return false
	}
	name, _, ok := oid.ContentID()
	format := s.rep.ContentReader().ContentFormat()
	if !ok || format.GetHashFunction() != hashAlgorithm {
		return false
	}
	h, err := blake2b.New256(format.GetHmacSecret())
	if err != nil {
		return false
	}
	_, _ = h.Write(data) // never fails
	want := name.Hash()
	return len(want) == 16 && bytes.Equal(want, h.Sum(nil)[:16])
}
