package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type remoteAnswer struct {
	V      int           `json:"v"`
	Remote retake.Remote `json:"remote"`
	Key    string        `json:"recovery_key,omitempty"` // of all copies of this store
}

type remotesAnswer struct {
	V       int             `json:"v"`
	Remotes []retake.Remote `json:"remotes"`
}

type remoteKeyAnswer struct {
	V         int    `json:"v"`
	Key       string `json:"recovery_key,omitempty"`
	Confirmed bool   `json:"confirmed,omitempty"` // it was typed as it is kept elsewhere
}

type remoteCheckAnswer struct {
	V     int                `json:"v"`
	Check retake.RemoteCheck `json:"check"`
}

func newRemoteCommand(f *commandLine) *cobra.Command {
	return newParentCommand(f, "remote", "Keep an encrypted copy of the history elsewhere",
		newRemoteAddCommand(f), newRemoteListCommand(f), newRemoteSyncCommand(f), newRemoteCheckCommand(f), newRemoteKeyCommand(f), newRemoteRemoveCommand(f))
}

type remoteAddCmd struct {
	*commandLine
	req    retake.RemoteRequest
	access accessFlags
	here   bool
	rate   int64
}

// accessFlags are what may be typed about how a place is reached.
type accessFlags struct{ endpoint, region, identity string }

func (a *accessFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.endpoint, "endpoint-url", "", "the `URL` of an S3 service that is not Amazon's")
	cmd.Flags().StringVar(&a.region, "region", "", "the `REGION` of the bucket")
	cmd.Flags().StringVar(&a.identity, "identity", "", "the `FILE` with a private SSH key; default: yours in ~/.ssh")
}

func newRemoteAddCommand(f *commandLine) *cobra.Command {
	c := &remoteAddCmd{commandLine: f}
	cmd := &cobra.Command{Use: "add URL", Short: "Add a remote and begin to upload", Args: argsBetween(1, 1), RunE: c.run}
	cmd.Flags().StringVar(&c.req.Name, "name", "", "call it `NAME`; default: its bucket, host or directory")
	cmd.Flags().BoolVar(&c.here, "here", false, "upload this workspace only; default: all, also later ones")
	c.access.add(cmd)
	cmd.Flags().Int64Var(&c.rate, "limit-rate", 0, "upload at most `KB` kilobytes a second")
	cmd.Flags().BoolVar(&c.req.NewCopy, "new-copy", false, "begin a new copy there, beside one of this store")
	return markNeedsEngine(cmd)
}

func (c *remoteAddCmd) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	if c.rate < 0 {
		return usageError(helpHint(cmd), "The rate is a number of kilobytes, not %d.", c.rate)
	}
	c.req.URL, c.req.Rate = c.remoteURL(args[0]), c.rate*1000
	var err error
	if c.req.Access, err = c.readAccess(c.req.URL, c.access); err != nil {
		return err
	}
	s, err := c.openService(ctx)
	if err != nil {
		return err
	}
	if c.here || c.workspace != "" {
		_, ws, err := c.currentWorkspace(ctx)
		if err != nil {
			return err
		}
		c.req.Workspaces = []retake.WorkspaceID{ws.ID}
	}
	r, err := s.AddRemote(ctx, c.req)
	if err != nil {
		return err
	}
	key, err := c.RecoveryKeys.Copies()
	if err != nil {
		return err
	}
	if err := c.printAnswer(remoteAnswer{1, r, key}, func(l term.Style) string { return renderRemoteAdded(l, r) + renderCopyKey(l, key) }); err != nil {
		return err
	}
	c.printHints("see how far it is", "retake remote list", "confirm that you have the key", "retake remote key --confirm")
	return nil
}

// remoteURL makes a path that was typed absolute.
func (f *commandLine) remoteURL(text string) string {
	if u, err := url.Parse(text); err == nil && u.Scheme != "" && strings.Contains(text, "://") {
		return text
	}
	return f.fromWorkingDir(text)
}

// readAccess finds the keys of the remote. A flag counts more than the environment.
func (f *commandLine) readAccess(text string, typed accessFlags) (a retake.RemoteAccess, err error) {
	u, perr := url.Parse(text)
	if perr == nil && !filepath.IsAbs(text) && f.RemoteAccess != nil { // the service says what is wrong with it
		a, err = f.RemoteAccess(u.Scheme, typed.identity)
	}
	a.Endpoint, a.Region = cmp.Or(typed.endpoint, a.Endpoint), cmp.Or(typed.region, a.Region)
	return a, err
}

