package httpapi_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/retake-dev/retake/client"
)

// findRoute returns the route of a request: a segment in braces fits any, a plain one goes first.
func findRoute(paths map[string]map[string]operation, method, path string) (found operation, ok bool) {
	best := -1
	parts := strings.Split(path, "/")
	for template, methods := range paths {
		want := strings.Split(template, "/")
		r, has := methods[strings.ToLower(method)]
		if !has || len(want) != len(parts) {
			continue
		}
		plain := 0
		for i, w := range want {
			if w == parts[i] {
				plain++
			} else if !strings.HasPrefix(w, "{") {
				plain = -1
				break
			}
		}
		if plain > best {
			found, ok, best = r, true, plain
		}
	}
	return found, ok
}

// fill sets every field, so that a request has all the parameters that it can have.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint32:
		v.SetUint(1)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.String {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0))
		}
	default: // no request has such a field
	}
}

// Every request of every method goes to a route of the OpenAPI document, and has no query
// parameter that the route does not know: the server would ignore it.
func TestRequestsAreInTheSpec(t *testing.T) {
	t.Parallel()
	paths := servedSpec(t).Paths
	var mu sync.Mutex
	seen := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen++
		known, ok := findRoute(paths, r.Method, r.URL.EscapedPath())
		if !ok {
			t.Errorf("%s %s is not in the document", r.Method, r.URL.Path)
		}
		for name := range r.URL.Query() {
			listed := false
			for _, p := range known.Parameters {
				listed = listed || p.In == "query" && p.Name == name
			}
			if !listed {
				t.Errorf("%s %s has no parameter %q", r.Method, r.URL.Path, name)
			}
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(server.Close)
	c := reflect.ValueOf(client.New(client.Options{URL: server.URL, Key: "rtk_x", Retries: -1}))
	methods := 0
	for i := range c.NumMethod() {
		f := c.Method(i)
		args := []reflect.Value{}
		for n := range f.Type().NumIn() {
			a := reflect.New(f.Type().In(n)).Elem()
			switch a.Type() {
			case reflect.TypeFor[context.Context]():
				a.Set(reflect.ValueOf(t.Context()))
			case reflect.TypeFor[io.Reader]():
				a.Set(reflect.ValueOf(strings.NewReader("x")))
			default:
				fill(a)
			}
			args = append(args, a)
		}
		if len(args) > 0 { // all but Close
			f.Call(args)
			methods++
		}
	}
	if seen < methods {
		t.Errorf("%d requests of %d methods", seen, methods)
	}
}
