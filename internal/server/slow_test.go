package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
)

// A request that is refused does not wait for its body, with and without a key.
func TestARefusedRequestEndsItsConnection(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	for _, key := range []string{"", "rtk_agent_no", b.keySecret(retake.KeyReader)} {
		c, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
		must(t, err)
		fmt.Fprintf(c, "POST /v1/keys HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{", key)
		must(t, c.SetReadDeadline(time.Now().Add(20*time.Second)))
		in := bufio.NewReader(c)
		res, err := http.ReadResponse(in, nil)
		must(t, err)
		if res.StatusCode != http.StatusUnauthorized && res.StatusCode != http.StatusForbidden {
			t.Errorf("%q: %s", key, res.Status)
		}
		_, err = io.Copy(io.Discard, res.Body)
		must(t, errors.Join(err, res.Body.Close()))
		if _, err := in.ReadByte(); err == nil || strings.Contains(err.Error(), "timeout") {
			t.Errorf("%q: the connection stays: %v", key, err)
		}
		must(t, c.Close())
	}
}

// An event stream ends when its key is revoked.
func TestARevokedKeyEndsItsStream(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	admin := b.clientAs(retake.KeyAdmin)
	made, err := admin.MakeKey(t.Context(), retake.KeyRequest{Kind: retake.KeyAgent, Name: "short"})
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+"/v1/events", nil)
	must(t, err)
	req.Header.Set("Authorization", "Bearer "+made.Secret)
	req.Header.Set("Accept", "text/event-stream")
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	defer res.Body.Close()
	if _, err := admin.RevokeKey(t.Context(), made.Key.ID); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body) // ends as a stream does, or in the middle
	if ctx.Err() != nil {
		t.Error("the stream goes on")
	}
}
