package verify

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/retake-dev/retake/internal/pure/secrets"
)

const (
	keptOutput = 64 << 10 // bytes of output that are kept
	// maskMargin is masked and then dropped if the beginning is lost: a secret that was cut
	// in two is not recognized, so its second half must not be kept.
	maskMargin = 8 << 10
)

// outputTail keeps the end of what is written to it. It is safe for concurrent use.
type outputTail struct {
	mu        sync.Mutex
	ring      []byte // guarded by mu; the oldest byte is at next once it is full
	next      int
	truncated bool
}

// Write keeps the last keep+margin bytes.
func (t *outputTail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if len(p) > keptOutput+maskMargin {
		p, t.truncated = p[len(p)-keptOutput-maskMargin:], true
	}
	if room := keptOutput + maskMargin - len(t.ring); room > 0 {
		take := min(room, len(p))
		t.ring, p = append(t.ring, p[:take]...), p[take:]
	}
	for len(p) > 0 {
		t.truncated = true
		took := copy(t.ring[t.next:], p)
		t.next = (t.next + took) % len(t.ring)
		p = p[took:]
	}
	return n, nil
}

// text returns the kept output as valid text with secrets masked.
func (t *outputTail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	raw := string(t.ring[t.next:]) + string(t.ring[:t.next])
	text := strings.ReplaceAll(strings.ToValidUTF8(raw, "\uFFFD"), "\x00", "\uFFFD")
	text, _ = secrets.Mask(text)
	drop := max(0, len(text)-keptOutput)
	if t.truncated {
		drop = max(drop, min(maskMargin, len(text)))
	}
	return cutAtLine(text, drop)
}

// cutAtLine drops at least that many bytes, and the rest of the line if another one
// follows.
func cutAtLine(text string, drop int) string {
	if drop == 0 {
		return text
	}
	for drop < len(text) && !utf8.RuneStart(text[drop]) {
		drop++
	}
	rest := text[drop:]
	if at := strings.IndexByte(rest, '\n'); at >= 0 && at+1 < len(rest) {
		return rest[at+1:]
	}
	return rest
}
