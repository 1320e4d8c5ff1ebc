package cli

import (
	"context"
	"io"
	"net/netip"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/pure/token"
)

// RemoteServer is one namespace of a server, as its key lets it be seen.
type RemoteServer interface {
	retake.Service
	retake.Office
	// Follow calls f for every event after one, until f or ctx ends it.
	Follow(ctx context.Context, after int64, f func(retake.Event) error) error
	// Archive gives a checkpoint as a tar archive, as it arrives.
	Archive(ctx context.Context, ws retake.WorkspaceID, ref string) (io.ReadCloser, error)
}

// RemoteConfig is the server named by the environment. The key is never a flag, because every
// user can read the arguments of a process.
type RemoteConfig struct {
	URL       string
	Key       string
	Workspace string // id or name; empty: the default one of the namespace
}

// addRemoteFlags adds the flags that select a server and a workspace.
func addRemoteFlags(f *commandLine, cmd *cobra.Command) {
	p := cmd.PersistentFlags()
	p.StringVar(&f.serverURL, "server", "", "use the server at `URL` (RETAKE_SERVER); put its API key in RETAKE_KEY")
	p.StringVar(&f.workspace, "workspace", "", "use the workspace `WS`, a name or an ID (on a server: RETAKE_WORKSPACE)")
}

// isRemote reports whether commands go to a server instead of this machine.
func (f *commandLine) isRemote() bool { return f.serverAddress() != "" }

func (f *commandLine) serverAddress() string {
	if f.serverURL != "" {
		return f.serverURL
	}
	return f.RemoteConfig.URL
}

// openServer returns the selected server, for commands that only a server has.
func (f *commandLine) openServer() (RemoteServer, error) {
	if f.remote != nil {
		return f.remote, nil
	}
	at := f.serverAddress()
	if at == "" {
		return nil, usageError("set its address: RETAKE_SERVER, or --server URL\nset its key: RETAKE_KEY", "This is asked of a server, and none is named.")
	}
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, usageError("such as https://retake.example.com", "%s is not a valid server address.", at)
	}
	switch {
	case f.RemoteConfig.Key == "":
		return nil, &retake.Error{Kind: retake.Denied, What: "there is no key for " + at, Safe: nothingChanged,
			Hint: "put it into RETAKE_KEY\nmake one on the server: retake help admin key"}
	case !looksLikeToken(f.RemoteConfig.Key):
		return nil, &retake.Error{Kind: retake.Denied, What: "RETAKE_KEY is not an API key", Safe: nothingChanged,
			Hint: "an API key begins with rtk_; copy all of it"}
	case f.Remote == nil:
		return nil, &retake.Error{Kind: retake.Invalid, What: "servers cannot be asked from here", Safe: nothingChanged}
	}
	if u.Scheme == "http" && !isThisMachine(u.Hostname()) {
		f.printWarnings([]retake.Warning{{Code: "plain", Text: "the key goes to " + u.Host + " unencrypted: anyone on the network can read it; use https"}})
	}
	f.remote = f.Remote(at, f.RemoteConfig.Key)
	f.service = f.remote
	return f.remote, nil
}

func looksLikeToken(key string) bool {
	_, _, ok := token.Parse(key)
	return ok
}