func renderRemoteAdded(l term.Style, r retake.Remote) string {
	text := fmt.Sprintf("%s %s is the remote %s. %s %s uploaded in the background.\n", l.Green(l.Glyphs.Yes), termtext.Escape(r.URL), l.Bold(termtext.Escape(r.Name)),
		term.CountCheckpoints(r.Pending), plural(r.Pending, "is", "are"))
	return text + "  " + l.Dim(protectionText(r.Protection)) + "\n"
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// protectionText says what a place promises.
func protectionText(p retake.RemoteProtection) string {
	switch {
	case p.LockDays > 0:
		return "Nobody can delete there for " + term.CountNoun(p.LockDays, "day", "days") + "."
	case p.Versioned:
		return "It keeps what is deleted as an older version."
	case p.Refuses:
		return "It refuses to replace what it has; who has its keys can delete there."
	}
	return "Who can write there can also replace and delete."
}

// renderCopyKey shows the key in two lines that can be copied by hand.
func renderCopyKey(l term.Style, key string) string {
	groups := strings.Split(key, "-")
	half := (len(groups) + 1) / 2
	return fmt.Sprintf("\nRecovery key\n\n    %s\n    %s\n\n%s\n", l.Bold(strings.Join(groups[:half], "-")+"-"), l.Bold(strings.Join(groups[half:], "-")),
		l.HangingIndent("  Keep it where this machine is not: in a password manager, or on paper. Without it nobody can read the copies, not even you. Who has it and a copy can read all of it.", 2))
}

func newRemoteKeyCommand(f *commandLine) *cobra.Command {
	var confirm bool
	cmd := &cobra.Command{
		Use: "key", Short: "Show the recovery key that opens the copies", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			key, err := f.RecoveryKeys.Copies()
			if err != nil {
				return err
			}
			if confirm {
				return confirmCopyKey(cmd.Context(), f, key)
			}
			return f.printAnswer(remoteKeyAnswer{V: 1, Key: key}, func(l term.Style) string { return strings.TrimPrefix(renderCopyKey(l, key), "\n") })
		},
	}
	cmd.Flags().BoolVar(&confirm, "confirm", false, "say that you have the key elsewhere: it asks for two groups of it")
	return markNeedsEngine(cmd)
}

// confirmCopyKey asks for two groups of the key, which somebody who has it elsewhere can read there.
func confirmCopyKey(ctx context.Context, f *commandLine, key string) error {
	groups := strings.Split(key, "-")
	asked := []int{int(f.Clock.Now().Unix() % int64(len(groups)/2)), len(groups)/2 + int(f.Clock.Now().UnixMilli()%int64(len(groups)/2))}
	if !f.canAsk() {
		return &retake.Error{Kind: retake.Denied, What: "two groups of the key are asked for, and there is no terminal", Safe: nothingChanged, Hint: "in a terminal: retake remote key --confirm"}
	}
	for _, i := range asked {
		text, err := f.askLine(ctx, fmt.Sprintf("Group %d of the recovery key, as you kept it:", i+1))
		if err != nil {
			return err
		}
		if !strings.EqualFold(strings.TrimSpace(text), groups[i]) {
			return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("that is not group %d of the key", i+1), Safe: nothingChanged, Hint: "show the key again: retake remote key"}
		}
	}
	if err := f.RecoveryKeys.Confirm(); err != nil {
		return err
	}
	return f.printAnswer(remoteKeyAnswer{V: 1, Confirmed: true}, func(l term.Style) string {
		return l.Green(l.Glyphs.Yes) + " The recovery key is confirmed.\n"
	})
}

func newRemoteListCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List remotes and how far each is", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := f.openService(cmd.Context())
			if err != nil {
				return err
			}
			all, err := s.Remotes(cmd.Context())
			if err != nil {
				return err
			}
			if err := printRemotes(f, all); err != nil || len(all) > 0 {
				return err
			}
			f.printHints("add one", "retake help remote add")
			return nil
		},
	}
}

