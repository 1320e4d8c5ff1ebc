package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/install"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// Deps is everything the command line needs from its program: the service, the terminal and
// the environment.
type Deps struct {
	Open func(ctx context.Context, solo bool) (retake.Service, error) // called at most once, on first use
	// HandOver lets the engine's program do this command in our place; nil in the engine. It
	// returns an exit code only where a process cannot be replaced by another program.
	HandOver      func() (exit int, err error)
	EverProtected func() bool           // whether anything was ever protected here
	HasMark       func(dir string) bool // whether a directory, or one above it, carries the mark of a workspace
	Daemon        Daemon
	Servers       Servers
	RecoveryKeys  RecoveryKeys // nil: only the engine has them
	// RemoteAccess finds what opens a remote; identity is the file with a key of SSH, if one was named.
	RemoteAccess func(scheme, identity string) (retake.RemoteAccess, error)
	RecoveryKey  string // for an attach where nobody can type it
	Settings     Settings

	Remote       func(url, key string) RemoteServer // dials on the first call
	RemoteConfig RemoteConfig
	Archives     Archives

	// Run runs a program with our terminal and returns its exit code. An error
	// means that it did not run, or, if it wraps ErrOtherPath, where it did.
	Run           func(ctx context.Context, c Command) (exit int, err error)
	NewScratchDir func() (dir string, remove func() error, err error) // an empty directory for a throw-away fork
	// Mount shows the checkpoints of a workspace below dir until ctx ends; ready is
	// called when they are there.
	Mount func(ctx context.Context, dir string, ws retake.Workspace, s retake.Service, ready func()) error

	// Report returns what is known beside the service, by file name: logs, settings, the state
	// of the daemon. nil: nothing is.
	Report func(ctx context.Context) map[string][]byte

	// Pager shows text that is longer than the terminal, until the person has read it. An
	// error means that it did not start; nil: there is none.
	Pager func(text string) error

	// OpenBrowser shows an address in the user's browser, and does not wait for it; nil: there
	// is none.
	OpenBrowser func(url string) error

	// Screen fills the terminal with a workspace until somebody leaves.
	Screen func(ctx context.Context, x Screen) error

	// MCP serves the tools for agents on our input and output until they end.
	MCP func(ctx context.Context, s retake.Service, dir string) error
	// Hook handles one event of an agent on our input; it always returns 0.
	Hook func(ctx context.Context, agent string) int
	// Places returns where agents keep their settings.
	Places func(project string) install.Places

	In                    io.Reader
	Out, Err              io.Writer
	InTTY, OutTTY, ErrTTY bool
	Width                 int  // columns of the terminal
	Height                int  // its lines; 0: not known
	Color                 bool // what the environment asks for; flags go before it
	ASCII                 bool
	Solo                  bool

	Dir     string          // the working directory
	Home    string          // shown as ~
	Env     func() []string // what standing verifications may see of our environment
	Clock   clock.Clock
	Version string
}

// Command is a program to run.
type Command struct {
	Args     []string
	Dir      string // where it runs
	Subdir   string // a directory below Dir to begin in; empty: Dir itself
	BindOver string // bind Dir over this path, in namespaces of its own; empty: do not
	ToStderr bool   // what it prints goes to our standard error: our output is data
	// Output gets what it prints instead of our terminal. A program that is watched
	// has no input, and ends with all that it started when the context does.
	Output io.Writer
}

// ErrOtherPath means that Dir could not be bound over another path, and that the program ran
// in Dir itself.
var ErrOtherPath = errors.New("ran at another path")

// Settings is the user's configuration, as `retake config` shows and changes it.
type Settings interface {
	List() []retake.Setting
	Value(key string) (string, error)
	Set(key, value string) error
	Unset(key string) error
	LoosensGate(key, value string) bool
}

// Run runs one command and returns its exit code.
func Run(ctx context.Context, args []string, d Deps) int {
	if args == nil {
		args = []string{} // nil would mean the arguments of the process
	}
	f := newCommandLine(d)
	f.args = args
	root := newRootCommand(f)
	// A mistake in the flags must already know in which form to answer. Making the flags
	// sets them to their defaults, so this comes after it.
	f.json = slices.Contains(argsBeforeDashes(args), "--json")
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if shut := f.closeService(); shut != nil { // what was done stays done
		fmt.Fprintf(f.Err, "%s %s\n", f.stderrStyle().Yellow("!"), termtext.Escape("close memory: "+shut.Error()))
	}
	var known *retake.Error
	if !f.argsAccepted && err != nil && !errors.As(err, &known) {
		err = usageError("all commands: retake help --all", "%s", err)
	}
	if err != nil {
		return f.printError(err)
	}
	return 0
}

// argsBeforeDashes returns the arguments before the first "--".
func argsBeforeDashes(args []string) []string {
	if i := slices.Index(args, "--"); i >= 0 {
		return args[:i]
	}
	return args
}
