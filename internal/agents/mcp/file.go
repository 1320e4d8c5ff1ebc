package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

const (
	maxPageSize     = 32 << 10
	defaultPageSize = 8 << 10
)

var showFileTool = toolSpec{
	name:        "show_file",
	description: "Show a part of a file as it was at a checkpoint. Secrets and hidden characters are masked; restore brings back the bytes.",
	input: objectSchema([]string{"ref", "path"}, schemaFields{
		"ref": refField(refDescription + "; or now"), "path": stringSchema("", maxPath),
		"offset": map[string]any{"type": "integer", "description": "first byte", "minimum": 0},
		"limit":  integerSchema("bytes", 1, maxPageSize, defaultPageSize),
	}),
	hints: toolHints{readOnly: true, idempotent: true},
}

type showFileIn struct {
	Ref    string `json:"ref"`
	Path   string `json:"path"`
	Offset int64  `json:"offset"`
	Limit  int    `json:"limit"`
}

type showFileOut struct {
	Path   string      `json:"path"`
	Kind   retake.Kind `json:"kind"`
	Size   int64       `json:"size"`
	Mode   string      `json:"mode"`
	Offset int64       `json:"offset"`
	Bytes  int64       `json:"bytes" jsonschema:"how many bytes of the file this is"`
	Next   int64       `json:"next,omitempty" jsonschema:"there is more: ask again with offset set to this"`
	Binary bool        `json:"binary,omitempty" jsonschema:"it is no text, and not shown"`
	Exact  bool        `json:"exact" jsonschema:"the text is what the file holds, with nothing shown in another form"`
	Text   string      `json:"text"`
	answerNote
}

// handleShowFile returns a page of a file, masked and escaped.
func (f *toolServer) handleShowFile(ctx context.Context, ws retake.Workspace, in showFileIn) (showFileOut, error) {
	path, err := workspacePath(ws, in.Path)
	if err != nil {
		return showFileOut{}, err
	}
	r, e, err := f.Open(ctx, ws.ID, in.Ref, path)
	if err != nil {
		return showFileOut{}, err
	}
	raw := ""
	if in.Offset < e.Size {
		raw, err = readWindow(r, in.Offset, in.Limit)
	}
	if shut := r.Close(); err == nil {
		err = shut
	}
	if err != nil {
		return showFileOut{}, &retake.Error{Kind: retake.AsError(err).Kind, What: "the file cannot be read", Safe: nothingChanged, Err: err}
	}
	out := showFileOut{Path: safeWord(path, maxName), Kind: e.Kind, Size: e.Size, Mode: fmt.Sprintf("%04o", e.Mode), Offset: in.Offset}
	part := fitPage(raw, in.Limit)
	if out.Binary = termtext.IsBinary(raw); out.Binary {
		part = raw
	} else {
		out.Text = safeBlock(part)
		out.Exact = out.Text == part
	}
	out.Bytes = int64(len(part))
	if end := in.Offset + out.Bytes; out.Bytes > 0 && end < e.Size {
		out.Next = end
	}
	return out, nil
}

// readWindow reads a part of a file.
func readWindow(r io.Reader, offset int64, limit int) (string, error) {
	if s, ok := r.(io.Seeker); ok && offset > 0 {
		if _, err := s.Seek(offset, io.SeekStart); err != nil {
			return "", fmt.Errorf("seek file: %w", err)
		}
	} else if _, err := io.CopyN(io.Discard, r, offset); err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("skip bytes: %w", err)
	}
	var b strings.Builder
	if _, err := io.Copy(&b, io.LimitReader(r, int64(limit))); err != nil {
		return "", fmt.Errorf("read bytes: %w", err)
	}
	return b.String(), nil
}

// fitPage returns as much of a window as fits in its escaped form. It ends at a line if
// possible, so that the next page begins with one, and a secret is rarely cut in two.
func fitPage(raw string, limit int) string {
	for full := len(raw) == limit; ; full = true {
		if full {
			raw = cutAtLine(raw)
		}
		if len(raw) <= 1 || len(escapeLines(raw)) <= limit {
			return raw
		}
		raw = raw[:len(raw)/2]
	}
}

func cutAtLine(s string) string {
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		return s[:i+1]
	}
	return trimPartialRune(s)
}

// trimPartialRune drops an incomplete character at the end.
func trimPartialRune(s string) string {
	for i := len(s) - 1; i > 0 && i >= len(s)-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if !utf8.FullRuneInString(s[i:]) {
				return s[:i]
			}
			break
		}
	}
	return s
}

func (o showFileOut) text(*toolServer) string {
	head := fmt.Sprintf("%s, %s, mode %s, %s bytes", quoteWord(o.Path), o.Kind, o.Mode, termtext.Count(o.Size))
	switch {
	case o.Binary:
		return head + "; no text"
	case o.Bytes == 0:
		return head + "; nothing there"
	}
	head += fmt.Sprintf("; bytes %d to %d", o.Offset, o.Offset+o.Bytes)
	if o.Next > 0 {
		head += fmt.Sprintf(", more at offset %d", o.Next)
	}
	if !o.Exact {
		head += "; some of it in another form"
	}
	return head + "\n" + barLines(o.Text)
}
