package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
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
	cmd := &cobra.Command{Use: "config [KEY [VALUE]]", Short: "show or change settings", Args: between(0, 2), RunE: c.run}
	cmd.Flags().BoolVar(&c.unset, "unset", false, "take KEY back to its default")
	return cmd
}

func (c *configCmd) run(cmd *cobra.Command, args []string) error {
	if c.unset {
		if len(args) != 1 {
			return usage(helpHint(cmd), "Usage: retake config --unset KEY.")
		}
		if err := c.Settings.Unset(args[0]); err != nil {
			return err
		}
		return c.value(args[0])
	}
	switch len(args) {
	case 0:
		all := c.Settings.List()
		if all == nil {
			all = []retake.Setting{}
		}
		return c.emit(settingsAnswer{1, all}, func(l look) string { return renderSettings(l, all) })
	case 2:
		if err := c.Settings.Set(args[0], args[1]); err != nil {
			return err
		}
	}
	return c.value(args[0])
}

func (c *configCmd) value(key string) error {
	v, err := c.Settings.Value(key)
	if err != nil {
		return err
	}
	return c.emit(valueAnswer{1, key, v}, func(look) string { return screen.Escape(v) + "\n" })
}

func renderSettings(l look, all []retake.Setting) string {
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
			v = l.g.Dash
		}
		from := ""
		if s.From != "" && s.From != "default" {
			from = "  (" + screen.Escape(s.From) + ")"
		}
		fmt.Fprintf(&b, "%s  %s  %s\n", screen.Pad(screen.Escape(s.Key), key), l.bold(screen.Pad(v, value)), l.dim(screen.Escape(s.Help)+from))
	}
	return b.String()
}
