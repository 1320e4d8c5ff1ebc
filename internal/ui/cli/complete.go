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

// inOrder offers words in our order, and no files beside them.
const inOrder = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder

// offered answers what may stand at a place of the command line.
type offered = func(f *face, ctx context.Context) []cobra.Completion

// argumentsOf says what the first arguments of a command are, by its path. The last one
// of forget and of deletions may come again and again.
var argumentsOf = map[string][]offered{
	"show": {(*face).offerRefs}, "diff": {(*face).offerRefs, (*face).offerRefs}, "cat": {(*face).offerRefs}, "ls": {(*face).offerRefs},
	"restore": {(*face).offerRefs}, "undo": {(*face).offerRefs}, "fork": {(*face).offerRefs}, "pin": {(*face).offerRefs}, "forget": {(*face).offerRefs},
	"at": {(*face).offerRefs}, "export": {(*face).offerRefs}, "verify": {(*face).offerRefs}, "effects": {(*face).offerRefs},
	"resume": {(*face).offerRefs}, "doctor": {(*face).offerRefs}, "deletions ask": {(*face).offerRefs},
	"unpin": {(*face).offerPins}, "config": {(*face).offerSettings}, "deinit": {(*face).offerWorkspaces}, "adopt": {(*face).offerForks},
	"agents install": {(*face).offerAgents}, "agents remove": {(*face).offerAgents}, "hook": {(*face).offerAgents},
}

// repeated are the commands whose last kind of argument may be given again.
var repeated = map[string]bool{"forget": true, "deletions ask": true, "agents install": true, "agents remove": true}

// filesAfter are the commands that take names of files behind what argumentsOf lists.
var filesAfter = map[string]bool{"diff": true, "cat": true, "ls": true, "restore": true, "undo": true, "fork": true, "export": true, "verify": true}

// flagsOffered are the flags whose values we know.
var flagsOffered = map[string]offered{"workspace": (*face).offerWorkspaces, "at": (*face).offerRefs, "from": (*face).offerRefs, "to": (*face).offerRefs}

// completeAll tells the shell what may stand at each place.
func (f *face) completeAll(cmd *cobra.Command) {
	path := strings.TrimPrefix(cmd.CommandPath(), "retake ")
	if kinds := argumentsOf[path]; kinds != nil && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			at := len(args)
			if repeated[path] {
				at = min(at, len(kinds)-1)
			}
			if dash := cmd.ArgsLenAtDash(); at >= len(kinds) || dash >= 0 && dash < len(args) {
				if filesAfter[path] {
					return nil, cobra.ShellCompDirectiveDefault
				}
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return f.offer(cmd, kinds[at]), inOrder
		}
	}
	for name, what := range flagsOffered {
		if cmd.LocalFlags().Lookup(name) == nil {
			continue
		}
		_ = cmd.RegisterFlagCompletionFunc(name, func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return f.offer(cmd, what), inOrder
		}) // a flag that has one already keeps it
	}
	for _, sub := range cmd.Commands() {
		f.completeAll(sub)
	}
}

func (f *face) offer(cmd *cobra.Command, what offered) []cobra.Completion {
	ctx, cancel := context.WithTimeout(cmd.Context(), completeWait)
	defer cancel()
	return slices.DeleteFunc(what(f, ctx), func(c cobra.Completion) bool { return c == "" })
}

// offerRefs are the words that name a checkpoint, the pins, and the newest checkpoints with their
// titles.
func (f *face) offerRefs(ctx context.Context) []cobra.Completion {
	s, ws, err := f.find(ctx)
	if err != nil {
		return nil
	}
	t, err := s.Log(ctx, retake.LogQuery{Workspace: ws.ID, Limit: completeMost})
	if err != nil {
		return nil
	}
	l := f.out()
	l.Paint = false
	var out []cobra.Completion
	for i := range t.Checkpoints {
		c := t.Checkpoints[i]
		title, _ := l.Titled(c, term.Goals{})
		out = append(out, described(strconv.FormatInt(c.Number, 10), l.Clock(c.Time)+"  "+title))
	}
	out = append(out, described("latest", "the newest checkpoint"), described("good", "the newest checkpoint that is good"), described("start", "the first checkpoint"))
	for _, p := range t.Pins {
		out = append(out, described(p.Name, "a pin"))
	}
	return out
}

func (f *face) offerPins(ctx context.Context) []cobra.Completion {
	s, ws, err := f.find(ctx)
	if err != nil {
		return nil
	}
	t, err := s.Log(ctx, retake.LogQuery{Workspace: ws.ID, Limit: 1})
	if err != nil {
		return nil
	}
	var out []cobra.Completion
	for _, p := range t.Pins {
		out = append(out, described(p.Name, ""))
	}
	return out
}

func (f *face) offerWorkspaces(ctx context.Context) []cobra.Completion {
	s, err := f.open(ctx)
	if err != nil {
		return nil
	}
	all, err := s.Workspaces(ctx)
	if err != nil {
		return nil
	}
	var out []cobra.Completion
	for i := range all {
		out = append(out, described(all[i].Name, f.out().Path(all[i].Root)))
	}
	return out
}

func (f *face) offerForks(ctx context.Context) []cobra.Completion {
	s, ws, err := f.find(ctx)
	if err != nil {
		return nil
	}
	all, err := s.Forks(ctx, ws.ID)
	if err != nil {
		return nil
	}
	var out []cobra.Completion
	for i := range all {
		out = append(out, described(all[i].Workspace.Name, f.out().Path(all[i].Workspace.Root)))
	}
	return out
}

func (f *face) offerSettings(context.Context) []cobra.Completion {
	var out []cobra.Completion
	for _, s := range f.Settings.List() {
		out = append(out, described(s.Key, s.Help))
	}
	return out
}

func (f *face) offerAgents(context.Context) []cobra.Completion {
	var out []cobra.Completion
	for _, a := range install.All() {
		out = append(out, described(a.Name, ""))
	}
	return out
}

// described is a word and what it means, which is escaped: a shell reads a line for each.
// A name that would not come back as it is is not offered.
func described(word, means string) cobra.Completion {
	if termtext.Escape(word) != word {
		return ""
	}
	return cobra.CompletionWithDesc(word, termtext.Cut(means, completeTitle))
}
