package gateway

import (
	"net/http"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

// ToolsPath is where agents find their tools; behind it stands the workspace.
const ToolsPath = "/mcp"

// tools lets agents with a key to their tools; false: the request is another's. What a
// tool does is asked of this front again, with the same key, and is allowed and counted then.
func (f *Front) tools(w http.ResponseWriter, r *http.Request) bool {
	if f.o.Tools == nil || r.URL.Path != ToolsPath && !strings.HasPrefix(r.URL.Path, ToolsPath+"/") {
		return false
	}
	id := requestID(r.Header.Get(idHeader))
	w.Header().Set(idHeader, id)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	r = r.WithContext(httpapi.WithRequestID(r.Context(), id))
	if _, err := f.keys.find(r); err != nil {
		f.o.Meter.Refused("key")
		refuseKey(w, r, err)
		return true
	}
	f.o.Tools.ServeHTTP(w, r)
	return true
}

// refuseKey tells one without a good key that he needs one.
func refuseKey(w http.ResponseWriter, r *http.Request, err error) {
	status := 0
	if retake.IsKind(err, retake.Denied) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="retake"`)
		status = http.StatusUnauthorized
	}
	httpapi.WriteProblem(w, r, err, status)
}
