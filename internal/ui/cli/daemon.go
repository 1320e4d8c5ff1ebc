package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// Daemon controls the background process for `retake daemon`.
type Daemon interface {
	Start(ctx context.Context) (DaemonState, error)
	Stop(ctx context.Context) (pid int, err error) // 0: there was none
	Status(ctx context.Context) (st DaemonState, running bool, err error)
	Units() []DaemonUnit
	Install(ctx context.Context, now bool) ([]DaemonUnit, error)
	Console(ctx context.Context, ws retake.WorkspaceID) (ConsoleOpening, error)
	InstallSystem(ctx context.Context, user string, now bool) (SystemDaemon, error) // for a user, as root
	Run(ctx context.Context, starter, system int) error                             // is the daemon; starter is where to say that it is ready, system the user it works for
}

// DaemonState is what a daemon reports about itself.
type DaemonState struct {
	About     retake.About `json:"about"`
	Exe       string       `json:"exe"`
	Socket    string       `json:"socket"`
	Log       string       `json:"log"`
	Activated bool         `json:"activated"`
	IdleSince time.Time    `json:"idle_since"`
	InFlight  int64        `json:"in_flight"`
	Group     string       `json:"group,omitempty"`
}

// DaemonUnit is one file for the service manager of the user.
type DaemonUnit struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// SystemDaemon is what was installed for one user.
type SystemDaemon struct {
	Units    []DaemonUnit
	Socket   string // the unit to enable
	OldStore string // where the user's history was so far; "" if he has none
}

type daemonAnswer struct {
	V       int  `json:"v"`
	Running bool `json:"running"`
	*DaemonState
}

type stopAnswer struct {
	V       int  `json:"v"`
	Stopped bool `json:"stopped"`
	PID     int  `json:"pid,omitempty"`
}

type installAnswer struct {
	V     int          `json:"v"`
	Units []DaemonUnit `json:"units"`
}

func newDaemonCommand(f *commandLine) *cobra.Command {
	cmd := &cobra.Command{
		Use: "daemon", Short: "Manage the background daemon",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usageError(helpHint(cmd), "Unknown command: daemon %s", args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			printCommandHelp(f, cmd)
			return nil
		},
	}
	cmd.AddCommand(newDaemonStartCommand(f), newDaemonStopCommand(f), newDaemonStatusCommand(f), newDaemonInstallCommand(f), markNeedsEngine(newDaemonRunCommand(f)))
	return cmd
}

func newDaemonStartCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "start", Short: "Start the daemon if it is not running", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, err := f.Daemon.Start(cmd.Context())
			if err != nil {
				return err
			}
			return f.printAnswer(daemonAnswer{1, true, &st}, func(l term.Style) string {
				return fmt.Sprintf("%s The daemon runs: process %d.\n", l.Green(l.Glyphs.Yes), st.About.PID)
			})
		},
	}
}

func newDaemonStopCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "stop", Short: "Stop the daemon after it finishes its work", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			pid, err := f.Daemon.Stop(cmd.Context())
			if err != nil {
				return err
			}
			return f.printAnswer(stopAnswer{1, pid != 0, pid}, func(l term.Style) string {
				if pid == 0 {
					return "No daemon runs.\n"
				}
				return fmt.Sprintf("%s The daemon has stopped: process %d.\n", l.Green(l.Glyphs.Yes), pid)
			})
		},
	}
}

func newDaemonStatusCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show whether the daemon runs, since when and where", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, running, err := f.Daemon.Status(cmd.Context())
			if err != nil {
				return err
			}
			if !running {
				return f.printAnswer(daemonAnswer{1, false, nil}, func(term.Style) string {
					return "No daemon runs. The next command that needs one starts it.\n"
				})
			}
			return f.printAnswer(daemonAnswer{1, true, &st}, func(l term.Style) string { return renderDaemon(l, st) })
		},
	}
}

