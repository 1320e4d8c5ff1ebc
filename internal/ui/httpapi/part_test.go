package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

// oneFile is a service with one file.
type oneFile struct {
	fakeService
	text string
	size int64 // as the entry says
}

func (o *oneFile) Open(context.Context, retake.WorkspaceID, string, string) (io.ReadCloser, retake.Entry, error) {
	size := o.size
	if size == 0 {
		size = int64(len(o.text))
	}
	return io.NopCloser(strings.NewReader(o.text)), retake.Entry{Name: "a", Kind: retake.KindFile, Size: size}, nil
}

func part(o *oneFile, query, span string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", "/v1/workspaces/ws_1/file?ref=1&path=a"+query, nil)
	if span != "" {
		r.Header.Set("Range", span)
	}
	w := httptest.NewRecorder()
	httpapi.New(o, httpapi.Options{}).ServeHTTP(w, r)
	return w
}

func TestPartsOfAFile(t *testing.T) {
	t.Parallel()
	const text = "0123456789"
	for span, want := range map[string][3]string{
		"":                             {"200", "", text},
		"bytes=0-3":                    {"206", "bytes 0-3/10", "0123"},
		"bytes=4-4":                    {"206", "bytes 4-4/10", "4"},
		"bytes=7-":                     {"206", "bytes 7-9/10", "789"},
		"bytes=-3":                     {"206", "bytes 7-9/10", "789"},
		"bytes=-99":                    {"206", "bytes 0-9/10", text},
		"bytes=8-99":                   {"206", "bytes 8-9/10", "89"},
		"bytes=10-":                    {"416", "bytes */10", ""},
		"bytes=99-100":                 {"416", "bytes */10", ""},
		"bytes=3-1":                    {"200", "", text}, // not a valid range: ignored
		"bytes=0-1,3-4":                {"200", "", text},
		"bytes=a-b":                    {"200", "", text},
		"bytes=-0":                     {"200", "", text},
		"bytes=-":                      {"200", "", text},
		"items=0-1":                    {"200", "", text},
		"bytes=0-99999999999999999999": {"200", "", text},
	} {
		w := part(&oneFile{text: text}, "", span)
		got := [3]string{fmt.Sprint(w.Code), w.Header().Get("Content-Range"), w.Body.String()}
		if w.Code == 416 {
			got[2] = ""
		} else if w.Header().Get("Accept-Ranges") != "bytes" || w.Header().Get("Retake-Entry") == "" {
			t.Errorf("%s: %v", span, w.Header())
		}
		if got != want {
			t.Errorf("%s: %v, not %v", span, got, want)
		}
	}
	if w := part(&oneFile{}, "", "bytes=0-9"); w.Code != http.StatusOK || w.Body.Len() != 0 {
		t.Errorf("a part of nothing: %d", w.Code)
	}
}

// A part that is shorter than announced never looks complete.
func TestPartThatEndsEarly(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(httpapi.New(&oneFile{text: strings.Repeat("x", 200_000), size: 300_000}, httpapi.Options{}))
	defer srv.Close()
	r, err := http.NewRequest("GET", srv.URL+"/v1/workspaces/ws_1/file?ref=1&path=a", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Range", "bytes=10-250000")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if n, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Errorf("%d bytes, and all is well", n)
	}
}

const likelySecret = "ghp_0123456789abcdefghijABCDEFGHIJ0123456789"

func TestMaskedFile(t *testing.T) {
	t.Parallel()
	text := "token " + likelySecret + "\nend\n"
	whole := part(&oneFile{text: text}, "&masked=true", "")
	if whole.Code != http.StatusOK || strings.Contains(whole.Body.String(), likelySecret) || !strings.HasSuffix(whole.Body.String(), "\nend\n") {
		t.Fatalf("%d %s", whole.Code, whole.Body)
	}
	masked := whole.Body.String()
	w := part(&oneFile{text: text}, "&masked=true", "bytes=6-11")
	if want := fmt.Sprintf("bytes 6-11/%d", len(masked)); w.Code != http.StatusPartialContent || w.Body.String() != masked[6:12] || w.Header().Get("Content-Range") != want {
		t.Errorf("%d %q %q", w.Code, w.Body, w.Header().Get("Content-Range"))
	}
	if w := part(&oneFile{text: text}, "", "bytes=6-49"); w.Body.String() != likelySecret {
		t.Errorf("without masks the bytes are others: %q", w.Body)
	}
	if w := part(&oneFile{text: text}, "&masked=true", fmt.Sprintf("bytes=%d-", len(masked))); w.Code != http.StatusRequestedRangeNotSatisfiable {
		t.Errorf("behind the masked end: %d", w.Code)
	}
}

