package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// exitCode is part of the contract with scripts.
type exitCode struct {
	Code  int    `json:"code"`
	Kind  string `json:"kind"`
	Means string `json:"means"`
}

var exitCodes = []exitCode{
	{0, "", "done"},
	{1, "internal", "internal error"},
	{2, "invalid", "invalid arguments"},
	{3, "not-found", "not found"},
	{4, "exists", "already exists"},
	{5, "moved", "something changed in the meantime"},
	{6, "denied", "confirmation required"},
	{failedCheckExit, string(checkFailed), "a check failed"},
	{8, "limit", "a limit is reached"},
	{9, "damaged", "stored data is damaged"},
	{10, "away", "store unavailable"},
	{11, "busy", "busy: another operation is running"},
	{12, "partly", "done in part, or a restore was interrupted"},
	{130, "canceled", "interrupted"},
}

// handbook is the help for programs.
type handbook struct {
	V        int          `json:"v"`
	Commands []manualPage `json:"commands"`
	Flags    []manualFlag `json:"flags"` // of every command
	Exits    []exitCode   `json:"exit_codes"`
}

type manualPage struct {
	Name    string       `json:"name"`
	Usage   string       `json:"usage"`
	Does    string       `json:"does"`
	More    string       `json:"more,omitempty"`
	Aliases []string     `json:"aliases,omitempty"`
	Flags   []manualFlag `json:"flags,omitempty"`
}

type manualFlag struct {
	Name    string `json:"name"`
	Short   string `json:"short,omitempty"`
	Type    string `json:"type"`
	Default string `json:"default,omitempty"`
	Does    string `json:"does"`
}

func buildManual(root *cobra.Command) handbook {
	h := handbook{V: 1, Flags: manualFlags(root.PersistentFlags()), Exits: exitCodes}
	h.Commands = append(h.Commands, manualPage{Name: "retake", Usage: "retake", Does: root.Short})
	for _, cmd := range visibleCommands(root) {
		h.Commands = append(h.Commands, buildManualPage(cmd))
		for _, sub := range visibleCommands(cmd) {
			h.Commands = append(h.Commands, buildManualPage(sub))
		}
	}
	return h
}

func buildManualPage(cmd *cobra.Command) manualPage {
	return manualPage{
		Name: strings.TrimPrefix(cmd.CommandPath(), "retake "), Usage: usageLine(cmd), Does: cmd.Short,
		More: strings.ReplaceAll(cmd.Long, "\n", " "), Aliases: cmd.Aliases, Flags: manualFlags(cmd.LocalNonPersistentFlags()),
	}
}

func manualFlags(set *pflag.FlagSet) []manualFlag {
	var out []manualFlag
	set.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Hidden {
			return
		}
		_, does := pflag.UnquoteUsage(f)
		out = append(out, manualFlag{Name: "--" + f.Name, Short: f.Shorthand, Type: f.Value.Type(), Default: f.DefValue, Does: does})
	})
	return out
}
