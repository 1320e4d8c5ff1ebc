package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/retake-dev/retake"
)

const (
	bytesType   = "application/octet-stream"
	entryHeader = "Retake-Entry"
	endTrailer  = "Retake-End"
	goodEnd     = "ok"

	pieceSize = 64 << 10
	maxHeader = 6 << 10 // what stands between takes eight thousand bytes of headers
)

// sending is bytes on their way. An entry, if there is one, goes ahead.
type sending struct {
	src       io.ReadCloser
	mediaType string
	entry     *retake.Entry
	span      *span // nil: all of it
	parts     bool  // parts can be asked for
}

// copied is the answer whose body is src.
func copied(x sending) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer x.src.Close() //nolint:errcheck // nothing was written
		r, w := humago.Unwrap(hc)
		c := &copying{src: x.src, w: w, piece: make([]byte, pieceSize)}
		if c.read(); c.err != nil { // nothing is sent yet
			writeProblem(w, r, problemOf(c.err))
			return
		}
		// Who takes trailers learns why a body ended early; for others it breaks off.
		told := strings.Contains(r.Header.Get("TE"), "trailers")
		if told {
			w.Header().Set("Trailer", endTrailer)
		}
		w.WriteHeader(x.head(w.Header()))
		err := c.rest()
		switch {
		case err != nil && !told:
			panic(http.ErrAbortHandler)
		case err != nil:
			w.Header().Set(endTrailer, problemText(r, err))
		case told:
			w.Header().Set(endTrailer, goodEnd)
		}
	}}
}

// head says what comes, and answers the status.
func (x *sending) head(h http.Header) int {
	if x.entry != nil {
		h.Set(entryHeader, entryText(*x.entry))
	}
	h.Set("Content-Type", x.mediaType)
	if x.parts {
		h.Set("Accept-Ranges", "bytes")
	}
	if x.span == nil {
		return http.StatusOK
	}
	h.Set("Content-Range", x.span.String())
	return http.StatusPartialContent
}

// copying is a piece that was read and not written yet.
type copying struct {
	src   io.Reader
	w     io.Writer
	piece []byte
	n     int
	ended bool
	err   error // of src, other than its end
}

func (c *copying) read() {
	c.n = 0
	for c.n < len(c.piece) && !c.ended && c.err == nil {
		m, err := c.src.Read(c.piece[c.n:])
		c.n += m
		// A source that breaks off may say "unexpected EOF", which is no end.
		if err == io.EOF {
			c.ended = true
		} else if err != nil {
			c.err = err
		}
	}
}

// rest writes all from here on, and what was read before a failure.
func (c *copying) rest() error {
	for {
		if _, err := c.w.Write(c.piece[:c.n]); err != nil {
			return fmt.Errorf("send bytes: %w", err)
		}
		if c.ended || c.err != nil {
			return c.err
		}
		c.read()
	}
}

// entryText is the entry for a header. What few entries have is left out when it
// is too long for one; the listing of the directory has it.
func entryText(e retake.Entry) string {
	text := headerText(e)
	if len(text) > maxHeader {
		e.Extra = nil
		text = headerText(e)
	}
	return text
}

func problemText(r *http.Request, err error) string {
	p := problemOf(err).of(r.Context())
	if text := headerText(p); len(text) <= maxHeader {
		return text
	}
	p.Cause, p.CauseRaw, p.Detail = "", nil, ""
	return headerText(p)
}

func headerText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Errorf("encode a header: %w", err)) // our own types always encode
	}
	return base64.RawURLEncoding.EncodeToString(b)
}