// The beginning of a long file can be read masked, and the size of the masked whole is unknown.
func TestMaskedBeginningOfALongFile(t *testing.T) {
	t.Parallel()
	text := likelySecret + "\n" + strings.Repeat("a line of text\n", 9<<20/15)
	if w := part(&oneFile{text: text}, "&masked=true", ""); w.Code != http.StatusInsufficientStorage {
		t.Errorf("all of it: %d", w.Code)
	}
	w := part(&oneFile{text: text}, "&masked=true", "bytes=0-999")
	if w.Code != http.StatusPartialContent || w.Header().Get("Content-Range") != "bytes 0-999/*" || w.Body.Len() != 1000 || strings.Contains(w.Body.String(), likelySecret) {
		t.Errorf("%d %q, %d bytes", w.Code, w.Header().Get("Content-Range"), w.Body.Len())
	}
	if w := part(&oneFile{text: text}, "&masked=true", "bytes=9000000-9000009"); w.Code != http.StatusRequestedRangeNotSatisfiable {
		t.Errorf("what was not looked through: %d", w.Code)
	}
}

func TestClientAsksForParts(t *testing.T) {
	t.Parallel()
	c := serve(t, httpapi.New(&oneFile{text: "0123456789"}, httpapi.Options{}))
	for want, q := range map[string]client.PartQuery{
		"0123456789": {}, "345": {From: 3, Most: 3}, "789": {From: 7}, "01": {Most: 2, Masked: true},
	} {
		q.Workspace, q.Ref, q.Path = wsID, "1", "a"
		r, e, err := c.OpenPart(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		r.Close()
		if err != nil || string(got) != want || e.Size != 10 {
			t.Errorf("%+v: %q %v, entry %+v", q, got, err, e)
		}
	}
	if _, _, err := c.OpenPart(t.Context(), client.PartQuery{Workspace: wsID, Ref: "1", Path: "a", From: 10}); !retake.IsKind(err, retake.Invalid) {
		t.Errorf("behind the end: %v", err)
	}
}

// fakeConversation is a service with one conversation.
type fakeConversation struct {
	fakeService
	transcript string
}

func (k *fakeConversation) Conversation(_ context.Context, ws retake.WorkspaceID, ref string) (io.ReadCloser, retake.Conversation, error) {
	if ref != "14" || ws != wsID {
		return nil, retake.Conversation{}, errors.New("another was asked for")
	}
	return io.NopCloser(strings.NewReader(k.transcript)), retake.Conversation{Agent: "claude-code", Session: "s"}, nil
}

func TestSpoken(t *testing.T) {
	t.Parallel()
	k := &fakeConversation{transcript: `{"type":"user","sessionId":"s","uuid":"1","message":{"role":"user","content":"use ` + likelySecret + `"}}
{"type":"assistant","sessionId":"s","uuid":"2","message":{"role":"assistant","content":[{"type":"text","text":"done"}]}}
`}
	got, err := serve(t, httpapi.New(k, httpapi.Options{})).Spoken(t.Context(), wsID, "14")
	want := retake.Spoken{
		Conversation: retake.Conversation{Agent: "claude-code", Session: "s", Segments: []retake.Segment{}},
		Lines:        []retake.SpokenLine{{Who: "you", Text: "use [masked: github token]"}, {Who: "agent", Text: "done"}},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

// A client with a key learns its permissions; a client without one learns nothing.
func TestAboutTellsOfTheKey(t *testing.T) {
	t.Parallel()
	h := httpapi.New(&fakeService{}, httpapi.Options{About: func() retake.About { return retake.About{Version: "1", Namespace: "main"} }})
	ask := func(ctx context.Context) (a retake.About, raw string) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/v1/about", nil).WithContext(ctx))
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		return a, w.Body.String()
	}
	key := retake.Key{ID: "key_1", Kind: retake.KeyReader, Name: "mine", Tail: "abcd"}
	got, raw := ask(httpapi.WithKey(t.Context(), key))
	want := &retake.AboutKey{Kind: retake.KeyReader, Name: "mine", Workspaces: []string{}}
	if d := cmp.Diff(want, got.Key); d != "" || !cmp.Equal(got.Powers, retake.KeyReader.Powers()) || !strings.Contains(raw, `"workspaces":[]`) {
		t.Errorf("%s %s", raw, d)
	}
	if got, raw := ask(t.Context()); got.Key != nil || got.Powers != nil {
		t.Errorf("without a key: %s", raw)
	}
}

// A daemon has no office and still has events.
func TestNewsWithoutAnOffice(t *testing.T) {
	t.Parallel()
	w := newEventLog(4)
	h := httpapi.New(&fakeService{}, httpapi.Options{Events: &fakeService{events: w.events}})
	c := serve(t, h)
	got, err := c.Events(t.Context(), retake.EventQuery{After: 2, Limit: 5})
	if err != nil || len(got) != 2 || got[0].Seq != 3 {
		t.Errorf("%v %v", got, err)
	}
	if got, err = c.Events(t.Context(), retake.EventQuery{Newest: true}); err != nil || len(got) != 1 || got[0].Seq != 4 {
		t.Errorf("the newest: %v %v", got, err)
	}
	for target, want := range map[string]int{"/v1/events?after=latest": 200, "/v1/events?after=soon": 422} {
		r := httptest.NewRecorder()
		h.ServeHTTP(r, httptest.NewRequest("GET", target, nil))
		if r.Code != want || want == 200 && !strings.Contains(r.Body.String(), `"data":[]`) {
			t.Errorf("%s: %d %s", target, r.Code, r.Body)
		}
	}
	if _, err := c.Usage(t.Context()); !retake.IsKind(err, retake.NotFound) {
		t.Errorf("what only an office has: %v", err)
	}
}
