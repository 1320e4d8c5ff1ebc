package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type backupAnswer struct {
	V      int           `json:"v"`
	Backup retake.Backup `json:"backup"`
}

func newBackupCommand(f *commandLine) *cobra.Command {
	cmd := &cobra.Command{
		Use: "backup", Short: "Back up checkpoints to a git remote",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usageError(helpHint(cmd), "Unknown command: backup %s", args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			printCommandHelp(f, cmd)
			return nil
		},
	}
	cmd.AddCommand(newBackupSetCommand(f), newBackupStatusCommand(f), newBackupNowCommand(f), newBackupOffCommand(f))
	return cmd
}

func newBackupSetCommand(f *commandLine) *cobra.Command {
	var host string
	cmd := &cobra.Command{
		Use: "set URL", Short: "Set the git remote to back up to", Args: argsBetween(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, ws, err := f.currentWorkspace(cmd.Context())
			if err != nil {
				return err
			}
			req := retake.BackupRequest{Workspace: ws.ID, URL: args[0], Host: host}
			b, err := s.SetBackup(cmd.Context(), req)
			if err == nil && !b.Set && b.Host != nil {
				if err = confirmHost(cmd.Context(), f, b); err == nil {
					req.Host = b.Host.Kind + " " + b.Host.Key
					b, err = s.SetBackup(cmd.Context(), req)
				}
			}
			if err != nil {
				return err
			}
			if err := f.printAnswer(backupAnswer{1, b}, func(l term.Style) string { return renderBackupSet(l, ws, b) }); err != nil {
				return err
			}
			f.printHints("when the key is let in", "retake backup now")
			return nil
		},
	}
	cmd.Flags().StringVar(&host, "host-key", "", "trust the host with this `KEY` or fingerprint SHA256:…")
	return cmd
}

// confirmHost asks whether what answered is the host that was meant. Nothing but a person,
// or a key that was named before, can tell.
func confirmHost(ctx context.Context, f *commandLine, b retake.Backup) error {
	l := f.stderrStyle()
	says := fmt.Sprintf("The host of %s says that it is %s", termtext.Escape(b.URL), termtext.Escape(b.Host.Kind+" "+b.Host.Print))
	if f.yes {
		if !f.json {
			fmt.Fprintf(f.Err, "%s %s. From now on only that is spoken to.\n", l.Yellow("!"), says)
		}
		return nil
	}
	if !f.canAsk() {
		return &retake.Error{Kind: retake.Denied, What: says + ", and nobody agreed to that", Safe: nothingChanged,
			Hint: "compare it with what its owner publishes; then: retake backup set " + b.URL + " --host-key " + b.Host.Print}
	}
	fmt.Fprintf(f.Err, "%s.\nCompare that with what its owner publishes. From then on only that is spoken to.\n", says)
	ok, err := f.askYesNo(ctx, "Is that the one?")
	if err == nil && !ok {
		err = errCancelled
	}
	return err
}

func renderBackupSet(l term.Style, ws retake.Workspace, b retake.Backup) string {
	text := fmt.Sprintf("%s Checkpoints of %s go to %s, branch %s.\n", l.Green(l.Glyphs.Yes), l.Bold(termtext.Escape(ws.Name)), termtext.Escape(b.URL), termtext.Escape(b.Branch))
	if b.Public != "" {
		text += fmt.Sprintf("\n  The remote must let this key in, with the right to write:\n\n  %s\n", termtext.Escape(b.Public))
	}
	return text
}

func newBackupStatusCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show how far the backup is and what it leaves out", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, ws, err := f.currentWorkspace(cmd.Context())
			if err != nil {
				return err
			}
			b, err := s.Backup(cmd.Context(), ws.ID)
			if err != nil {
				return err
			}
			return f.printAnswer(backupAnswer{1, b}, func(l term.Style) string { return renderBackup(l, b) })
		},
	}
}

func newBackupNowCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "now", Short: "Back up now and wait until it is done", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, ws, err := f.currentWorkspace(cmd.Context())
			if err != nil {
				return err
			}
			b, err := s.PushBackup(cmd.Context(), ws.ID)
			if err != nil {
				return err
			}
			return f.printAnswer(backupAnswer{1, b}, func(l term.Style) string { return renderBackup(l, b) })
		},
	}
}

func newBackupOffCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "off", Short: "Stop backing up; the remote keeps what it has", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, ws, err := f.currentWorkspace(cmd.Context())
			if err != nil {
				return err
			}
			b, err := s.DropBackup(cmd.Context(), ws.ID)
			if err != nil {
				return err
			}
			return f.printAnswer(backupAnswer{1, b}, func(l term.Style) string {
				return fmt.Sprintf("%s Backups are off, and the key is deleted. The remote keeps what it has.\n", l.Green(l.Glyphs.Yes))
			})
		},
	}
}

func renderBackup(l term.Style, b retake.Backup) string {
	var out strings.Builder
	room := termtext.Width(l.Glyphs.Yes)
	none := strings.Repeat(" ", room)
	say := func(sign, name, text string) {
		fmt.Fprintf(&out, "  %s %s%s\n", sign, termtext.Pad(name, 12), text)
	}
	fmt.Fprintf(&out, "%s\n\n", l.Bold(termtext.Escape(b.URL)))
	say(none, "branch", termtext.Escape(b.Branch))
	if row, ok := backupSentRow(l, b); ok {
		say(row.sign+strings.Repeat(" ", max(room-l.ShownWidth(row.sign), 0)), row.name, row.text)
	}
	if t := b.Trouble; t != nil {
		say(l.Red(termtext.Pad("!", room)), "trouble", l.EscapeText(t.What))
		say(none, "", l.Dim(l.JoinFacts("since "+l.ShortTime(t.Since), countText(t.Tries, "try", "tries"))))
		if t.Hint != "" {
			say(none, "", l.Dim(l.EscapeText(t.Hint)))
		}
	}
	for _, left := range b.Left {
		text := fmt.Sprintf("%s %s", termtext.Count(left.Count), leaveReasonTexts[left.Reason])
		if len(left.Named) > 0 {
			text += ": " + l.Glyphs.Cut(l.EscapeText(strings.Join(left.Named, ", ")), max(l.Width-20-termtext.Width(text), 20))
		}
		say(none, "left out", text)
	}
	if b.Host != nil {
		say(none, "host", termtext.Escape(b.Host.Print))
	}
	if b.Public != "" {
		say(none, "key", termtext.Escape(b.Public))
	}
	return out.String()
}

// backupSentRow returns the row that shows how far a backup is, for its own screen and for the
// status.
func backupSentRow(l term.Style, b retake.Backup) (statusRow, bool) {
	switch {
	case b.Pushed == nil && b.Behind == 0:
		return statusRow{}, false
	case b.Pushed == nil:
		return statusRow{l.Yellow("!"), "backup", "nothing is sent yet"}, true
	}
	p := *b.Pushed
	facts := []string{fmt.Sprintf("%d is there, read back %s", p.Number, l.Ago(p.At)), "commit " + termtext.Escape(p.Commit[:min(len(p.Commit), 10)])}
	sign := l.Green(l.Glyphs.Yes)
	if b.Behind > 0 {
		facts = append(facts, term.CountCheckpoints(b.Behind)+" behind")
		sign = l.Yellow("!")
	}
	return statusRow{sign, "backup", l.JoinFacts(facts...)}, true
}

func countText(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return termtext.Count(n) + " " + many
}

// leaveReasonTexts say why something is not sent.
var leaveReasonTexts = map[retake.LeaveReason]string{
	retake.LeaveSecret: "likely secret", retake.LeaveBig: "over 50 MB", retake.LeaveName: "that git refuses", retake.LeaveSpecial: "neither file nor link",
	retake.LeaveIgnored: "by ignore files", retake.LeaveGit: "of git itself", retake.LeaveMark: "of ours",
}

// backupRows returns the rows of a backup in the status. Problems are always among them.
func backupRows(l term.Style, b retake.Backup) []statusRow {
	var out []statusRow
	if row, ok := backupSentRow(l, b); ok {
		out = append(out, row)
	}
	if b.Trouble != nil {
		out = append(out, statusRow{l.Red("!"), "", l.JoinFacts("it fails since "+l.ShortTime(b.Trouble.Since), l.EscapeText(b.Trouble.What))})
	}
	return out
}
