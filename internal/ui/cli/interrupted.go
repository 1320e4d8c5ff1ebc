package cli

import "github.com/retake-dev/retake"

// orInterrupted gives an answer that went well the code of a restore that waits to be
// finished or taken back; the banner has said so.
func orInterrupted(err error, ws retake.Workspace) error {
	if err != nil || ws.Interrupted == nil {
		return err
	}
	waits := &retake.Error{Kind: retake.Partly}
	return exitError{code: waits.Exit()}
}
