package places_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/storage/store/replica/places"
)

// A server that ignores conditions is not one that refuses to replace. The real one is in test/real.
func TestABucketThatIgnoresConditions(t *testing.T) {
	t.Parallel()
	puts := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch {
		case r.Method == http.MethodPut:
			puts++
			w.Header().Set("ETag", `"1"`)
		case r.URL.Query().Has("versioning"):
			_, _ = io.WriteString(w, "<VersioningConfiguration></VersioningConfiguration>")
		default:
			w.WriteHeader(http.StatusNotImplemented)
		}
	}))
	defer s.Close()
	p, err := places.OpenS3(places.S3{Endpoint: strings.TrimPrefix(s.URL, "http://"), Bucket: "things", AccessKey: "a", SecretKey: "b", Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	traits, err := p.Traits(t.Context())
	if err != nil || traits.Refuses || puts != 2 {
		t.Errorf("%+v after %d puts: %v", traits, puts, err)
	}
}

// Keys that may only write are enough, as the manual recommends: nothing is promised then.
func TestKeysThatMayOnlyWrite(t *testing.T) {
	t.Parallel()
	puts := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Method != http.MethodPut {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<Error><Code>AccessDenied</Code></Error>")
			return
		}
		if puts++; puts > 1 {
			w.WriteHeader(http.StatusPreconditionFailed)
		}
	}))
	defer s.Close()
	p, err := places.OpenS3(places.S3{Endpoint: strings.TrimPrefix(s.URL, "http://"), Bucket: "things", AccessKey: "a", SecretKey: "b", Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	traits, err := p.Traits(t.Context())
	if err != nil || !traits.Refuses || traits.Versioned || traits.Locked != 0 {
		t.Errorf("%+v: %v", traits, err)
	}
}
