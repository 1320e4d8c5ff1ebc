package httpapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

const (
	bytesType   = "application/octet-stream"
	entryHeader = wire.EntryHeader
	endTrailer  = wire.EndTrailer
	endOK       = wire.EndOK

	chunkSize     = 64 << 10
	maxHeaderText = 6 << 10 // proxies commonly limit headers to 8000 bytes
)

// outgoingBytes is a body that is about to be sent. An entry is sent in a header.
type outgoingBytes struct {
	src           io.ReadCloser
	mediaType     string
	entry         *retake.Entry
	part          *byteRange // nil: the whole file
	acceptsRanges bool       // clients may send a Range
}

// streamBytes returns a response whose body is read from x.src. An error before the first byte
// becomes a problem.
func streamBytes(x outgoingBytes) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer x.src.Close() //nolint:errcheck // nothing was written
		r, w := humago.Unwrap(hc)
		c := &bodyCopier{ctx: r.Context(), src: x.src, w: w, buf: make([]byte, chunkSize)}
		if c.fillBuffer(); c.err != nil { // nothing was sent yet
			writeProblem(w, r, problemOf(c.err))
			return
		}
		// A client that accepts trailers gets the reason why a body ended early. For other
		// clients the connection is aborted.
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

// setHeaders sets the headers of the body and returns the status.
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

// bodyCopier copies a body. It reads ahead by one buffer, so that the caller can see an error
// before anything is sent.
type bodyCopier struct {
	ctx   context.Context // ends when the client's key is revoked
	src   io.Reader
	w     io.Writer
	buf   []byte
	n     int
	atEOF bool
	err   error // an error of src other than io.EOF
}

// fillBuffer reads until the buffer is full, src ends or fails.
func (c *bodyCopier) fillBuffer() {
	c.n = 0
	for c.n < len(c.buf) && !c.atEOF && c.err == nil {
		m, err := c.src.Read(c.buf[c.n:])
		c.n += m
		// Compared exactly: io.ErrUnexpectedEOF means that the source was cut short.
		if err == io.EOF {
			c.atEOF = true
		} else if err != nil {
			c.err = err
		}
	}
}

// copyRest writes the buffer and all that follows. What was read before an error is written,
// too.
func (c *bodyCopier) copyRest() error {
	for {
		if _, err := c.w.Write(c.buf[:c.n]); err != nil {
			return fmt.Errorf("send bytes: %w", err)
		}
		if c.atEOF || c.err != nil {
			return c.err
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
		c.fillBuffer()
	}
}

// encodeEntry encodes an entry for a header. If it is too long, the rarely used Extra is left
// out; clients find it in the listing of the directory.
func encodeEntry(e retake.Entry) string {
	text := encodeHeader(e)
	if len(text) > maxHeaderText {
		e.Extra = nil
		text = encodeHeader(e)
	}
	return text
}

// encodeProblem encodes a problem for a trailer. If it is too long, the cause is left out.
func encodeProblem(r *http.Request, err error) string {
	p := problemOf(err).forCaller(r.Context())
	if text := encodeHeader(p); len(text) <= maxHeaderText {
		return text
	}
	p.Cause, p.CauseRaw, p.Detail = "", nil, ""
	return encodeHeader(p)
}

// encodeHeader encodes a value as JSON in base64url, which is safe in a header.
func encodeHeader(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Errorf("encode a header: %w", err)) // our own types always encode
	}
	return base64.RawURLEncoding.EncodeToString(b)
}
