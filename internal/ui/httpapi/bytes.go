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
	endOK       = "ok"

	chunkSize     = 64 << 10
	maxHeaderText = 6 << 10 // what stands between takes eight thousand bytes of headers
)

// outgoingBytes is bytes on their way. An entry, if there is one, goes ahead.
type outgoingBytes struct {
	src           io.ReadCloser
	mediaType     string
	entry         *retake.Entry
	part          *byteRange // nil: all of it
	acceptsRanges bool       // parts can be asked for
}

// streamBytes is the answer whose body is src.
func streamBytes(x outgoingBytes) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer x.src.Close() //nolint:errcheck // nothing was written
		r, w := humago.Unwrap(hc)
		c := &bodyCopier{src: x.src, w: w, buf: make([]byte, chunkSize)}
		if c.fillBuffer(); c.err != nil { // nothing is sent yet
			writeProblem(w, r, problemOf(c.err))
			return
		}
		// Who takes trailers learns why a body ended early; for others it breaks off.
		told := strings.Contains(r.Header.Get("TE"), "trailers")
		if told {
			w.Header().Set("Trailer", endTrailer)
		}
		w.WriteHeader(x.setHeaders(w.Header()))
		err := c.copyRest()
		switch {
		case err != nil && !told:
			panic(http.ErrAbortHandler)
		case err != nil:
			w.Header().Set(endTrailer, encodeProblem(r, err))
		case told:
			w.Header().Set(endTrailer, endOK)
		}
	}}
}

// setHeaders says what comes, and answers the status.
func (x *outgoingBytes) setHeaders(h http.Header) int {
	if x.entry != nil {
		h.Set(entryHeader, encodeEntry(*x.entry))
	}
	h.Set("Content-Type", x.mediaType)
	if x.acceptsRanges {
		h.Set("Accept-Ranges", "bytes")
	}
	if x.part == nil {
		return http.StatusOK
	}
	h.Set("Content-Range", x.part.String())
	return http.StatusPartialContent
}

// bodyCopier is a piece that was read and not written yet.
type bodyCopier struct {
	src   io.Reader
	w     io.Writer
	buf   []byte
	n     int
	atEOF bool
	err   error // of src, other than its end
}

func (c *bodyCopier) fillBuffer() {
	c.n = 0
	for c.n < len(c.buf) && !c.atEOF && c.err == nil {
		m, err := c.src.Read(c.buf[c.n:])
		c.n += m
		// A source that breaks off may say "unexpected EOF", which is no end.
		if err == io.EOF {
			c.atEOF = true
		} else if err != nil {
			c.err = err
		}
	}
}

// copyRest writes all from here on, and what was read before a failure.
func (c *bodyCopier) copyRest() error {
	for {
		if _, err := c.w.Write(c.buf[:c.n]); err != nil {
			return fmt.Errorf("send bytes: %w", err)
		}
		if c.atEOF || c.err != nil {
			return c.err
		}
		c.fillBuffer()
	}
}

// encodeEntry is the entry for a header. What few entries have is left out when it
// is too long for one; the listing of the directory has it.
func encodeEntry(e retake.Entry) string {
	text := encodeHeader(e)
	if len(text) > maxHeaderText {
		e.Extra = nil
		text = encodeHeader(e)
	}
	return text
}

func encodeProblem(r *http.Request, err error) string {
	p := problemOf(err).withRequestID(r.Context())
	if text := encodeHeader(p); len(text) <= maxHeaderText {
		return text
	}
	p.Cause, p.CauseRaw, p.Detail = "", nil, ""
	return encodeHeader(p)
}

func encodeHeader(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Errorf("encode a header: %w", err)) // our own types always encode
	}
	return base64.RawURLEncoding.EncodeToString(b)
}
