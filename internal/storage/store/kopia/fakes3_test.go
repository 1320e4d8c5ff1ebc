package kopia_test

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
)

// fakeS3 is an object store in memory that speaks just as much S3 as the client does. It
// checks no signatures.
type fakeS3 struct {
	*httptest.Server
	now  func() time.Time // stamps objects
	page int              // how many a list answers at once

	mu      sync.Mutex
	objects map[string]object
	counts  map[string]int
	before  func(w http.ResponseWriter, r *http.Request, key string, body []byte) (done bool)
}

type object struct {
	data []byte
	at   time.Time
}

func newFakeS3(t *testing.T) *fakeS3 {
	f := &fakeS3{now: clock.Wall.Now, page: 1000, objects: map[string]object{}, counts: map[string]int{}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *fakeS3) bucket(prefix string) *kopia.Bucket {
	return &kopia.Bucket{Endpoint: f.Listener.Addr().String(), Name: "yard", Prefix: prefix, AccessKey: "some", SecretKey: "secret", Insecure: true}
}

// intercept sets who sees a request first; nil: nobody.
func (f *fakeS3) intercept(h func(w http.ResponseWriter, r *http.Request, key string, body []byte) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before = h
}

// requestCounts returns the requests so far, and counts anew.
func (f *fakeS3) requestCounts() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	old := f.counts
	f.counts = map[string]int{}
	return old
}

func (f *fakeS3) keys(prefix string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for k := range f.objects {
		if strings.HasPrefix(k, prefix) {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

func (f *fakeS3) put(key string, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.objects[key] = object{data, f.now().UTC().Truncate(time.Second)}
}

// change replaces the bytes of an object; nil removes it.
func (f *fakeS3) change(key string, to func([]byte) []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.objects[key]
	if o.data = to(bytes.Clone(o.data)); o.data == nil {
		delete(f.objects, key)
		return
	}
	f.objects[key] = o
}

func (f *fakeS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := strings.TrimPrefix(r.URL.Path, "/yard/")
	verb := r.Method
	if key == "" {
		verb = "LIST"
	}
	body, err := payload(r)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	f.mu.Lock()
	f.counts[verb]++
	h := f.before
	f.mu.Unlock()
	if h != nil && h(w, r, key, body) {
		return
	}
	switch verb {
	case "LIST":
		f.answerList(w, r)
	case http.MethodPut:
		f.put(key, body)
		w.Header().Set("ETag", etag(body))
	case http.MethodDelete:
		f.change(key, func([]byte) []byte { return nil })
		w.WriteHeader(http.StatusNoContent)
	default:
		f.answerGet(w, r, key)
	}
}

func etag(b []byte) string {
	sum := md5.Sum(b)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

// payload reads a body, which comes in signed chunks when the way is not encrypted.
func payload(r *http.Request) ([]byte, error) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return io.ReadAll(r.Body)
	}
	var out bytes.Buffer
	in := bufio.NewReader(r.Body)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		length, _, _ := strings.Cut(line, ";")
		n, err := strconv.ParseInt(length, 16, 64)
		if err != nil || n == 0 {
			return out.Bytes(), err
		}
		if _, err := io.CopyN(&out, in, n); err != nil {
			return nil, err
		}
		if _, err := in.Discard(2); err != nil {
			return nil, err
		}
	}
}

func (f *fakeS3) answerGet(w http.ResponseWriter, r *http.Request, key string) {
	f.mu.Lock()
	o, ok := f.objects[key]
	f.mu.Unlock()
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "<Error><Code>NoSuchKey</Code></Error>")
		return
	}
	w.Header().Set("ETag", etag(o.data))
	http.ServeContent(w, r, "", o.at, bytes.NewReader(o.data))
}

type listAnswer struct {
	XMLName               xml.Name `xml:"ListBucketResult"`
	IsTruncated           bool
	NextContinuationToken string `xml:",omitempty"`
	Contents              []listed
	CommonPrefixes        []prefixed
}

type listed struct {
	Key, LastModified, ETag string
	Size                    int
}

type prefixed struct{ Prefix string }

func (f *fakeS3) answerList(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	q := r.URL.Query()
	prefix, after := q.Get("prefix"), q.Get("continuation-token")
	var a listAnswer
	dirs := map[string]bool{}
	for _, k := range slices.Sorted(maps.Keys(f.objects)) {
		rest, ok := strings.CutPrefix(k, prefix)
		if !ok || k <= after {
			continue
		}
		if dir, _, deep := strings.Cut(rest, "/"); deep {
			if !dirs[dir] {
				a.CommonPrefixes = append(a.CommonPrefixes, prefixed{prefix + dir + "/"})
			}
			dirs[dir] = true
			continue
		}
		if len(a.Contents) == f.page {
			a.IsTruncated, a.NextContinuationToken = true, a.Contents[f.page-1].Key
			break
		}
		o := f.objects[k]
		a.Contents = append(a.Contents, listed{k, o.at.Format(time.RFC3339), etag(o.data), len(o.data)})
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(a) // the client would tell
}
