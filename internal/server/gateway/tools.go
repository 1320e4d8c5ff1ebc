package gateway

import (
	"net/http"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

// ToolsPath is the path of the tools for agents. A workspace may follow it.
const ToolsPath = "/mcp"

// serveTools serves a request for the tools, and returns false if it is for something else. A
// tool calls the API through this gateway with the same key, so permissions and rates are
// checked then.
func (f *Gateway) serveTools(w http.ResponseWriter, r *http.Request) bool {
	if f.opts.Tools == nil || r.URL.Path != ToolsPath && !strings.HasPrefix(r.URL.Path, ToolsPath+"/") {
		return false
	}
	id := chooseRequestID(r.Header.Get(requestIDHeader))
	w.Header().Set(requestIDHeader, id)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	r = r.WithContext(httpapi.WithRequestID(r.Context(), id))
	if _, err := f.keys.authenticate(r); err != nil {
		f.opts.Metrics.CountRefused("key")
		writeUnauthorized(w, r, err)
		return true
	}
	f.opts.Tools.ServeHTTP(w, r)
	return true
}

// writeUnauthorized refuses a request without a valid key.
func writeUnauthorized(w http.ResponseWriter, r *http.Request, err error) {
	status := 0
	if retake.IsKind(err, retake.Denied) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="retake"`)
		status = http.StatusUnauthorized
	}
	httpapi.WriteProblem(w, r, err, status)
}