func isThisMachine(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// namedWorkspace finds a workspace by id or name. An id needs no list, so a key that is
// limited to that workspace is enough.
func (f *commandLine) namedWorkspace(ctx context.Context, s retake.Service) (retake.Workspace, error) {
	want := f.workspace
	if want == "" && f.isRemote() {
		want = f.RemoteConfig.Workspace
	}
	if want == "" {
		ns, err := f.remote.Namespace(ctx)
		if err != nil {
			return retake.Workspace{}, err
		}
		want = string(ns.Default)
	}
	ws := retake.Workspace{}
	if strings.HasPrefix(want, retake.WorkspacePrefix) {
		t, err := s.Log(ctx, retake.LogQuery{Workspace: retake.WorkspaceID(want), Limit: 1})
		if err != nil {
			return ws, err
		}
		ws = t.Workspace
	} else {
		var err error
		if _, ws, err = f.workspaceFromArgs(ctx, []string{want}); err != nil {
			return ws, err
		}
	}
	if at, err := s.Locate(ctx, ws.Root); err == nil && at.ID == ws.ID { // best effort: not every key may ask
		ws.Interrupted = at.Interrupted
	}
	return ws, nil
}

// notOnServer maps the commands that cannot run on a server to the reason and a hint.
var notOnServer = map[string][2]string{
	"init":     {"The files are on this machine, and a server has its own.", "make a workspace of an archive: retake help import"},
	"estimate": {"The files are on this machine, and a server has its own.", "look without it: RETAKE_SERVER= retake estimate"},
	"run":      {"Programs run on this machine, and the files are on the server.", "take a checkpoint before and after: retake save"},
	"verify":   {"Programs run on this machine, and the files are on the server.", "the answers that are known: retake show"},
	"bisect":   {"Programs run on this machine, and the files are on the server.", "bring a checkpoint here: retake help export"},
	"at":       {"Programs run on this machine, and the files are on the server.", "bring a checkpoint here: retake help export"},
	"mount":    {"Checkpoints of a server are not mounted.", "bring one here: retake help export"},
	"mcp":      {"The tools for agents speak with the daemon of this machine.", unsetServerHint},
	"agents":   {"Hooks of agents speak with the daemon of this machine.", unsetServerHint},
	"pause":    {"Agents are paused on the machine that they work on.", unsetServerHint},
	"unpause":  {"Agents are paused on the machine that they work on.", unsetServerHint},
	"attach":   {"A history is attached to this machine.", unsetServerHint},
	"remote":   {"Remotes are for the history of this machine.", unsetServerHint},
	"config":   {"Settings are those of this machine.", unsetServerHint},
	"daemon":   {"The daemon is that of this machine, and a server has none.", unsetServerHint},
	"purge":    {"A purge runs where the history is kept.", "ask for a deletion: retake help deletions ask"},
	"forget":   {"A server forgets nothing at once.", "ask for it: retake help deletions ask"},
}

const unsetServerHint = "work without the server: unset RETAKE_SERVER"

// checkTarget refuses commands and flags that a server cannot serve.
func (f *commandLine) checkTarget(cmd *cobra.Command, args []string) error {
	if !f.isRemote() || cmd.Hidden { // a daemon that is started beside us inherits what we were told
		return nil
	}
	f.EverProtected, f.HasMark = nil, nil // what was ever done on this machine says nothing
	names := strings.Fields(cmd.CommandPath())
	if len(names) < 2 {
		return nil
	}
	why, ok := notOnServer[names[1]]
	switch verify := cmd.Flags().Lookup("verify"); {
	case f.solo:
		why, ok = [2]string{"It is --solo or a server, not both.", unsetServerHint}, true
	case names[1] == "save" && verify != nil && verify.Changed:
		why, ok = notOnServer["verify"], true
	case names[1] == "fork" && len(args) > 1:
		why, ok = [2]string{"A server makes the directory of a fork itself.", "see its usage: retake help fork"}, true
	}
	if !ok {
		return nil
	}
	return usageError(why[1], "%s", why[0])
}

// confirm asks before something is ended that cannot be brought back. Without a terminal it
// returns an error whose hint is again with --yes. The question may have several lines.
func (f *commandLine) confirm(ctx context.Context, what, question, again string) error {
	if f.yes {
		return nil
	}
	if !f.canAsk() {
		return &retake.Error{Kind: retake.Denied, What: what + ", which needs your confirmation", Safe: nothingChanged, Hint: "go ahead: " + again + " --yes"}
	}
	lines := strings.Split(question, "\n")
	for i := range lines {
		lines[i] = termtext.Escape(lines[i])
	}
	ok, err := f.askYesNo(ctx, strings.Join(lines, "\n"))
	if err == nil && !ok {
		err = errCancelled
	}
	return err
}
