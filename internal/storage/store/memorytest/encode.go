package memorytest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// The prefix keeps a file apart from a directory whose encoding it copies.
const (
	filePrefix = "f"
	dirPrefix  = "d"
	cardPrefix = "c"
)

func objectID(prefix string, b []byte) retake.ObjectID {
	sum := sha256.Sum256(b)
	return retake.ObjectID(prefix + hex.EncodeToString(sum[:]))
}

func hasPrefix(id retake.ObjectID, prefix string) bool { return strings.HasPrefix(string(id), prefix) }

// entryJSON is an entry in JSON. JSON text cannot hold the bytes of every name, so
// names, groups and attributes are written as bytes.
type entryJSON struct {
	Name  []byte
	Entry retake.Entry
	Extra *extraJSON
}

type extraJSON struct {
	Group  []byte
	Xattrs []xattr
	Holes  []retake.Hole
}

type xattr struct{ Name, Value []byte }

func encodeDir(entries []retake.Entry) ([]byte, error) {
	records := make([]entryJSON, len(entries))
	for i, e := range entries {
		records[i] = newEntryJSON(e)
	}
	b, err := json.Marshal(records)
	if err != nil {
		return nil, fmt.Errorf("encode directory: %w", err)
	}
	return b, nil
}

func newEntryJSON(e retake.Entry) entryJSON {
	r := entryJSON{Name: []byte(e.Name), Entry: e}
	r.Entry.Name, r.Entry.Extra = "", nil
	if e.Extra == nil {
		return r
	}
	r.Extra = &extraJSON{Group: []byte(e.Extra.Group), Holes: e.Extra.Holes}
	for name, value := range e.Extra.Xattrs {
		r.Extra.Xattrs = append(r.Extra.Xattrs, xattr{[]byte(name), value})
	}
	slices.SortFunc(r.Extra.Xattrs, func(a, b xattr) int { return cmp.Compare(string(a.Name), string(b.Name)) })
	return r
}

func decodeDir(b []byte) ([]retake.Entry, error) {
	var records []entryJSON
	if err := json.Unmarshal(b, &records); err != nil {
		return nil, fmt.Errorf("decode directory: %w", err)
	}
	entries := make([]retake.Entry, len(records))
	for i, r := range records {
		entries[i] = r.toEntry()
	}
	return entries, nil
}

func (r entryJSON) toEntry() retake.Entry {
	e := r.Entry
	e.Name = string(r.Name)
	if r.Extra == nil {
		return e
	}
	e.Extra = &retake.Extra{Group: string(r.Extra.Group), Holes: r.Extra.Holes}
	for _, x := range r.Extra.Xattrs {
		if e.Extra.Xattrs == nil {
			e.Extra.Xattrs = map[string][]byte{}
		}
		e.Extra.Xattrs[string(x.Name)] = x.Value
	}
	return e
}

func encodeCard(card retake.Card) ([]byte, error) {
	b, err := json.Marshal(card)
	if err != nil {
		return nil, fmt.Errorf("encode card: %w", err)
	}
	return b, nil
}

func decodeCard(b []byte) (retake.Card, error) {
	var card retake.Card
	if err := json.Unmarshal(b, &card); err != nil {
		return retake.Card{}, fmt.Errorf("decode card: %w", err)
	}
	return card, nil
}