func printRemotes(f *commandLine, all []retake.Remote) error {
	return f.printAnswer(remotesAnswer{1, nonNil(all)}, func(l term.Style) string {
		if len(all) == 0 {
			return "There are no remotes: the history is on this machine only.\n"
		}
		var out strings.Builder
		for i, r := range all {
			if i > 0 {
				out.WriteString("\n")
			}
			out.WriteString(renderRemote(l, r))
		}
		return out.String()
	})
}

// renderRemote draws one remote with its workspaces.
func renderRemote(l term.Style, r retake.Remote) string {
	var out strings.Builder
	room := termtext.Width(l.Glyphs.Yes)
	say := func(sign, name, text string) {
		fmt.Fprintf(&out, "%s\n", l.HangingIndent("  "+sign+strings.Repeat(" ", max(room-l.ShownWidth(sign), 0))+" "+termtext.Pad(name, 12)+text, 15+room))
	}
	fmt.Fprintf(&out, "%s  %s\n", l.Bold(termtext.Escape(r.Name)), l.Dim(termtext.Escape(r.URL)))
	row := remoteRow(l, r)
	say(row.sign, "uploaded", row.text)
	if t := r.Trouble; t != nil {
		say("", "", l.Dim(troubleText(l, *t)))
		for line := range strings.Lines(t.Hint) {
			say("", "", l.Dim(termtext.Escape(strings.TrimSuffix(line, "\n"))))
		}
	}
	for _, w := range r.Workspaces {
		text := "all is there"
		if w.Pending > 0 {
			text = term.CountCheckpoints(w.Pending) + " waiting"
		}
		say("", "", l.JoinFacts(termtext.Escape(w.Name), fmt.Sprintf("%d of %d", w.Uploaded, w.Newest), text))
	}
	say("", "sent", l.JoinFacts(termtext.Bytes(r.Sent), "since "+l.ShortTime(r.Created)))
	say("", "protection", protectionText(r.Protection))
	if r.Damaged > 0 {
		say(l.Red("!"), "damaged", term.CountNoun(r.Damaged, "object is", "objects are")+" damaged here and not there: retake doctor --repair")
	}
	if c := r.Check; c != nil {
		say(checkSign(l, *c), "checked", checkedText(l, *c))
	}
	if !r.KeyConfirmed {
		say(l.Yellow("!"), "key", "recovery key not confirmed: retake remote key --confirm")
	}
	return out.String()
}

// remoteRow says in one line how far a remote is.
func remoteRow(l term.Style, r retake.Remote) statusRow {
	there := int64(0)
	if len(r.Workspaces) == 1 {
		there = r.Workspaces[0].Uploaded
	}
	switch {
	case r.Trouble != nil && r.Trouble.Tries > 1:
		return statusRow{sign: l.Yellow("!"), text: l.JoinFacts("unavailable since "+l.ShortTime(r.Trouble.Since), term.CountCheckpoints(r.Pending)+" waiting")}
	case r.Uploaded == nil:
		return statusRow{sign: l.Yellow("!"), text: l.JoinFacts("nothing is there yet", term.CountCheckpoints(r.Pending)+" waiting")}
	case r.Pending > 0:
		return statusRow{sign: l.Yellow("!"), text: l.JoinFacts(term.CountCheckpoints(r.Pending)+" waiting", "all was there "+l.ShortTime(*r.Uploaded))}
	case there > 0:
		return statusRow{sign: l.Green(l.Glyphs.Yes), text: l.JoinFacts(fmt.Sprintf("%d uploaded %s", there, l.ShortTime(*r.Uploaded)), "nothing is waiting")}
	}
	return statusRow{sign: l.Green(l.Glyphs.Yes), text: l.JoinFacts("all is there, "+l.ShortTime(*r.Uploaded), "nothing is waiting")}
}

func troubleText(l term.Style, t retake.BackupTrouble) string {
	facts := []string{l.Glyphs.Cut(l.EscapeText(t.What), 200), countText(t.Tries, "try", "tries")}
	if t.Next != nil && t.Next.After(l.Now) {
		facts = append(facts, "again in "+t.Next.Sub(l.Now).Round(time.Second).String())
	}
	return l.JoinFacts(append(facts, "saving is not delayed")...)
}

func checkSign(l term.Style, c retake.RemoteCheck) string {
	if len(c.Failed) > 0 {
		return l.Red(l.Glyphs.No)
	}
	return l.Green(l.Glyphs.Yes)
}

