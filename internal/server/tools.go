package server

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/agents/mcp"
	"github.com/retake-dev/retake/internal/server/gateway"
)

// serveTools serves one MCP request of an agent. Its tools call the API through this server's
// own socket with the agent's key, so that they have the permissions of the key, count against
// its rate limit and are recorded in the audit log.
func (s *Server) serveTools(w http.ResponseWriter, r *http.Request) {
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	c := client.New(client.Options{Socket: s.peerSocket, Key: strings.TrimSpace(key), Version: s.opts.Version, Header: gateway.OriginHeader(r)})
	defer c.Close() //nolint:errcheck // only gives connections back
	name := strings.Trim(strings.TrimPrefix(r.URL.Path, gateway.ToolsPath), "/")
	mcp.Handler(c, mcp.Options{
		Version: s.opts.Version, Clock: s.opts.Clock,
		FindWorkspace: func(ctx context.Context) (retake.Workspace, error) { return findWorkspace(ctx, c, name) },
	}).ServeHTTP(w, r)
}

// findWorkspace finds a workspace by its ID or its name. Without either it returns the
// namespace's default workspace. Finding it by ID needs access to that workspace only.
func findWorkspace(ctx context.Context, c *client.Client, name string) (retake.Workspace, error) {
	if name == "" {
		ns, err := c.Namespace(ctx)
		if err != nil {
			return retake.Workspace{}, err
		}
		name = string(ns.Default)
	}
	if strings.HasPrefix(name, retake.WorkspacePrefix) {
		t, err := c.Log(ctx, retake.LogQuery{Workspace: retake.WorkspaceID(name), Limit: 1})
		return t.Workspace, err
	}
	all, err := c.Workspaces(ctx)
	if err != nil {
		return retake.Workspace{}, err
	}
	i := slices.IndexFunc(all, func(w retake.WorkspaceState) bool { return w.Name == name })
	if i < 0 {
		return retake.Workspace{}, &retake.Error{Kind: retake.NotFound, What: "there is no workspace " + name, Safe: "Nothing was changed.", Hint: "put its name or its ID after /mcp/"}
	}
	return all[i].Workspace, nil
}
