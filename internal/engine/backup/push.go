package backup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pattern"
)

var commitPattern = pattern.Lazy(`^[0-9a-f]{40}$`)

// localTip returns the local tip of the branch, or nil if there is none.
func (r *repo) localTip(ctx context.Context) (*commitInfo, error) {
	out, err := r.runGit(ctx, "for-each-ref", "--format=%(objectname)", r.ref)
	if err != nil {
		return nil, fmt.Errorf("read branch: %w", err)
	}
	commit := strings.TrimSpace(out)
	if commit == "" {
		return nil, nil
	}
	return r.readCommit(ctx, commit)
}

// readCommit returns what the trailers of a commit say.
func (r *repo) readCommit(ctx context.Context, commit string) (*commitInfo, error) {
	text, err := r.runGit(ctx, "cat-file", "commit", commit)
	if err != nil {
		return nil, fmt.Errorf("read commit: %w", err)
	}
	_, body, _ := strings.Cut(text, "\n\n")
	p, ok := parseCommitInfo(commit, body)
	if !ok {
		return nil, newFault(retake.Moved, ErrRewritten, nil, "the branch of the backup ends with a commit that is not ours", "take it away there, then set the backup again")
	}
	return &p, nil
}

// remoteTip returns the commit of the branch at the remote, or "" if there is none.
func (r *repo) remoteTip(ctx context.Context) (string, error) {
	out, err := r.runGit(ctx, "ls-remote", "--quiet", "--", r.remote.text, r.ref)
	if err != nil {
		return "", r.explainError(err)
	}
	for line := range strings.Lines(out) {
		commit, ref, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if ref == r.ref && commitPattern().MatchString(commit) {
			return commit, nil
		}
	}
	return "", nil
}

// reconcileRemote checks that the remote is as we left it. If the local repository was lost,
// the remote's branch may be fetched; it is never replaced.
func (r *repo) reconcileRemote(ctx context.Context, there string, tip *commitInfo, s *state, src Source) (*commitInfo, error) {
	pushed := ""
	if s.Backup.Pushed != nil {
		pushed = s.Backup.Pushed.Commit
	}
	switch {
	case there == "" && pushed != "":
		return nil, rewrittenError("the branch " + s.Backup.Branch + " is gone from the remote")
	case there == "":
		return tip, nil
	case tip != nil && there == tip.commit:
		return tip, nil
	case tip == nil:
		return r.adoptRemote(ctx, there, pushed, s, src)
	}
	if !r.isAncestor(ctx, there, tip.commit) || pushed != "" && !r.isAncestor(ctx, pushed, there) {
		return nil, rewrittenError("the branch " + s.Backup.Branch + " of the remote is not what was sent")
	}
	return tip, nil
}

func rewrittenError(what string) error {
	return newFault(retake.Moved, ErrRewritten, nil, what+"; nothing of it was replaced", "to begin anew: take the branch away there, then retake help backup set")
}

// isAncestor reports whether we have both commits and old is young or an ancestor of it.
func (r *repo) isAncestor(ctx context.Context, old, young string) bool {
	_, err := r.runGit(ctx, "merge-base", "--is-ancestor", old, young)
	return err == nil
}

// adoptRemote fetches the remote's branch if the local one is lost and the remote's is ours.
func (r *repo) adoptRemote(ctx context.Context, there, pushed string, s *state, src Source) (*commitInfo, error) {
	const aside = "refs/retake/there"
	if _, err := r.runGit(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--progress", "--", r.remote.text, "+"+r.ref+":"+aside); err != nil {
		return nil, r.explainError(err)
	}
	p, err := r.readCommit(ctx, there)
	if err != nil {
		return nil, err
	}
	known, err := src.Known(ctx, p.number)
	if err != nil {
		return nil, err
	}
	if p.workspace != s.Backup.Workspace || known != "" && known != p.checkpoint || pushed != "" && !r.isAncestor(ctx, pushed, there) {
		return nil, rewrittenError("the branch " + s.Backup.Branch + " of the remote is not of this workspace")
	}
	if _, err := r.runGit(ctx, "update-ref", r.ref, there); err != nil {
		return nil, fmt.Errorf("take over the branch: %w", err)
	}
	return p, nil
}

// pushBranch pushes the branch, never by force, and reads it back.
func (r *repo) pushBranch(ctx context.Context, commit string) error {
	_, err := r.runGit(ctx, "push", "--porcelain", "--progress", "--no-verify", "--no-follow-tags", "--", r.remote.text, commit+":"+r.ref)
	if err != nil {
		return r.explainError(err)
	}
	there, err := r.remoteTip(ctx)
	if err != nil {
		return err
	}
	if there != commit {
		return rewrittenError("the remote accepted the branch, but returns another one")
	}
	return nil
}

// errorPatterns map the output of programs to errors.
var errorPatterns = []struct {
	says       []string
	kind       retake.ErrorKind
	cause      error
	what, hint string
}{
	{[]string{"Host key verification failed", "REMOTE HOST IDENTIFICATION HAS CHANGED", "No matching host key", "host key is known by"}, retake.Denied, ErrHost,
		"the host is not the one that was agreed to; nothing was sent", "find out why first; then agree to the new one: retake help backup set"},
	{[]string{"Permission denied", "Load key", "Too many authentication failures"}, retake.Denied, ErrRefused,
		"the remote does not let the key of the backup in", "give it the key, with the right to write: retake backup status"},
	{[]string{"[rejected]", "non-fast-forward", "fetch first"}, retake.Moved, ErrRewritten,
		"the branch of the remote is not what was sent; nothing of it was replaced", "to begin anew: take the branch away there, then retake help backup set"},
	{[]string{"[remote rejected]", "pre-receive hook declined", "read-only", "write access", "not allowed"}, retake.Denied, ErrRefused,
		"the remote refuses the branch", "look whether the key may write there"},
	{[]string{"not appear to be a git repository", "epository not found", "does not exist", "not a git repository"}, retake.NotFound, ErrRefused,
		"there is no repository at that address, or the key may not see it", "make one there, empty, and give it the key: retake backup status"},
}

// explainError turns an error of a remote into a fault.
func (r *repo) explainError(err error) error {
	var f *gitError
	if !errors.As(err, &f) {
		return err
	}
	text := f.stderr + "\n" + f.stdout
	for _, s := range errorPatterns {
		for _, w := range s.says {
			if strings.Contains(text, w) {
				return newFault(s.kind, s.cause, f, s.what, s.hint)
			}
		}
	}
	return newFault(retake.Away, ErrAway, f, "the remote cannot be reached", "it is tried again; look whether it answers")
}
