//go:build linux

package main

import (
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"strings"
)

// Just enough of HTTP/2 to be a bad client: frames are written by hand, since a library would not
// leave a window closed.

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

const (
	frameHeaders  = 1
	frameSettings = 4
	framePing     = 6

	flagEndStream  = 1
	flagEndHeaders = 4

	settingWindow = 4 // bytes that the server may send on a stream

	manyStreams = 100
)

func frame(typ, flags byte, stream uint32, payload string) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(typ))
	b = binary.BigEndian.AppendUint32(append(b, flags), stream)
	return string(b) + payload
}

// settings opens a connection, with a window for answers.
func settings(window uint32) string {
	b := binary.BigEndian.AppendUint16(nil, settingWindow)
	return preface + frame(frameSettings, 0, 0, string(binary.BigEndian.AppendUint32(b, window)))
}

// field is a literal header field that is not indexed, in the plain form of HPACK.
func field(name, value string) string {
	return "\x00" + text(name) + text(value)
}

// text is a string of HPACK, at most some hundred bytes long.
func text(s string) string {
	if len(s) < 127 {
		return string([]byte{byte(len(s))}) + s
	}
	return string([]byte{127, byte(len(s) - 127)}) + s
}

// headers begins a request on a stream.
func (l *line) headers(stream uint32, flags byte, method, path string, more ...string) string {
	all := field(":method", method) + field(":scheme", "https") + field(":authority", "siege") + field(":path", path)
	if l.keyed {
		all += field("authorization", "Bearer "+l.target.key)
	}
	return frame(frameHeaders, flags|flagEndHeaders, stream, all+strings.Join(more, ""))
}

// playPings has no stream, and asks each second whether the server is there.
func playPings(ctx context.Context, l *line) error {
	if _, err := io.WriteString(l.Conn, settings(1<<16)); err != nil {
		return err
	}
	return l.drip(ctx, frame(framePing, 0, 0, "12345678"))
}

// playStreams begins many requests whose bodies never arrive.
func playStreams(ctx context.Context, l *line) error {
	all := settings(1 << 16)
	for i := range manyStreams {
		all += l.headers(uint32(2*i+1), 0, http.MethodPost, l.target.post, field("content-type", "application/json"), field("content-length", "100000"))
	}
	if _, err := io.WriteString(l.Conn, all); err != nil {
		return err
	}
	return l.drip(ctx, frame(framePing, 0, 0, "12345678"))
}

// playNoWindow sends many requests whose answers have no room.
func playNoWindow(ctx context.Context, l *line) error {
	all := settings(0)
	for i := range manyStreams {
		all += l.headers(uint32(2*i+1), flagEndStream, http.MethodGet, "/v1/about")
	}
	if _, err := io.WriteString(l.Conn, all); err != nil {
		return err
	}
	return l.drip(ctx, frame(framePing, 0, 0, "12345678"))
}
