package cli

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
)

// newRootCommand builds the command tree with the flags that every command has.
func newRootCommand(f *commandLine) *cobra.Command {
	root := &cobra.Command{
		Use:           "retake",
		Short:         "Show the timeline of this workspace",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          rejectUnknownCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.version {
				return showVersion(f)
			}
			return (&bareCmd{commandLine: f}).run(cmd, args)
		},
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			f.argsAccepted = true
			f.setPageable(cmd)
			if f.HandOver != nil && (f.isSolo() || needsEngine(cmd)) {
				return handOverToEngine(f)
			}
			return f.checkTarget(cmd, args)
		},
	}
	root.SuggestionsMinimumDistance = 2
	root.SetIn(f.In)
	root.SetOut(f.Out)
	root.SetErr(f.Err)
	p := root.PersistentFlags()
	p.StringVarP(&f.dir, "directory", "C", "", "work as if started in `DIR`")
	p.BoolVar(&f.json, "json", false, "print JSON")
	p.BoolVar(&f.noInput, "no-input", false, "never prompt")
	p.BoolVarP(&f.yes, "yes", "y", false, "skip confirmation, except for warnings (use --accept)")
	p.BoolVar(&f.solo, "solo", false, "work in this process, without the daemon")
	p.Bool("debug", false, "log requests to stderr, and more to the log of a daemon that this command starts")
	p.BoolVar(&f.asciiOut, "ascii", false, "use ASCII characters only")
	p.BoolVar(&f.forceColor, "color", false, "always use colors")
	p.BoolVar(&f.noColor, "no-color", false, "never use colors")
	p.BoolVar(&f.noPager, "no-pager", false, "never use a pager")
	root.Flags().BoolVarP(&f.version, "version", "V", false, "show the version")
	root.Flags().BoolVarP(&f.version, "v", "v", false, "")
	_ = root.Flags().MarkHidden("v") // the older short form
	addRemoteFlags(f, root)
	root.CompletionOptions.DisableDefaultCmd = true // ours is in our words
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if !f.explains() { // a command that only groups others
			setHelpTexts(root)
		}
		printCommandHelp(f, cmd)
	})
	root.SetHelpCommand(newHelpCommand(f, root))
	for _, list := range commandGroups(f) {
		root.AddCommand(list.basic...)
		root.AddCommand(list.more...)
	}
	root.AddCommand(newManCommand(f))
	root.InitDefaultHelpCmd() // else it comes when the command is run
	if f.explains() {
		setHelpTexts(root)
		addCompletions(f, root)
	}
	return root
}

// explains reports whether a command may show texts or complete words. All others start without
// them: they take longer to make than most commands take to run.
func (f *commandLine) explains() bool {
	if len(f.args) == 0 {
		return f.args == nil // nobody said what will be run
	}
	if strings.HasPrefix(f.args[0], "__complete") {
		return true
	}
	return slices.ContainsFunc(f.args, func(a string) bool {
		return slices.Contains([]string{"help", "--help", "-h", "man", "completion"}, a)
	})
}

// engineAnnotation marks commands, with all below them, that only the engine's program can do.
const engineAnnotation = "engine"

// needsEngine reports whether cmd or a parent of it is marked as one for the engine's program.
func needsEngine(cmd *cobra.Command) bool {
	for ; cmd != nil; cmd = cmd.Parent() {
		if cmd.Annotations[engineAnnotation] != "" {
			return true
		}
	}
	return false
}

// markNeedsEngine marks cmd, with all commands below it, as one for the engine's program.
func markNeedsEngine(cmd *cobra.Command) *cobra.Command {
	cmd.Annotations = map[string]string{engineAnnotation: "yes"}
	return cmd
}

// handOverToEngine runs the command in the engine's program. It returns only if this process
// could not be replaced.
func handOverToEngine(f *commandLine) error {
	exit, err := f.HandOver()
	if err != nil {
		return err
	}
	return exitError{code: exit}
}

// commandGroup is a section of the help: basic is shown by `retake help`, more only by `retake
// help --all`.
type commandGroup struct {
	title string
	basic []*cobra.Command
	more  []*cobra.Command
}

