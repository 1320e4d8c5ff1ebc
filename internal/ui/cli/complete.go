package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/install"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

const (
	completeWait  = 2 * time.Second // a person is waiting at the prompt
	completeMost  = 40              // checkpoints that are offered
	completeTitle = 60              // columns of a title
)

// keepOrderDirective offers words in our order, and no files beside them.
const keepOrderDirective = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder

// completer returns the completions for one place of the command line.
type completer = func(ctx context.Context, f *commandLine) []cobra.Completion

// argumentCompleters maps a command path to the completers of its first arguments.
var argumentCompleters = map[string][]completer{
	"show": {completeRefs}, "diff": {completeRefs, completeRefs}, "cat": {completeRefs}, "ls": {completeRefs},
	"restore": {completeRefs}, "undo": {completeRefs}, "fork": {completeRefs}, "pin": {completeRefs}, "forget": {completeRefs},
	"at": {completeRefs}, "export": {completeRefs}, "verify": {completeRefs}, "effects": {completeRefs},
	"resume": {completeRefs}, "doctor": {completeRefs}, "deletions ask": {completeRefs},
	"unpin": {completePins}, "config": {completeSettings}, "deinit": {completeWorkspaces}, "adopt": {completeForks},
	"agents install": {completeAgents}, "agents remove": {completeAgents}, "hook": {completeAgents},
}

// repeatsLastArgument are the commands whose last kind of argument may be given again.
var repeatsLastArgument = map[string]bool{"forget": true, "deletions ask": true, "agents install": true, "agents remove": true}

// completesFiles are the commands that take names of files after those in argumentCompleters.
var completesFiles = map[string]bool{"diff": true, "cat": true, "ls": true, "restore": true, "undo": true, "fork": true, "export": true, "verify": true}

// flagCompleters are the flags whose values we know.
var flagCompleters = map[string]completer{"workspace": completeWorkspaces, "at": completeRefs, "from": completeRefs, "to": completeRefs}

// addCompletions registers the completions of all arguments and flags.
func addCompletions(f *commandLine, cmd *cobra.Command) {
	path := strings.TrimPrefix(cmd.CommandPath(), "retake ")
	if kinds := argumentCompleters[path]; kinds != nil && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			at := len(args)
			if repeatsLastArgument[path] {
				at = min(at, len(kinds)-1)
			}
			if dash := cmd.ArgsLenAtDash(); at >= len(kinds) || dash >= 0 && dash < len(args) {
				if completesFiles[path] {
					return nil, cobra.ShellCompDirectiveDefault
				}
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return runCompleter(f, cmd, kinds[at]), keepOrderDirective
		}
	}
	for name, what := range flagCompleters {
		if cmd.LocalFlags().Lookup(name) == nil {
			continue
		}
		_ = cmd.RegisterFlagCompletionFunc(name, func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return runCompleter(f, cmd, what), keepOrderDirective
		}) // a flag that has one already keeps it
	}
	for _, sub := range cmd.Commands() {
		addCompletions(f, sub)
	}
}

func runCompleter(f *commandLine, cmd *cobra.Command, what completer) []cobra.Completion {
	ctx, cancel := context.WithTimeout(cmd.Context(), completeWait)
	defer cancel()
	return slices.DeleteFunc(what(ctx, f), func(c cobra.Completion) bool { return c == "" })
}

// completeRefs are the words that name a checkpoint, the pins, and the newest checkpoints with their
// titles.
func completeRefs(ctx context.Context, f *commandLine) []cobra.Completion {
	s, ws, err := f.locateWorkspace(ctx)
	if err != nil {
		return nil
	}
	t, err := s.Log(ctx, retake.LogQuery{Workspace: ws.ID, Limit: completeMost})
	if err != nil {
		return nil
	}
	l := f.stdoutStyle()
	l.Paint = false
	var out []cobra.Completion
	for i := range t.Checkpoints {
		c := t.Checkpoints[i]
		title, _ := l.CheckpointTitle(c, term.TargetTitles{})
		out = append(out, describedCompletion(strconv.FormatInt(c.Number, 10), l.ShortTime(c.Time)+"  "+title))
	}
	out = append(out, describedCompletion("latest", "the newest checkpoint"), describedCompletion("good", "the newest checkpoint that is good"), describedCompletion("start", "the first checkpoint"))
	for _, p := range t.Pins {
		out = append(out, describedCompletion(p.Name, "a pin"))
	}
	return out
}

func completePins(ctx context.Context, f *commandLine) []cobra.Completion {
	s, ws, err := f.locateWorkspace(ctx)
	if err != nil {
		return nil
	}
	t, err := s.Log(ctx, retake.LogQuery{Workspace: ws.ID, Limit: 1})
	if err != nil {
		return nil
	}
	var out []cobra.Completion
	for _, p := range t.Pins {
		out = append(out, describedCompletion(p.Name, ""))
	}
	return out
}

func completeWorkspaces(ctx context.Context, f *commandLine) []cobra.Completion {
	s, err := f.openService(ctx)
	if err != nil {
		return nil
	}
	all, err := s.Workspaces(ctx)
	if err != nil {
		return nil
	}
	var out []cobra.Completion
	for i := range all {
		out = append(out, describedCompletion(all[i].Name, f.stdoutStyle().DisplayPath(all[i].Root)))
	}
	return out
}

func completeForks(ctx context.Context, f *commandLine) []cobra.Completion {
	s, ws, err := f.locateWorkspace(ctx)
	if err != nil {
		return nil
	}
	all, err := s.Forks(ctx, ws.ID)
	if err != nil {
		return nil
	}
	var out []cobra.Completion
	for i := range all {
		out = append(out, describedCompletion(all[i].Workspace.Name, f.stdoutStyle().DisplayPath(all[i].Workspace.Root)))
	}
	return out
}

func completeSettings(_ context.Context, f *commandLine) []cobra.Completion {
	var out []cobra.Completion
	for _, s := range f.Settings.List() {
		out = append(out, describedCompletion(s.Key, s.Help))
	}
	return out
}

func completeAgents(context.Context, *commandLine) []cobra.Completion {
	var out []cobra.Completion
	for _, a := range install.All() {
		out = append(out, describedCompletion(a.Name, ""))
	}
	return out
}

// describedCompletion returns a completion with a description, which is escaped because a
// shell reads line by line. A word that needs escaping is not offered.
func describedCompletion(word, means string) cobra.Completion {
	if termtext.Escape(word) != word {
		return ""
	}
	return cobra.CompletionWithDesc(word, termtext.Cut(means, completeTitle))
}
