package replica

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake"
)

// Head says what belongs to a copy. Readers open what it names and list nothing.
type Head struct {
	V       int       `json:"v"`
	Number  int64     `json:"number"` // its name; the highest is the head of the copy
	Nonce   string    `json:"nonce"`  // tells two heads of one number apart
	Writer  string    `json:"writer"` // who put it
	Time    time.Time `json:"time"`
	Clock   time.Time `json:"clock"`             // no clock that writes on top of this copy may start before
	Indexes []Index   `json:"indexes"`           // what the copy has: together they name every pack
	Lines   []Line    `json:"lines"`             // by workspace
	List    string    `json:"list,omitempty"`    // the content with the lines, for a stock engine
	Missing []string  `json:"missing,omitempty"` // contents that are damaged in the store
	Dead    []Dead    `json:"dead,omitempty"`    // objects that no head names since

	above int64 // the highest number that was seen, of a head that does not open
}

// Index is where an index is.
type Index struct {
	Name    string `json:"name"`             // as the engine names it
	Pack    string `json:"pack,omitempty"`   // it is a part of this object; "": an object of its own
	Offset  int64  `json:"offset,omitempty"` // in the pack
	Length  int64  `json:"length"`
	Entries int    `json:"entries"`
}

// Line is how far the history of a workspace is.
type Line struct {
	Workspace retake.WorkspaceID `json:"workspace"`
	Seq       int64              `json:"seq"`
	Latest    int64              `json:"latest"`   // the newest checkpoint
	Manifest  string             `json:"manifest"` // its id
	Labels    map[string]string  `json:"labels"`
	Payload   json.RawMessage    `json:"payload"`
}

// Dead is an object that is to be deleted.
type Dead struct {
	Name  string    `json:"name"`
	Head  int64     `json:"head"` // the first that does not name it
	Since time.Time `json:"since"`
}

const (
	headVersion = 1
	headPrefix  = "retake.head."
	pinPrefix   = "retake.pin."
	maxHead     = 64 << 20 // what a head may be when it is unpacked
	maxIndex    = 1 << 30
)

// errNewer means that a head has a version that this program does not know.
var errNewer = errors.New("a newer version of Retake wrote this copy")

func headName(number int64) string { return headPrefix + fmt.Sprintf("%016x", number) }

func parseHeadName(name string) (int64, bool) {
	text, ok := strings.CutPrefix(name, headPrefix)
	if !ok || len(text) != 16 {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 16, 64)
	return n, err == nil && n > 0
}

// Line returns the line of a workspace.
func (h *Head) Line(id retake.WorkspaceID) (Line, bool) {
	i := slices.IndexFunc(h.Lines, func(l Line) bool { return l.Workspace == id })
	if i < 0 {
		return Line{}, false
	}
	return h.Lines[i], true
}

// next returns a copy of the head that may be changed and put as its successor.
func (h *Head) next(writer string) *Head {
	n := *h
	n.V, n.Number, n.Nonce, n.Writer = headVersion, max(h.Number, h.above)+1, rand.Text(), writer
	n.Indexes, n.Lines, n.Missing, n.Dead = slices.Clone(h.Indexes), slices.Clone(h.Lines), slices.Clone(h.Missing), slices.Clone(h.Dead)
	return &n
}

// bury marks an object as dead.
func (h *Head) bury(name string, since time.Time) {
	if !slices.ContainsFunc(h.Dead, func(d Dead) bool { return d.Name == name }) {
		h.Dead = append(h.Dead, Dead{name, h.Number, since})
	}
}

// Sealer is the key that heads are sealed with.
type Sealer struct{ aead cipher.AEAD }

// NewSealer returns the sealer of a key of 32 bytes.
func NewSealer(key []byte) (Sealer, error) {
	c, err := aes.NewCipher(key)
	if err != nil {
		return Sealer{}, fmt.Errorf("make sealer: %w", err)
	}
	a, err := cipher.NewGCMWithRandomNonce(c)
	if err != nil {
		return Sealer{}, fmt.Errorf("make sealer: %w", err)
	}
	return Sealer{a}, nil
}

// seal encrypts a head. It opens under its own number only.
func (s Sealer) seal(h *Head) ([]byte, error) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if err := errors.Join(json.NewEncoder(w).Encode(h), w.Close()); err != nil {
		return nil, fmt.Errorf("encode head: %w", err)
	}
	return s.aead.Seal(nil, nil, z.Bytes(), []byte(headName(h.Number))), nil
}

func (s Sealer) open(number int64, sealed []byte) (*Head, error) {
	plain, err := s.aead.Open(nil, nil, sealed, []byte(headName(number)))
	if err != nil {
		return nil, fmt.Errorf("open head %d: it is damaged, or has another key", number)
	}
	z, err := gzip.NewReader(bytes.NewReader(plain))
	if err != nil {
		return nil, fmt.Errorf("decode head %d: %w", number, err)
	}
	var h Head
	if err := json.NewDecoder(io.LimitReader(z, maxHead)).Decode(&h); err != nil {
		return nil, fmt.Errorf("decode head %d: %w", number, err)
	}
	if h.V > headVersion {
		return nil, errNewer
	}
	if h.Number != number {
		return nil, fmt.Errorf("decode head %d: it has the number %d", number, h.Number)
	}
	for _, x := range h.Indexes { // memory is taken by what it says
		if x.Length <= 0 || x.Length > maxIndex || x.Offset < 0 || x.Offset > maxIndex || !isIndexName(x.Name) {
			return nil, fmt.Errorf("decode head %d: index %.80q has no such size or name", number, x.Name)
		}
	}
	return &h, nil
}

// isIndexName reports whether an index can have a name.
func isIndexName(name string) bool {
	plain := func(r rune) bool { return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r == '_' || r == '-' }
	return strings.HasPrefix(name, "x") && len(name) < 200 && strings.IndexFunc(name, func(r rune) bool { return !plain(r) }) < 0
}

// ReadHead returns the newest head that opens. A copy without one has a head with the number 0. An
// unreadable head is passed over only if an older one opens: a place that does not put in one step may
// leave half of one.
func ReadHead(ctx context.Context, p Place, key Sealer) (*Head, error) {
	for range 3 { // heads are removed, too, but not the newest
		found, err := p.List(ctx, headPrefix)
		if err != nil {
			return nil, fmt.Errorf("list heads: %w", err)
		}
		h, err := newestHead(ctx, p, key, found)
		if !errors.Is(err, ErrMissing) {
			return h, err
		}
	}
	return nil, fmt.Errorf("the heads of the copy change too fast")
}

func newestHead(ctx context.Context, p Place, key Sealer, found []Object) (*Head, error) {
	var damage error
	var highest int64
	for _, o := range slices.Backward(found) {
		n, ok := parseHeadName(o.Name)
		if !ok {
			continue
		}
		highest = max(highest, n)
		sealed, err := p.Get(ctx, o.Name, 0, -1)
		if err != nil {
			return nil, fmt.Errorf("read head %d: %w", n, err)
		}
		h, err := key.open(n, sealed)
		if err == nil {
			h.above = highest
			return h, nil
		}
		if errors.Is(err, errNewer) {
			return nil, err
		}
		damage = errors.Join(damage, err)
	}
	if highest > 0 {
		return nil, damage
	}
	return &Head{V: headVersion}, nil
}
