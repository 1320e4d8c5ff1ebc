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
	*face
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

func (f *face) configCommand() *cobra.Command {
	c := &configCmd{face: f}
	cmd := &cobra.Command{
		Use: "config [KEY [VALUE]]", Short: "Show or change settings", Args: between(0, 2), RunE: c.run,
	}
	cmd.Flags().BoolVar(&c.unset, "unset", false, "reset KEY to its default")
	return cmd
}

func (c *configCmd) run(cmd *cobra.Command, args []string) error {
	if c.unset && len(args) != 1 {
		return usage(helpHint(cmd), "--unset takes one key and no value.")
	}
	if len(args) == 0 {
		all := c.Settings.List()
		if all == nil {
			all = []retake.Setting{}
		}
		return c.emit(settingsAnswer{1, all}, func(l term.Look) string {
			if !c.OutTTY { // a program that reads it wants one line for each
				l.Width = 0
			}
			return renderSettings(l, all)
		})
	}
	if k, v, ok := strings.Cut(args[0], "="); ok && len(args) == 1 {
		return usage("set it: retake config "+c.talk().Word(k)+" "+c.talk().Word(v), "A setting is KEY VALUE, without a sign between.")
	}
	key, err := c.meant(cmd.Context(), args[0])
	switch {
	case err != nil:
		return err
	case c.unset:
		err = c.Settings.Unset(c.present(key, args[0]))
	case len(args) == 2:
		err = c.Settings.Set(key, args[1])
	}
	if err != nil {
		return err
	}
	return c.value(key)
}

// standingKey begins the keys of standing verifications.
const standingKey = "verify."

// meant is the key of a standing verification in the workspace where it is typed: one
// that fits all workspaces is rare. Other keys mean what they say.
func (c *configCmd) meant(ctx context.Context, key string) (string, error) {
	if !strings.HasPrefix(key, standingKey) || c.Begun != nil && !c.Begun() {
		return key, nil
	}
	_, ws, err := c.find(ctx)
	switch {
	case retake.IsKind(err, retake.NotFound):
		return key, nil
	case err != nil:
		return "", err
	}
	return string(ws.ID) + "." + key, nil
}

// present is the key that is set: that of the workspace, else the one as typed.
func (c *configCmd) present(key, typed string) string {
	for _, s := range c.Settings.List() {
		if s.Key == key {
			return key
		}
	}
	return typed
}

func (c *configCmd) value(key string) error {
	v, err := c.Settings.Value(key)
	if err != nil {
		return err
	}
	return c.emit(valueAnswer{1, key, v}, func(l term.Look) string {
		if v == "" && c.OutTTY { // a person wants to know what holds then
			return c.unsetText(l, key)
		}
		return termtext.Escape(v) + "\n"
	})
}

// unsetText is the row of a setting that has no value.
func (c *configCmd) unsetText(l term.Look, key string) string {
	for _, s := range c.Settings.List() {
		if s.Key == key {
			return renderSettings(l, []retake.Setting{s})
		}
	}
	return l.Glyphs.Dash + "\n"
}

// keyColumn is how wide the column of keys may be. The key of one workspace begins with an
// id and is wider: it has a line of its own, so that it does not push all others aside.
const keyColumn = 20

// renderSettings is a row for each; without a width nothing is broken.
func renderSettings(l term.Look, all []retake.Setting) string {
	key, value := 0, 1
	fits := func(w int) bool { return w <= keyColumn || l.Width <= 0 }
	for _, s := range all {
		if w := termtext.Width(termtext.Escape(s.Key)); fits(w) {
			key = max(key, w)
		}
		if w := termtext.Width(termtext.Escape(s.Value)); w <= keyColumn {
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

// settingText is what stands behind a key: the value, and what it means in as many lines
// as that takes.
func settingText(l term.Look, s retake.Setting, key, value int) string {
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
		lines = term.Wrapped(help, max(l.Width-column-max(termtext.Width(v)-value, 0), helpColumn))
	}
	for i := range lines {
		lines[i] = l.Dim(lines[i])
	}
	return l.Bold(termtext.Pad(v, value)) + "  " + strings.Join(lines, "\n"+strings.Repeat(" ", column)) + "\n"
}
