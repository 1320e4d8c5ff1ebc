package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type configCmd struct {
	*commandLine
	unset bool
}

type settingsAnswer struct {
	V        int              `json:"v"`
	Settings []retake.Setting `json:"settings"`
}

type valueAnswer struct {
	V     int    `json:"v"`
	Key   string `json:"key"`
	Value string `json:"value"`
}

func newConfigCommand(f *commandLine) *cobra.Command {
	c := &configCmd{commandLine: f}
	cmd := &cobra.Command{
		Use: "config [KEY [VALUE]]", Short: "Show or change settings", Args: argsBetween(0, 2), RunE: c.run,
	}
	cmd.Flags().BoolVar(&c.unset, "unset", false, "reset KEY to its default")
	return cmd
}

func (c *configCmd) run(cmd *cobra.Command, args []string) error {
	if c.unset && len(args) != 1 {
		return usageError(helpHint(cmd), "--unset takes one key and no value.")
	}
	if len(args) == 0 {
		all := c.Settings.List()
		if all == nil {
			all = []retake.Setting{}
		}
		return c.printAnswer(settingsAnswer{1, all}, func(l term.Style) string {
			if !c.OutTTY { // a program that reads it wants one line for each
				l.Width = 0
			}
			return renderSettings(l, all)
		})
	}
	if k, v, ok := strings.Cut(args[0], "="); ok && len(args) == 1 {
		return usageError("set it: retake config "+c.stderrStyle().ShellPath(k)+" "+c.stderrStyle().ShellPath(v), "A setting is KEY VALUE, without a sign between.")
	}
	key, err := c.workspaceKey(cmd.Context(), args[0])
	switch {
	case err != nil:
		return err
	case c.loosensGate(key, args):
		err = c.confirmLooserGate(cmd.Context(), key)
		if err != nil {
			return err
		}
	}
	switch {
	case c.unset:
		err = c.Settings.Unset(c.existingKey(key, args[0]))
	case len(args) == 2:
		err = c.Settings.Set(key, args[1])
	}
	if err != nil {
		return err
	}
	return c.printValue(key)
}

// loosensGate reports whether a change lets agents do more that nothing can take back.
func (c *configCmd) loosensGate(key string, args []string) bool {
	value := string(retake.GateAllow)
	if len(args) == 2 {
		value = args[1]
	}
	return (c.unset || len(args) == 2) && c.Settings.LoosensGate(key, value)
}

// confirmLooserGate asks a person: else an agent could change the policy that stops it.
func (c *configCmd) confirmLooserGate(ctx context.Context, key string) error {
	if !c.canAsk() {
		return errNeedsTerminal("loosen " + key)
	}
	ok, err := c.askYesNo(ctx, "Agents may then do more that can't be undone. Loosen "+key+"?")
	if err == nil && !ok {
		err = errCancelled
	}
	return err
}

// standingVerifyPrefix begins the keys of standing verifications.
const standingVerifyPrefix = "verify."

// workspaceKey returns the key of a standing verification for the current workspace, because
// one for all workspaces is rare. Other keys are returned unchanged.
func (c *configCmd) workspaceKey(ctx context.Context, key string) (string, error) {
	if !strings.HasPrefix(key, standingVerifyPrefix) || c.EverProtected != nil && !c.EverProtected() {
		return key, nil
	}
	_, ws, err := c.locateWorkspace(ctx)
	switch {
	case retake.IsKind(err, retake.NotFound):
		return key, nil
	case err != nil:
		return "", err
	}
	return string(ws.ID) + "." + key, nil
}

// existingKey returns the key that is set: that of the workspace, else the one as typed.
func (c *configCmd) existingKey(key, typed string) string {
	for _, s := range c.Settings.List() {
		if s.Key == key {
			return key
		}
	}
	return typed
}

func (c *configCmd) printValue(key string) error {
	v, err := c.Settings.Value(key)
	if err != nil {
		return err
	}
	return c.printAnswer(valueAnswer{1, key, v}, func(l term.Style) string {
		if v == "" && c.OutTTY { // a person wants to know what holds then
			return c.unsetText(l, key)
		}
		return termtext.Escape(v) + "\n"
	})
}

// unsetText is the row of a setting that has no value.
func (c *configCmd) unsetText(l term.Style, key string) string {
	for _, s := range c.Settings.List() {
		if s.Key == key {
			return renderSettings(l, []retake.Setting{s})
		}
	}
	return l.Glyphs.Dash + "\n"
}

// maxKeyColumn is how wide the column of keys may be. The key of one workspace begins with an
// id and is wider: it has a line of its own, so that it does not push all others aside.
const maxKeyColumn = 20

// renderSettings is a row for each; without a width nothing is broken.
func renderSettings(l term.Style, all []retake.Setting) string {
	key, value := 0, 1
	fits := func(w int) bool { return w <= maxKeyColumn || l.Width <= 0 }
	for _, s := range all {
		if w := termtext.Width(termtext.Escape(s.Key)); fits(w) {
			key = max(key, w)
		}
		if w := termtext.Width(termtext.Escape(s.Value)); w <= maxKeyColumn {
			value = max(value, w)
		}
	}
	var b strings.Builder
	for _, s := range all {
		name := termtext.Escape(s.Key)
		if !fits(termtext.Width(name)) {
			b.WriteString(name + "\n")
			name = ""
		}
		b.WriteString(termtext.Pad(name, key) + "  " + settingText(l, s, key, value))
	}
	return b.String()
}

// settingText returns the text after a key: the value, and what it means in as many lines as
// needed.
func settingText(l term.Style, s retake.Setting, key, value int) string {
	v := termtext.Escape(s.Value)
	if v == "" {
		v = l.Glyphs.Dash
	}
	help := termtext.Escape(s.Help)
	if s.From != "" && s.From != "default" {
		help += "  (" + termtext.Escape(s.From) + ")"
	}
	column, lines := key+value+4, []string{help}
	if l.Width > 0 {
		lines = term.WrapLine(help, max(l.Width-column-max(termtext.Width(v)-value, 0), helpColumn))
	}
	for i := range lines {
		lines[i] = l.Dim(lines[i])
	}
	return l.Bold(termtext.Pad(v, value)) + "  " + strings.Join(lines, "\n"+strings.Repeat(" ", column)) + "\n"
}