func renderDaemon(l term.Style, st DaemonState) string {
	var b strings.Builder
	room := max(termtext.Width(l.Glyphs.Point), 1)
	say := func(sign, name, text string) {
		fmt.Fprintf(&b, "%s %s%s\n", sign, termtext.Pad(name, 10), text)
	}
	none := strings.Repeat(" ", room)
	work := "nothing to do since " + l.ShortTime(st.IdleSince)
	if st.InFlight > 0 {
		work = term.CountNoun(st.InFlight, "request", "requests") + " in flight"
	}
	by := ""
	if st.Activated {
		by = "started by the service manager"
	}
	say(l.Green(l.Glyphs.Point), "running", l.JoinFacts("since "+l.ShortTime(st.About.Started), fmt.Sprintf("process %d", st.About.PID), "version "+termtext.Escape(st.About.Version), by))
	say(none, "work", work)
	say(none, "store", l.DisplayPath(st.About.Home))
	say(none, "socket", l.DisplayPath(st.Socket))
	say(none, "log", l.DisplayPath(st.Log))
	if st.Group != "" {
		indent := strings.Repeat(" ", room+11)
		say(l.Yellow(termtext.Pad("!", room)), "group", "it stays in the control group of its starter, and ends with it")
		for why := range strings.SplitSeq(st.Group, "; ") {
			fmt.Fprintf(&b, "%s%s\n", indent, l.Dim(termtext.Escape(why)))
		}
		for _, line := range l.Hints("let systemd start it: retake daemon install\nlet it leave: retake config daemon-cgroup leave") {
			fmt.Fprintf(&b, "%s%s\n", indent, line)
		}
	}
	return b.String()
}

func newDaemonInstallCommand(f *commandLine) *cobra.Command {
	var onlyPrint, now, system bool
	var user string
	cmd := &cobra.Command{
		Use: "install", Short: "Write systemd units that start the daemon on first use", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if onlyPrint && system {
				return usageError(helpHint(cmd), "--print shows the units of your own daemon only")
			}
			if onlyPrint {
				units := f.Daemon.Units()
				return f.printAnswer(installAnswer{1, units}, func(term.Style) string { return printUnits(units) })
			}
			if system {
				d, err := f.Daemon.InstallSystem(cmd.Context(), user, now)
				if err != nil {
					return err
				}
				return f.printAnswer(installAnswer{1, d.Units}, func(l term.Style) string { return renderSystemInstalled(l, d, now) })
			}
			units, err := f.Daemon.Install(cmd.Context(), now)
			if err != nil {
				return err
			}
			return f.printAnswer(installAnswer{1, units}, func(l term.Style) string { return renderInstalled(l, units, now) })
		},
	}
	cmd.Flags().BoolVar(&onlyPrint, "print", false, "print the units instead of writing them")
	cmd.Flags().BoolVar(&now, "now", false, "also reload systemd and enable them")
	cmd.Flags().BoolVar(&system, "system", false, "run the daemon as a user of its own, so that agents can't delete the history; needs root")
	cmd.Flags().StringVar(&user, "user", "", "with --system: the user to protect (default: the one who called sudo)")
	return cmd
}

func printUnits(units []DaemonUnit) string {
	var parts []string
	for _, u := range units {
		parts = append(parts, "# "+termtext.Escape(u.Path)+"\n"+u.Text)
	}
	return strings.Join(parts, "\n")
}

func renderInstalled(l term.Style, units []DaemonUnit, now bool) string {
	text := renderWritten(l, units, now)
	if !now {
		text += fmt.Sprintf("\nTo use them:\n  retake daemon stop && systemctl --user daemon-reload\n  systemctl --user enable --now %s\n", termtext.Escape(filepath.Base(units[0].Path)))
	}
	return text
}

func renderWritten(l term.Style, units []DaemonUnit, now bool) string {
	var b strings.Builder
	for _, u := range units {
		fmt.Fprintf(&b, "%s wrote %s\n", l.Green(l.Glyphs.Yes), l.DisplayPath(u.Path))
	}
	if now {
		fmt.Fprintf(&b, "%s systemd listens, and starts the daemon on first use\n", l.Green(l.Glyphs.Yes))
	}
	return b.String()
}

func renderSystemInstalled(l term.Style, d SystemDaemon, now bool) string {
	text := renderWritten(l, d.Units, now)
	if !now {
		text += fmt.Sprintf("\nTo use it:\n  systemctl daemon-reload\n  systemctl enable --now %s\n", termtext.Escape(d.Socket))
	}
	if d.OldStore != "" {
		text += fmt.Sprintf("\nThe history so far stays in %s.\nTo take it along, see docs/use/system-daemon.md.\n", l.DisplayPath(d.OldStore))
	}
	return text
}

// newDaemonRunCommand is the daemon itself; people start it by using it.
func newDaemonRunCommand(f *commandLine) *cobra.Command {
	var starter, system int
	cmd := &cobra.Command{
		Use: "run", Short: "Run the daemon in the foreground", Hidden: true, Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.Daemon.Run(cmd.Context(), starter, system) },
	}
	cmd.Flags().IntVar(&starter, "starter", 0, "descriptor on which to say that it is ready")
	cmd.Flags().IntVar(&system, "system", 0, "be the system daemon of the user with this ID; needs root")
	return cmd
}
