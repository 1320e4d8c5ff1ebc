package gateway

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

// forwarder passes a request to the server that has its namespace open, over a socket in the
// data directory that only servers can reach. That server checks the request, with its key,
// as if it had received it from the client.
type forwarder struct{ transport *http.Transport }

type socketKey struct{}

func newForwarder() *forwarder {
	return &forwarder{&http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			path, _ := ctx.Value(socketKey{}).(string)
			var d net.Dialer
			return d.DialContext(ctx, "unix", path)
		},
		DisableKeepAlives:     true, // connections are pooled by host, and all sockets have the same one
		ResponseHeaderTimeout: 15 * time.Minute,
	}}
}

// forward proxies a request to another server. A request is forwarded only once, so that it
// cannot loop while a namespace moves between servers.
func (f *forwarder) forward(w http.ResponseWriter, r *http.Request, socket string) {
	away := func(w http.ResponseWriter, r *http.Request, err error) {
		httpapi.WriteProblem(w, r, &retake.Error{Kind: retake.Busy, What: "the namespace is moving between servers", Safe: "It is not known whether the request was done.", Hint: "ask again with the same idempotency key", Err: err}, 0)
	}
	if r.Header.Get(hopHeader) != "" {
		away(w, r, nil)
		return
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(&url.URL{Scheme: "http", Host: "server"})
			p.Out.Host = p.In.Host
			p.Out.Header.Set(hopHeader, "1")
			p.Out.Header.Set(addressHeader, clientAddress(p.In))
			p.Out.Header.Set(requestIDHeader, w.Header().Get(requestIDHeader))
		},
		ModifyResponse: func(res *http.Response) error {
			for _, name := range []string{requestIDHeader, "X-Content-Type-Options", "Cache-Control"} {
				res.Header.Del(name) // this server has set them
			}
			return nil
		},
		Transport:     f.transport,
		FlushInterval: -1,
		ErrorHandler:  away,
	}
	proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), socketKey{}, socket)))
}
