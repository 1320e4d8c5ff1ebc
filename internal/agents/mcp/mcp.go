// Package mcp is the face for agents: the service as tools of the Model Context
// Protocol, over standard input and output or as an HTTP handler without state.
//
// It looks up the workspace at each call, calls the service, and returns a short answer.
// It may look for a free name beside a workspace; every other file is the
// service's. It never decides a use case, and holds nothing between two calls.
//
//	M1  No tool removes history.
//	M2  Text from outside is masked, escaped and bounded before it leaves.
//	M3  An answer is bounded whatever the workspace holds; what is left out is counted.
//	M4  Nothing is restored without the digest of a plan, and no agent accepts what a
//	    person has to decide.
//	M5  Trouble is the answer of a tool, with its kind, and never ends the session.
package mcp

import (
	"context"
	"fmt"
	"io"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
)

// Options say for which workspace the tools work.
type Options struct {
	Dir     string      // where the agent works
	Version string      // of this program
	Clock   clock.Clock // nil: the one on the wall

	// Place finds the workspace, when the agent does not work in it: its files are on a
	// server. nil: the one that contains Dir.
	FindWorkspace func(ctx context.Context) (retake.Workspace, error)

	// Data adds the data of each answer as structured content, for programs. An agent
	// would read everything twice.
	Data bool
}

// isRemote reports whether the files are not on the agent's machine.
func (o Options) isRemote() bool { return o.FindWorkspace != nil }

// maxMessage is the largest message a client may send; no tool needs a tenth of it.
const maxMessage = 1 << 20

const instructions = "Retake records the files of this workspace as numbered checkpoints and can go back to them. " +
	"Take a checkpoint before something risky. Look with timeline, diff and show_file. " +
	"restore shows a plan first; call it again with the digest of that plan to apply it. " +
	"Paths begin at the root of the workspace, or are absolute. Nothing here removes history. " + dataNotice

// Serve serves one client until it disconnects or ctx ends. Both streams are closed then.
func Serve(ctx context.Context, s retake.Service, in io.ReadCloser, out io.WriteCloser, o Options) error {
	err := newServer(s, o).Run(ctx, &sdk.IOTransport{Reader: in, Writer: out, MaxLineLength: maxMessage})
	if err != nil {
		return fmt.Errorf("serve tools: %w", err)
	}
	return nil
}

// Handler serves any number of clients and keeps nothing between two requests. Requests
// from pages of other origins are refused: a browser would send them with the user's
// rights.
func Handler(s retake.Service, o Options) http.Handler {
	srv := newServer(s, o)
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return srv }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxMessage, PropagateRequestCancellation: true,
		DisableLocalhostProtection: o.isRemote(), // a server has other names behind a proxy, and asks for a key
	})
	return http.NewCrossOriginProtection().Handler(h)
}

// toolServer is what the tools share.
type toolServer struct {
	retake.Service
	opts Options
}

// newServer returns a server with all tools registered.
func newServer(s retake.Service, o Options) *sdk.Server {
	if o.Clock == nil {
		o.Clock = clock.Wall
	}
	srv := sdk.NewServer(
		&sdk.Implementation{Name: "retake", Title: "Retake", Version: o.Version},
		&sdk.ServerOptions{Instructions: instructions, Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}},
	)
	f := &toolServer{Service: s, opts: o}
	srv.AddReceivingMiddleware(guardTool)
	addTool(f, srv, checkpointTool, f.handleCheckpoint)
	addTool(f, srv, timelineTool, f.handleTimeline)
	addTool(f, srv, diffTool, f.handleDiff)
	addTool(f, srv, showFileTool, f.handleShowFile)
	addTool(f, srv, restoreTool, f.handleRestore)
	addTool(f, srv, forkTool, f.handleFork)
	addTool(f, srv, pinTool, f.handlePin)
	addTool(f, srv, tasksTool, f.handleTasks)
	addTool(f, srv, resumeTool, f.handleResume)
	return srv
}
