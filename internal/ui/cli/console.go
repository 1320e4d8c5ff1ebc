package cli

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// ConsoleOpening is an address that lets one browser in, once.
type ConsoleOpening struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires"`
}

type consoleAnswer struct {
	V         int                `json:"v"`
	URL       string             `json:"url"`
	Origin    string             `json:"origin"` // where the page lives
	Expires   *time.Time         `json:"expires,omitempty"`
	Workspace retake.WorkspaceID `json:"workspace,omitempty"`
	Opened    bool               `json:"opened"` // a browser was asked to show it
}

func newConsoleCommand(f *commandLine) *cobra.Command {
	var closed bool
	cmd := &cobra.Command{
		Use: "console", Short: "Open the timeline in your browser", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := openConsole(f, cmd)
			if err != nil {
				return err
			}
			if !closed && f.OpenBrowser != nil {
				a.Opened = f.OpenBrowser(a.URL) == nil // without a browser the address is enough
			}
			return f.printAnswer(a, func(l term.Style) string {
				if a.Opened {
					return fmt.Sprintf("%s The console opens in your browser.\n  %s\n", l.Green(l.Glyphs.Yes), termtext.Escape(a.URL))
				}
				return termtext.Escape(a.URL) + "\n"
			})
		},
	}
	cmd.Flags().BoolVar(&closed, "no-open", false, "print the address instead of opening a browser")
	return cmd
}

// openConsole asks who has a console: the server that is named, else the daemon.
func openConsole(f *commandLine, cmd *cobra.Command) (consoleAnswer, error) {
	ctx := cmd.Context()
	if f.isRemote() {
		u, err := url.Parse(f.serverAddress())
		if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
			return consoleAnswer{}, usageError("such as https://retake.example.com", "%s is not a valid server address.", f.serverAddress())
		}
		at := u.Scheme + "://" + u.Host
		return consoleAnswer{V: 1, URL: at + "/", Origin: at}, nil
	}
	if f.isSolo() {
		return consoleAnswer{}, usageError("leave --solo out, or unset RETAKE_SOLO", "The console is served by the daemon, and --solo works without one.")
	}
	_, ws, err := f.locateWorkspace(ctx)
	if err != nil && (!retake.IsKind(err, retake.NotFound) || f.workspace != "") {
		return consoleAnswer{}, err
	}
	if _, err := f.Daemon.Start(ctx); err != nil {
		return consoleAnswer{}, err
	}
	o, err := f.Daemon.Console(ctx, ws.ID)
	if err != nil {
		return consoleAnswer{}, err
	}
	origin, _, _ := strings.Cut(o.URL, "/console/")
	return consoleAnswer{V: 1, URL: o.URL, Origin: origin, Expires: &o.Expires, Workspace: ws.ID}, nil
}
