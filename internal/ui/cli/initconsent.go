package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// collectConsent returns the classes of danger that the user accepts, by flag or by answer.
// --yes accepts none of them.
func (c *initCmd) collectConsent(ctx context.Context, dangers []retake.Danger, typed []string) ([]string, error) {
	accepted := slices.Clone(c.accept)
	var missing []retake.Danger
	for _, d := range dangers {
		if !slices.Contains(accepted, d.Class) {
			missing = append(missing, d)
		}
	}
	if len(missing) > 0 && (!c.canAsk() || c.yes) {
		return nil, missingConsentError(missing, accepted, typed)
	}
	for i, d := range missing {
		ok, err := c.askYesNo(ctx, fmt.Sprintf("%d of %d  %s: %s Protect it all the same?", i+1, len(missing), c.stderrStyle().Yellow(d.Class), term.AsSentence(termtext.Escape(d.Text))))
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, errCancelled
		}
		accepted = append(accepted, d.Class)
	}
	return accepted, nil
}

// collectPlaceConsent asks about a home or system directory before anything is read: to count its
// files takes minutes. Which directories of a server these are, only the server knows.
func (c *initCmd) collectPlaceConsent(ctx context.Context, dir string, typed []string) error {
	if c.system || c.isRemote() {
		return nil
	}
	dangers := retake.PlaceDangers(resolveSymlinks(dir), c.Home, resolveSymlinks(c.Home))
	accepted, err := c.collectConsent(ctx, dangers, typed)
	c.accept = accepted
	return err
}

// confirmMachineCapture asks before the whole machine is captured. The word must be typed or
// given with --accept; "y" or --yes is not enough.
func (c *initCmd) confirmMachineCapture(ctx context.Context, look retake.Estimate) ([]string, error) {
	all := []string{retake.DangerHome, retake.DangerSystem, retake.DangerGiant, retake.DangerNested}
	if slices.Contains(c.accept, retake.DangerSystem) {
		return all, nil
	}
	what := fmt.Sprintf("This captures the whole machine, every user's files included: %s, %s.", term.CountFiles(look.Files), termtext.Bytes(look.Bytes))
	if !c.canAsk() || c.yes {
		return nil, &retake.Error{
			Kind: retake.Denied, What: what, Safe: nothingChanged,
			Hint: "preview: retake estimate /\ngo ahead: retake init --system --accept " + retake.DangerSystem,
		}
	}
	text, err := c.askLine(ctx, fmt.Sprintf("%s %s\nType the word %s to go ahead: ", c.stderrStyle().Yellow("!"), what, retake.DangerSystem))
	if err != nil {
		return nil, err
	}
	if text != retake.DangerSystem {
		return nil, errCancelled
	}
	return all, nil
}

func missingConsentError(missing []retake.Danger, accepted, typed []string) error {
	dir := strings.Join(append([]string{""}, typed...), " ")
	var texts []string
	for _, d := range missing {
		texts = append(texts, term.AsSentence(d.Text))
		accepted = append(accepted, d.Class)
	}
	return &retake.Error{
		Kind: retake.Denied, What: strings.Join(texts, " "), Safe: nothingChanged,
		Hint: "preview: retake estimate" + dir + "\ngo ahead: retake init" + dir + " --accept " + strings.Join(accepted, ","),
	}
}
