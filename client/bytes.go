package client

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// Open streams a file of a checkpoint.
func (c *Client) Open(ctx context.Context, ws retake.WorkspaceID, ref, path string) (io.ReadCloser, retake.Entry, error) {
	return c.OpenPart(ctx, PartQuery{Workspace: ws, Ref: ref, Path: path})
}

// PartQuery selects a part of a file: it begins at From and has at most Most bytes, if that is
// not 0. Masked masks likely secrets; From and Most then count in the masked text.
type PartQuery struct {
	Workspace  retake.WorkspaceID
	Ref, Path  string
	From, Most int64
	Masked     bool
}

// rangeHeader returns the Range header, or "" for the whole file.
func (q *PartQuery) rangeHeader() string {
	switch {
	case q.Most > 0:
		return fmt.Sprintf("bytes=%d-%d", q.From, q.From+q.Most-1)
	case q.From > 0:
		return fmt.Sprintf("bytes=%d-", q.From)
	}
	return ""
}

// OpenPart streams a part of a file. A part beyond the end is an Invalid error.
func (c *Client) OpenPart(ctx context.Context, q PartQuery) (io.ReadCloser, retake.Entry, error) {
	var e retake.Entry
	v := url.Values{"ref": {q.Ref}, "path": {q.Path}}
	if q.Masked {
		v.Set("masked", "true")
	}
	a := newGet(v, "workspaces", string(q.Workspace), "file")
	a.byteRange = q.rangeHeader()
	b, err := c.conn.openBytes(ctx, a)
	if err != nil {
		return nil, e, err
	}
	text, err := base64.RawURLEncoding.DecodeString(b.response.Header.Get(wire.EntryHeader))
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil {
		_ = b.Close() // only read
		return nil, e, badResponse(err)
	}
	return b, e, nil
}

// Bytes streams a stored object.
func (c *Client) Bytes(ctx context.Context, id retake.ObjectID) (io.ReadCloser, error) {
	b, err := c.conn.openBytes(ctx, newGet(nil, "objects", string(id)))
	if err != nil {
		return nil, err
	}
	return b, nil
}

// openBytes sends a request and returns the response with its body not read.
func (c *conn) openBytes(ctx context.Context, a *apiRequest) (*responseBody, error) {
	a.wantsBytes = true
	b := &responseBody{ctx: ctx}
	err := c.send(ctx, a, func(r *http.Response) error {
		b.response = r
		return nil
	})
	return b, err
}

// responseBody is a body that counts as complete only if the trailer says so.
type responseBody struct {
	ctx      context.Context
	response *http.Response
}

func (b *responseBody) Read(p []byte) (int, error) {
	n, err := b.response.Body.Read(p)
	switch {
	case err == nil:
		return n, nil
	case err == io.EOF:
		return n, b.checkEnd()
	case b.ctx.Err() != nil:
		return n, &retake.Error{Kind: retake.Canceled, What: "stopped", Safe: unchanged, Err: b.ctx.Err()}
	}
	return n, interruptedError(err)
}

func (b *responseBody) Close() error { return b.response.Body.Close() }

// checkEnd returns io.EOF if the body is complete, or why it is not.
func (b *responseBody) checkEnd() error {
	_, promised := b.response.Trailer[wire.EndTrailer]
	switch text := b.response.Trailer.Get(wire.EndTrailer); {
	case !promised || text == wire.EndOK:
		return io.EOF
	case text == "":
		return interruptedError(io.ErrUnexpectedEOF)
	default:
		data, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			return badResponse(err)
		}
		return stripInternalKind(parseProblem(data))
	}
}

// stripInternalKind returns an error that had no kind at the service without one, so that the
// caller can add what it was reading.
func stripInternalKind(err error) error {
	var e *retake.Error
	if errors.As(err, &e) && e.Kind == retake.Internal && e.Safe == "" && e.Hint == "" && e.Err == nil {
		return errors.New(e.What)
	}
	return err
}

func interruptedError(err error) error {
	return &retake.Error{Kind: retake.Away, What: "the bytes broke off", Safe: unchanged, Hint: "try again", Err: err}
}