func checkedText(l term.Style, c retake.RemoteCheck) string {
	facts := []string{l.Ago(c.At), term.CountCheckpoints(c.Checkpoints) + " and " + term.CountNoun(c.Objects, "object", "objects") + " read back", termtext.Bytes(c.Bytes), fmt.Sprintf("%d failed", len(c.Failed))}
	return l.JoinFacts(facts...)
}

// remoteRows returns the rows of remotes in the status of a workspace.
func remoteRows(l term.Style, all []retake.Remote) []statusRow {
	var out []statusRow
	name, width := "remote", 0
	for _, r := range all {
		width = max(width, termtext.Width(r.Name))
	}
	for _, r := range all {
		row := remoteRow(l, r)
		row.name, row.text = name, termtext.Pad(termtext.Escape(r.Name), width)+"  "+row.text
		out, name = append(out, row), ""
	}
	if slices.ContainsFunc(all, func(r retake.Remote) bool { return !r.KeyConfirmed }) {
		out = append(out, statusRow{l.Yellow("!"), "", "recovery key not confirmed: retake remote key --confirm"})
	}
	return out
}

func newRemoteSyncCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "sync [NAME]", Short: "Upload now and wait until it is done", Args: argsBetween(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.openService(cmd.Context())
			if err != nil {
				return err
			}
			all, err := s.SyncRemotes(cmd.Context(), retake.SyncQuery{Name: firstOf(args)})
			if err != nil {
				return err
			}
			return printRemotes(f, all)
		},
	}
}

func firstOf(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func newRemoteCheckCommand(f *commandLine) *cobra.Command {
	var all bool
	var share float64
	cmd := &cobra.Command{
		Use: "check [NAME]", Short: "Read back what a remote has and compare it", Args: argsBetween(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.openService(cmd.Context())
			if err != nil {
				return err
			}
			name, err := onlyRemote(cmd.Context(), s, firstOf(args))
			if err != nil {
				return err
			}
			if all {
				share = 1
			}
			c, err := s.CheckRemote(cmd.Context(), retake.RemoteCheckQuery{Name: name, Share: share})
			if err != nil {
				return err
			}
			if err := f.printAnswer(remoteCheckAnswer{1, c}, func(l term.Style) string { return renderRemoteCheck(l, name, c) }); err != nil {
				return err
			}
			if n := len(c.Failed); n > 0 {
				return &retake.Error{Kind: retake.Damaged, What: fmt.Sprintf("%d of what was read back from %s is damaged", n, name), Safe: "All checkpoints are here.", Hint: "begin a new copy: retake help remote add"}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "read all file content")
	cmd.Flags().Float64Var(&share, "share", 0.05, "read this `SHARE` of the file content, from 0 (structure only) to 1")
	return cmd
}

// onlyRemote returns the name of the only remote if none was named.
func onlyRemote(ctx context.Context, s retake.Service, name string) (string, error) {
	if name != "" {
		return name, nil
	}
	all, err := s.Remotes(ctx)
	if err != nil {
		return "", err
	}
	if len(all) != 1 {
		return "", usageError("see which there are: retake remote list", "Which remote? There are %d.", len(all))
	}
	return all[0].Name, nil
}

func renderRemoteCheck(l term.Style, name string, c retake.RemoteCheck) string {
	text := fmt.Sprintf("%s %s  %s\n", checkSign(l, c), l.Bold(termtext.Escape(name)), checkedText(l, c))
	for i, line := range c.Failed {
		if i == 20 {
			text += fmt.Sprintf("  and %d more\n", len(c.Failed)-i)
			break
		}
		text += "  " + termtext.Escape(line) + "\n"
	}
	return text
}

func newRemoteRemoveCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Stop uploading; the remote keeps what it has", Args: argsBetween(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.openService(cmd.Context())
			if err != nil {
				return err
			}
			r, err := s.RemoveRemote(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return f.printAnswer(remoteAnswer{V: 1, Remote: r}, func(l term.Style) string {
				return fmt.Sprintf("%s %s is no remote any more. It keeps what it has.\n", l.Green(l.Glyphs.Yes), termtext.Escape(cmp.Or(r.URL, r.Name)))
			})
		},
	}
}
