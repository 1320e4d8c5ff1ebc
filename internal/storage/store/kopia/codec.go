package kopia

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/retake-dev/retake"
)

// The stock directory stream. Entries are encoded by hand, three times faster
// than by reflection, and must stay byte for byte what stock Kopia writes:
// TestEncodeAsStock holds it.
const (
	streamHead = `{"stream":"kopia:directory","entries":[`
	summaryKey = `],"summary":`
	emptyKey   = `null,"summary":`
	dirPrefix  = "k"
)

// entryExtension is the one field that we add, only to entries that need it.
type entryExtension struct {
	Raw   []byte        `json:"raw,omitempty"`  // the name, when it is not UTF-8
	Kind  retake.Kind   `json:"kind,omitempty"` // fifo, socket
	Extra *retake.Extra `json:"extra,omitempty"`
}

// encodeDir returns a directory stream and its summary. It sorts entries as stock does,
// directories first, and refuses duplicate names. bare omits the summaries of subdirectories,
// in the directories of a history and never in trees.
func encodeDir(entries []retake.Entry, modTime int64, bare bool) ([]byte, retake.Summary, error) {
	names := make([]string, len(entries))
	order := make([]int, len(entries))
	for i := range entries {
		names[i], order[i] = storedName(entries[i].Name), i
	}
	sort.Slice(order, func(a, b int) bool {
		i, j := order[a], order[b]
		if di, dj := entries[i].Kind == retake.KindDir, entries[j].Kind == retake.KindDir; di != dj {
			return di
		}
		return names[i] < names[j]
	})
	sum := retake.Summary{Dirs: 1}
	buf := make([]byte, 0, 64+200*len(entries))
	buf = append(buf, streamHead...)
	for k, i := range order {
		if k > 0 {
			buf = append(buf, ',')
		}
		sum.Add(&entries[i])
		var err error
		if buf, err = appendEntry(buf, names[i], &entries[i], bare); err != nil {
			return nil, sum, err
		}
	}
	if err := checkUnique(entries); err != nil {
		return nil, sum, err
	}
	if len(entries) == 0 { // stock has no list then, and the directory's own time
		sum.MaxTime = modTime
		buf = append(buf[:len(buf)-1], emptyKey...)
	} else {
		buf = append(buf, summaryKey...)
	}
	return append(appendSummary(buf, &sum), '}', '\n'), sum, nil
}

func checkUnique(entries []retake.Entry) error {
	names := make([]string, len(entries))
	for i := range entries {
		names[i] = entries[i].Name
	}
	slices.Sort(names)
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] {
			return fmt.Errorf("two entries are named %q", names[i])
		}
	}
	return nil
}

// appendEntry appends one entry exactly as the stock encoder writes it.
func appendEntry(b []byte, name string, e *retake.Entry, bare bool) ([]byte, error) {
	b = append(b, `{"name":`...)
	b = appendString(b, name)
	switch e.Kind {
	case retake.KindDir:
		b = append(b, `,"type":"d"`...)
	case retake.KindSymlink:
		b = append(b, `,"type":"s"`...)
	case retake.KindFile, retake.KindFIFO, retake.KindSocket:
		b = append(b, `,"type":"f"`...)
	default:
		return nil, fmt.Errorf("encode %q: kind %q is not kept", e.Name, e.Kind)
	}
	if m := toStockMode(e.Mode); m != 0 {
		b = append(b, `,"mode":"0`...)
		b = strconv.AppendUint(b, m, 8)
		b = append(b, '"')
	}
	if e.Size != 0 && e.Kind != retake.KindDir {
		b = strconv.AppendInt(append(b, `,"size":`...), e.Size, 10)
	}
	if e.ModTime != 0 {
		b = appendTime(append(b, `,"mtime":`...), e.ModTime)
	}
	if e.UID != 0 {
		b = strconv.AppendUint(append(b, `,"uid":`...), uint64(e.UID), 10)
	}
	if e.GID != 0 {
		b = strconv.AppendUint(append(b, `,"gid":`...), uint64(e.GID), 10)
	}
	b = appendString(append(b, `,"obj":`...), string(e.Object))
	if e.Kind == retake.KindDir && !bare {
		b = appendSummary(append(b, `,"summ":`...), &e.Sum)
	}
	b, err := appendExtension(b, name, e)
	return append(b, '}'), err
}

// appendExtension appends our extension, if the entry needs one.
func appendExtension(b []byte, name string, e *retake.Entry) ([]byte, error) {
	var x entryExtension
	special := false
	if name != e.Name {
		x.Raw, special = []byte(e.Name), true
	}
	if e.Kind == retake.KindFIFO || e.Kind == retake.KindSocket {
		x.Kind, special = e.Kind, true
	}
	if e.Extra != nil {
		x.Extra, special = e.Extra, true
	}
	if !special {
		return b, nil
	}
	j, err := json.Marshal(x)
	if err != nil {
		return nil, fmt.Errorf("encode %q: %w", e.Name, err)
	}
	return append(append(b, `,"retake":`...), j...), nil
}

func appendSummary(b []byte, s *retake.Summary) []byte {
	b = strconv.AppendInt(append(b, `{"size":`...), s.Bytes, 10)
	b = strconv.AppendInt(append(b, `,"files":`...), s.Files, 10)
	b = strconv.AppendInt(append(b, `,"symlinks":`...), s.Symlinks, 10)
	b = strconv.AppendInt(append(b, `,"dirs":`...), s.Dirs, 10)
	b = appendTime(append(b, `,"maxTime":`...), s.MaxTime)
	return append(b, `,"numFailed":0}`...)
}

func appendTime(b []byte, ns int64) []byte {
	b = append(b, '"')
	b = time.Unix(0, ns).UTC().AppendFormat(b, time.RFC3339Nano)
	return append(b, '"')
}

// appendString appends a JSON string; plain ASCII is the fast path.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			j, _ := json.Marshal(s) // a string always encodes
			return append(b, j...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// storedName returns a name that JSON can represent. A name that is not UTF-8 becomes a
// readable one with a digest, so that two such names stay different.
func storedName(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	h := sha256.Sum256([]byte(name))
	return strings.ToValidUTF8(name, "\uFFFD") + "~" + hex.EncodeToString(h[:6])
}

// Go's own bits for setuid, setgid and sticky, which the stock format uses.
const (
	goSetuid = 1 << 23
	goSetgid = 1 << 22
	goSticky = 1 << 20
)

func toStockMode(m uint32) uint64 {
	out := uint64(m & 0o777)
	if m&0o4000 != 0 {
		out |= goSetuid
	}
	if m&0o2000 != 0 {
		out |= goSetgid
	}
	if m&0o1000 != 0 {
		out |= goSticky
	}
	return out
}

func fromStockMode(m uint64) uint32 {
	out := uint32(m & 0o777)
	if m&goSetuid != 0 {
		out |= 0o4000
	}
	if m&goSetgid != 0 {
		out |= 0o2000
	}
	if m&goSticky != 0 {
		out |= 0o1000
	}
	return out
}
