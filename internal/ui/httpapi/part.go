package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/secrets"
)

const (
	// maxMaskedSize is how much of a file is searched for secrets. Of a longer file only the
	// beginning can be read masked.
	maxMaskedSize = 8 << 20
	// maskMargin is left out at the end of such a beginning: a secret that is cut in two there
	// would not be recognized.
	maskMargin = 64 << 10
)

type fileQuery struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Ref       string             `query:"ref" doc:"Which checkpoint: a number such as 14, a time such as 10:27 or 2h, latest, start, good, an ID, or a pin."`
	Path      string             `query:"path" doc:"The path, relative to the workspace's root."`
	Masked    bool               `query:"masked" doc:"If true, likely secrets are masked. In a file above 8 MiB, only a part near the start can be read this way, with Range."`
	Range     string             `header:"Range" doc:"The part to return, such as bytes=0-65535. With masked it counts the masked text. Several parts or other units are ignored."`
}

// filePart is a file, or a part of it, to be sent.
type filePart struct {
	io.ReadCloser
	entry     retake.Entry
	byteRange *byteRange // nil: the whole file
}

// byteRange is a range of bytes, both ends included. total is -1 if it is not known.
type byteRange struct{ from, to, total int64 }

func (s *byteRange) String() string {
	whole := "*"
	if s.total >= 0 {
		whole = strconv.FormatInt(s.total, 10)
	}
	return fmt.Sprintf("bytes %d-%d/%s", s.from, s.to, whole)
}

// rangeError is a range beyond the end of a file.
type rangeError struct{ total int64 }

func (o *rangeError) Error() string { return "the range is past the end of the file" }

// registerFile registers the route that reads a file, or a part of it.
func (a *api) registerFile() {
	o := newOperation(http.MethodGet, "/v1/workspaces/{ws}/file", "file", "Read a file of a checkpoint")
	whole := bytesResponse(bytesType, true)
	part := bytesResponse(bytesType, true)
	part.Description = "The part that you asked for. " + part.Description
	part.Headers["Content-Range"] = textHeader("The part, and the size of the whole. The size is * for a masked file above 8 MiB.")
	trouble := &huma.Response{Description: "Error", Content: map[string]*huma.MediaType{
		problemType: {Schema: a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[problem](), true, "")},
	}}
	o.Responses = map[string]*huma.Response{"200": whole, "206": part, "default": trouble}
	huma.Register(a.huma, o, func(ctx context.Context, in *fileQuery) (*huma.StreamResponse, error) {
		p, err := recoverPanic(a, func() (filePart, error) { return a.openFilePart(ctx, in) })
		var out *rangeError
		if errors.As(err, &out) {
			return rangeNotSatisfiable(out.total), nil
		}
		if err != nil {
			return nil, problemOf(err)
		}
		return streamBytes(outgoingBytes{src: p.ReadCloser, mediaType: bytesType, entry: &p.entry, part: p.byteRange, acceptsRanges: true}), nil
	})
}

// rangeNotSatisfiable refuses a range and returns the size of the file.
func rangeNotSatisfiable(whole int64) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		r, w := humago.Unwrap(hc)
		w.Header().Set("Content-Range", "bytes */"+strconv.FormatInt(whole, 10))
		writeProblem(w, r, requestProblem(http.StatusRequestedRangeNotSatisfiable, "the range is past the end of the file"))
	}}
}

// openFilePart opens the file and selects the requested part.
func (a *api) openFilePart(ctx context.Context, in *fileQuery) (filePart, error) {
	src, e, err := a.Open(ctx, in.Workspace, in.Ref, in.Path)
	if err != nil {
		return filePart{}, err
	}
	p, err := selectPart(src, e, in)
	if err != nil {
		_ = src.Close() // only read
	}
	return p, err
}

// selectPart returns the requested part of a file.
func selectPart(src io.ReadCloser, e retake.Entry, in *fileQuery) (filePart, error) {
	if in.Masked {
		return maskedPart(src, e, in.Range)
	}
	s, err := parseRange(in.Range, e.Size)
	if err != nil || s == nil {
		return filePart{ReadCloser: src, entry: e}, err
	}
	if err := skipBytes(src, s.from); err != nil {
		return filePart{}, err
	}
	return filePart{ReadCloser: &exactReader{src, s.to - s.from + 1}, entry: e, byteRange: s}, nil
}

// maskedPart reads a file, or the beginning of a long one, and masks likely secrets. The result
// is the same each time, so that parts from several requests fit together.
func maskedPart(src io.ReadCloser, e retake.Entry, asked string) (filePart, error) {
	b, err := io.ReadAll(io.LimitReader(src, maxMaskedSize+1))
	if err != nil {
		return filePart{}, err
	}
	cut := len(b) > maxMaskedSize
	text, _ := secrets.Mask(string(b))
	if cut {
		text = text[:max(len(text)-maskMargin, 0)]
	}
	s, err := parseRange(asked, int64(len(text)))
	switch {
	case err != nil:
		return filePart{}, err
	case s == nil && cut:
		return filePart{}, &retake.Error{Kind: retake.Limit, What: "the file is too long to be looked through for secrets", Safe: unchanged, Hint: "ask for a part of its beginning, or for the bytes as they are"}
	case s == nil:
		return filePart{ReadCloser: readAndClose{strings.NewReader(text), src}, entry: e}, nil
	case cut:
		s.total = -1
	}
	return filePart{ReadCloser: readAndClose{strings.NewReader(text[s.from : s.to+1]), src}, entry: e, byteRange: s}, nil
}

// readAndClose reads from one source and closes another.
type readAndClose struct {
	io.Reader
	io.Closer
}

// parseRange parses a Range header. It returns nil if the whole file is to be sent, which
// includes ranges that are not supported (RFC 9110, 14.2).
func parseRange(asked string, whole int64) (*byteRange, error) {
	text, ok := strings.CutPrefix(asked, "bytes=")
	first, last, dash := strings.Cut(strings.TrimSpace(text), "-")
	if !ok || !dash || whole == 0 { // an empty file is sent whole
		return nil, nil
	}
	from, ferr := strconv.ParseUint(first, 10, 62)
	to, terr := strconv.ParseUint(last, 10, 62)
	s := &byteRange{int64(from), whole - 1, whole}
	switch {
	case first == "" && terr == nil && to > 0: // the last bytes of the file
		s.from = max(whole-int64(to), 0)
	case ferr != nil || last != "" && (terr != nil || to < from):
		return nil, nil
	case last != "":
		s.to = min(int64(to), whole-1)
	}
	if s.from >= whole {
		return nil, &rangeError{whole}
	}
	return s, nil
}

// skipBytes seeks if src can, otherwise it reads and discards.
func skipBytes(src io.Reader, n int64) error {
	if at, ok := src.(io.Seeker); ok {
		_, err := at.Seek(n, io.SeekStart)
		return err
	}
	_, err := io.CopyN(io.Discard, src, n)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// exactReader reads an exact number of bytes. If there are fewer, the end is an error, because
// more were announced.
type exactReader struct {
	io.ReadCloser
	remaining int64
}

func (e *exactReader) Read(p []byte) (int, error) {
	if e.remaining <= 0 {
		return 0, io.EOF
	}
	if int64(len(p)) > e.remaining {
		p = p[:e.remaining]
	}
	n, err := e.ReadCloser.Read(p)
	e.remaining -= int64(n)
	if err == io.EOF && e.remaining > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