// commandGroups returns all commands in the order of the help.
func commandGroups(f *commandLine) []commandGroup {
	type list = []*cobra.Command
	return []commandGroup{
		{"Record", list{newInitCommand(f), newSaveCommand(f)}, list{newVerifyCommand(f), newRunCommand(f)}},
		{"Look", list{newLogCommand(f), newShowCommand(f), newDiffCommand(f), newCatCommand(f), newStatusCommand(f), newTUICommand(f), newConsoleCommand(f)}, list{newLsCommand(f), newAtCommand(f), markNeedsEngine(newMountCommand(f))}},
		{"Find", list{newFindCommand(f), newBisectCommand(f)}, list{newBlameCommand(f), newWhyCommand(f)}},
		{"Go back", list{newRestoreCommand(f), newUndoCommand(f)}, list{newRedoCommand(f), newResumeCommand(f)}},
		{"Agents", list{newAgentsCommand(f)}, list{newTasksCommand(f), newEffectsCommand(f), newApproveCommand(f), newPauseCommand(f), newUnpauseCommand(f), newHookCommand(f), markNeedsEngine(newMCPCommand(f))}},
		{"Keep", list{newPinCommand(f), newForgetCommand(f), newSpaceCommand(f)}, list{newPurgeCommand(f), newUnpinCommand(f), newRemoteCommand(f), newAttachCommand(f), newBackupCommand(f), newExportCommand(f), newImportCommand(f)}},
		{"Forks", nil, list{newForkCommand(f), newForksCommand(f), newAdoptCommand(f)}},
		{"Workspaces", list{markNeedsEngine(newDemoCommand(f))}, list{newWorkspacesCommand(f), newEstimateCommand(f), newDeinitCommand(f), newConfigCommand(f)}},
		{"Care", nil, list{newDoctorCommand(f), newScrubCommand(f), newRebuildCommand(f), markNeedsEngine(newRecoveryKeyCommand(f)), newDaemonCommand(f), newCompletionCommand(f), newVersionCommand(f)}},
		{"Server", nil, list{markNeedsEngine(newServeCommand(f)), markNeedsEngine(newAdminCommand(f)), newKeysCommand(f), newWebhooksCommand(f), newScheduleCommand(f), newAuditCommand(f), newDeletionsCommand(f), newUsageCommand(f)}},
	}
}

const (
	goBackHint = "undo the last change: retake undo\ngo back to the last good checkpoint: retake restore good"
	listHint   = "list checkpoints: retake log"
)

// foreignCommands maps commands of other tools, which people type when something is lost, to a
// hint.
var foreignCommands = map[string]string{
	"rollback": goBackHint, "revert": goBackHint, "reset": goBackHint, "checkout": goBackHint, "rewind": goBackHint, "recover": goBackHint, "goto": goBackHint,
	"history": listHint, "list": listHint, "timeline": listHint,
}

// rejectUnknownCommand returns an error for a first argument that is not a command, with the
// nearest commands as hints.
func rejectUnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if hint := foreignCommands[args[0]]; hint != "" {
		return usageError(hint, "Unknown command: %s", args[0])
	}
	hint := ""
	for i, near := range cmd.SuggestionsFor(args[0]) {
		label := "did you mean: "
		if i > 0 {
			label = "or: "
		}
		hint += label + suggestedCommand(cmd, near) + "\n"
	}
	return usageError(hint+"list all commands: retake help --all", "Unknown command: %s", args[0])
}

// suggestedCommand returns a command that can be typed as it is; for a command with required
// arguments that is its help.
func suggestedCommand(root *cobra.Command, name string) string {
	cmd, _, err := root.Find([]string{name})
	if err != nil || strings.Contains(strings.TrimSpace(optionalWords.ReplaceAllString(cmd.Use, "")), " ") {
		return "retake help " + name
	}
	return "retake " + name
}

// optionalWords matches the parts of a usage line that may be left out; brackets may be nested
// once.
var optionalWords = regexp.MustCompile(`\[([^\[\]]|\[[^\[\]]*\])*\]`)

// argsBetween accepts low to high arguments; a negative high means no limit.
func argsBetween(low, high int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= low && (high < 0 || len(args) <= high) {
			return nil
		}
		word := "Missing argument"
		if len(args) > low {
			word = "Too many arguments"
		}
		return usageError(helpHint(cmd), "%s. Usage: %s.", word, usageLine(cmd))
	}
}

func usageLine(cmd *cobra.Command) string {
	if cmd.HasParent() {
		return cmd.Parent().CommandPath() + " " + cmd.Use
	}
	return cmd.Use
}

func helpHint(cmd *cobra.Command) string {
	return "see its usage: retake help" + strings.TrimPrefix(cmd.CommandPath(), "retake")
}

// flagError rewrites an error of the flag parser in our words.
func flagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	hint := helpHint(cmd)
	if name, ok := strings.CutPrefix(text, "unknown flag: "); ok {
		return usageError(hint, "%s has no flag %s.", commandSubject(cmd), name)
	}
	if _, name, ok := strings.Cut(text, " in -"); ok && strings.HasPrefix(text, "unknown shorthand flag") {
		return usageError(hint, "%s has no flag -%s.", commandSubject(cmd), name)
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: "); ok {
		return usageError(hint, "The flag %s needs a value.", name)
	}
	return &retake.Error{Kind: retake.Invalid, What: text, Safe: nothingChanged, Hint: hint}
}

// commandSubject returns how a sentence about cmd starts.
func commandSubject(cmd *cobra.Command) string { return "The command " + cmd.CommandPath() }
