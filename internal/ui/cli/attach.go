package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type receiptAnswer struct {
	V       int            `json:"v"`
	Receipt retake.Receipt `json:"receipt"`
}

type attachCmd struct {
	*commandLine
	req    retake.AttachRequest
	access accessFlags
	key    string
}

func newAttachCommand(f *commandLine) *cobra.Command {
	c := &attachCmd{commandLine: f}
	cmd := &cobra.Command{Use: "attach URL [WORKSPACE] [DIR]", Short: "Bring a workspace and its history here from a remote", Args: argsBetween(1, 3), RunE: c.run}
	c.access.add(cmd)
	cmd.Flags().StringVar(&c.key, "key-file", "", "read the recovery key from `FILE`; - is the input")
	cmd.Flags().BoolVar(&c.req.Browse, "browse", false, "bring the timeline only, and write no files")
	return cmd
}

func (c *attachCmd) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	c.req.URL = c.remoteURL(args[0])
	if len(args) > 1 {
		c.req.Workspace = args[1]
	}
	if len(args) > 2 {
		c.req.Dir = c.fromWorkingDir(args[2])
	}
	var err error
	if c.req.Access, err = c.readAccess(c.req.URL, c.access); err != nil {
		return err
	}
	if c.req.Key, err = c.readKey(ctx); err != nil {
		return err
	}
	s, err := c.openService(ctx)
	if err != nil {
		return err
	}
	r, err := s.Attach(ctx, c.req)
	if err != nil {
		return err
	}
	return c.printAnswer(receiptAnswer{1, r}, func(l term.Style) string { return renderReceipt(l, r, c.req.Browse) })
}

// readKey finds the recovery key. It is no argument, because every user can read those of a process.
func (c *attachCmd) readKey(ctx context.Context) (string, error) {
	switch {
	case c.key == "-":
		b, err := io.ReadAll(io.LimitReader(c.In, maxRecoveryKey))
		return string(b), err
	case c.key != "":
		f, _, err := c.Archives.Open(c.fromWorkingDir(c.key))
		if err != nil {
			return "", err
		}
		defer f.Close() //nolint:errcheck // only read
		b, err := io.ReadAll(io.LimitReader(f, maxRecoveryKey))
		return string(b), err
	case c.RecoveryKey != "":
		return c.RecoveryKey, nil
	case c.canAsk():
		return c.askLine(ctx, "Recovery key:")
	}
	return "", &retake.Error{Kind: retake.Denied, What: "the recovery key is asked for, and there is no terminal", Safe: nothingChanged, Hint: "put it into RETAKE_RECOVERY_KEY, or name a file: retake help attach"}
}

func renderReceipt(l term.Style, r retake.Receipt, browse bool) string {
	var out strings.Builder
	room := termtext.Width(l.Glyphs.Yes)
	section := func(name string) { fmt.Fprintf(&out, "\n%s\n", l.Bold(name)) }
	say := func(sign, name, text string) {
		fmt.Fprintf(&out, "%s\n", l.HangingIndent("  "+sign+strings.Repeat(" ", max(room-l.ShownWidth(sign), 0))+" "+termtext.Pad(name, 14)+text, 17+room))
	}
	yes, unwanted := l.Green(l.Glyphs.Yes), 0
	for _, m := range r.Missing {
		if !m.Want {
			unwanted++
		}
	}
	headline := "arrived"
	if unwanted > 0 {
		headline += ". " + term.CountNoun(int64(unwanted), "thing is", "things are") + " missing here"
	}
	fmt.Fprintf(&out, "%s %s %s.\n", yes, l.Bold(termtext.Escape(r.Workspace.Name)), headline)
	section("ARRIVED")
	if browse {
		say(l.Dim("–"), "files", "none were written: retake restore latest --workspace "+termtext.ShellWord(r.Workspace.Name))
	} else {
		say(yes, "files", l.JoinFacts(term.CountFiles(r.Files)+", "+termtext.Bytes(r.Bytes)+", every byte checked", "in "+l.DisplayPath(r.Workspace.Root)))
	}
	later := ""
	if r.Later {
		later = "older ones are read from the remote until they are here"
	}
	facts := []string{term.CountCheckpoints(r.Checkpoints), fmt.Sprintf("newest %d (%s)", r.Newest.Number, l.ShortTime(r.Newest.Time))}
	if later != "" {
		facts = append(facts, later)
	}
	say(yes, "timeline", l.JoinFacts(facts...))
	if t := r.Conversation; t != nil {
		text := "it is in the timeline: retake show latest --conversation"
		if len(t.Command) > 0 {
			text = termtext.Escape(t.Agent) + ":  " + shellLine(t.Command)
		}
		say(yes, "conversation", text)
	}
	if len(r.Tasks) > 0 {
		say(yes, "tasks", tasksText(r.Tasks))
	}
	if len(r.Missing) > 0 {
		section("DID NOT ARRIVE, OR DOES NOT WORK HERE")
	}
	for _, m := range r.Missing {
		sign := l.Yellow("!")
		if m.Want {
			sign = l.Dim("–")
		}
		say(sign, termtext.Escape(m.What), "")
		say("", "", l.Dim(l.EscapeText(m.Why)))
		if m.Hint != "" {
			say("", "", l.EscapeText(m.Hint))
		}
	}
	from := termtext.Escape(r.Machine)
	if from == "" {
		from = "The other machine"
	}
	fmt.Fprintf(&out, "\n%s\n", l.HangingIndent(fmt.Sprintf("%s keeps its own history and may go on with it: from now on the two differ.", from), 0))
	return out.String()
}

// tasksText says how many tasks are done and what is next.
func tasksText(tasks []retake.Task) string {
	done, next := 0, ""
	for _, t := range tasks {
		if !t.Open() {
			done++
		} else if next == "" {
			next = t.Title
		}
	}
	text := fmt.Sprintf("%d of %d done", done, len(tasks))
	if next != "" {
		text += ", next: " + termtext.Escape(next)
	}
	return text
}

func shellLine(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = termtext.ShellWord(termtext.Escape(a))
	}
	return strings.Join(words, " ")
}
