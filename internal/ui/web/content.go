package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// ContentPrefix is the prefix of image URLs: /console/content/{ws}/{ref}/{path…}.
const ContentPrefix = "/console/content/"

const (
	// sandboxed is the policy of bytes from a workspace. They have an opaque origin, even when
	// they are opened directly, and may load nothing.
	sandboxed = "sandbox; default-src 'none'"

	maxImageSize = 20 << 20
	sniffSize    = 64 // bytes that identify a format

	unchanged = "Nothing was changed."
)

// Opener opens a file of a checkpoint.
type Opener interface {
	Open(ctx context.Context, ws retake.WorkspaceID, ref, path string) (io.ReadCloser, retake.Entry, error)
}

// ProblemWriter answers a request with err. A status other than 0 replaces the one of the
// error's kind.
type ProblemWriter func(w http.ResponseWriter, r *http.Request, err error, status int)

// ContentHandler serves images of a workspace and passes other requests to next. Requests must
// be authenticated before.
func ContentHandler(next http.Handler, s Opener, problem ProblemWriter) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, ContentPrefix) {
			next.ServeHTTP(w, r)
			return
		}
		setSecurityHeaders(w.Header(), sandboxed)
		w.Header().Set("Cache-Control", "no-store")
		if err := serveImage(s, w, r); err != nil {
			var no *statusError
			if errors.As(err, &no) {
				problem(w, r, no.err, no.status)
				return
			}
			problem(w, r, err, 0)
		}
	})
}

// statusError is an error with an HTTP status.
type statusError struct {
	status int
	err    error
}

func (r *statusError) Error() string { return r.err.Error() }

func newStatusError(status int, kind retake.ErrorKind, what, hint string) error {
	return &statusError{status, &retake.Error{Kind: kind, What: what, Safe: unchanged, Hint: hint}}
}

// serveImage serves one image. It returns an error only if nothing was sent yet.
func serveImage(s Opener, w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return newStatusError(http.StatusMethodNotAllowed, retake.Invalid, "pictures are only looked at", "")
	}
	if !isAllowedUse(r.Header.Get("Sec-Fetch-Dest")) {
		return newStatusError(http.StatusForbidden, retake.Denied, "a file of a workspace is shown as a picture and used for nothing else", "")
	}
	ws, ref, path, ok := parseContentPath(r.URL)
	if !ok {
		return newStatusError(http.StatusNotFound, retake.NotFound, "there is nothing at this address", "")
	}
	src, e, err := s.Open(r.Context(), ws, ref, path)
	if err != nil {
		return err
	}
	defer src.Close() //nolint:errcheck // only read
	if e.Size > maxImageSize {
		return newStatusError(http.StatusRequestEntityTooLarge, retake.Limit, fmt.Sprintf("the picture has more than %d MiB", maxImageSize>>20), "read it as a file")
	}
	head, err := io.ReadAll(io.LimitReader(src, sniffSize))
	if err != nil {
		return err
	}
	kind := imageType(head)
	if e.Kind != retake.KindFile || kind == "" {
		return newStatusError(http.StatusUnsupportedMediaType, retake.Invalid, "this is no picture that is shown here", "png, jpeg, gif, webp and avif are; anything else is read as text")
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", "inline")
	if r.Method == http.MethodHead {
		return nil
	}
	copyImage(w, head, src)
	return nil
}

// copyImage sends an image. If reading fails, or the file has grown beyond the limit, the
// connection is aborted, so that the image does not look complete.
func copyImage(w http.ResponseWriter, head []byte, rest io.Reader) {
	n, err := io.Copy(w, io.MultiReader(bytes.NewReader(head), io.LimitReader(rest, maxImageSize-int64(len(head))+1)))
	if err != nil || n > maxImageSize {
		panic(http.ErrAbortHandler)
	}
}

// isAllowedUse reports whether a browser may use an image as it says: in an img element, opened
// directly, or fetched by the page. A file that is both an image and a script must not run.
func isAllowedUse(use string) bool {
	return slices.Contains([]string{"", "image", "document", "empty"}, use)
}

// parseContentPath returns the parts of an image URL. Each part is percent-encoded by itself and
// keeps its bytes.
func parseContentPath(u *url.URL) (retake.WorkspaceID, string, string, bool) {
	rest, ok := strings.CutPrefix(u.EscapedPath(), ContentPrefix)
	parts := strings.SplitN(rest, "/", 3)
	if !ok || len(parts) != 3 {
		return "", "", "", false
	}
	for i := range parts {
		text, err := url.PathUnescape(parts[i])
		if err != nil || text == "" {
			return "", "", "", false
		}
		parts[i] = text
	}
	return retake.WorkspaceID(parts[0]), parts[1], parts[2], true
}

// imageType returns the media type of an image by its first bytes, or "" if it is not supported.
func imageType(head []byte) string {
	at := func(i int, text string) bool {
		return len(head) >= i+len(text) && string(head[i:i+len(text)]) == text
	}
	switch {
	case at(0, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case at(0, "\xff\xd8\xff"):
		return "image/jpeg"
	case at(0, "GIF87a"), at(0, "GIF89a"):
		return "image/gif"
	case at(0, "RIFF") && at(8, "WEBPVP8"):
		return "image/webp"
	case at(4, "ftypavif"), at(4, "ftypavis"):
		return "image/avif"
	}
	return ""
}
