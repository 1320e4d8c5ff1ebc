package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/picture"
	"github.com/retake-dev/retake/internal/screen"
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
		Use: "config [KEY [VALUE]]", Short: "show or change settings", Args: between(0, 2), RunE: c.run,
		Long: "A key of one workspace is WORKSPACE-ID.KEY, and goes before. verify.NAME is a command that is run after every turn;\n" +
			"in a workspace it is meant for that one, elsewhere for all. An empty command takes it away.",
	}
	cmd.Flags().BoolVar(&c.unset, "unset", false, "take KEY back to its default")
	return cmd
}

func (c *configCmd) run(cmd *cobra.Command, args []string) error {
	if c.unset && len(args) != 1 {
		return usage(helpHint(cmd), "Usage: retake config --unset KEY.")
	}
	if len(args) == 0 {
		all := c.Settings.List()
		if all == nil {
			all = []retake.Setting{}
		}
		return c.emit(settingsAnswer{1, all}, func(l picture.Look) string { return renderSettings(l, all) })
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
	return c.emit(valueAnswer{1, key, v}, func(picture.Look) string { return screen.Escape(v) + "\n" })
}

func renderSettings(l picture.Look, all []retake.Setting) string {
	key, value := 0, 0
	for _, s := range all {
		key = max(key, screen.Width(screen.Escape(s.Key)))
		value = max(value, screen.Width(screen.Escape(s.Value)))
	}
	value = min(max(value, 1), 24)
	var b strings.Builder
	for _, s := range all {
		v := screen.Escape(s.Value)
		if v == "" {
			v = l.Glyphs.Dash
		}
		from := ""
		if s.From != "" && s.From != "default" {
			from = "  (" + screen.Escape(s.From) + ")"
		}
		fmt.Fprintf(&b, "%s  %s  %s\n", screen.Pad(screen.Escape(s.Key), key), l.Bold(screen.Pad(v, value)), l.Dim(screen.Escape(s.Help)+from))
	}
	return b.String()
}
