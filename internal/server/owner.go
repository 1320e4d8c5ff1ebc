package server

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
)

// A data directory has an id, and the database and the bucket say which directory's they
// are. The locks that keep two servers from one namespace are in the directory: a server of
// another one does not see them, and each would take the other's packs for garbage.

// ownerPatience is how long the bucket may take to say whose it is.
const ownerTimeout = 30 * time.Second

// readOwnerID reads the id of the data directory, or makes one; servers that share the
// directory share it.
func (s *Server) readOwnerID() error {
	text, err := readOrCreateSecret(filepath.Join(s.opts.DataDir, "owner"), uuid.NewString)
	s.ownerID = strings.TrimSpace(text)
	return err
}

// checkBucket refuses a bucket that is another's before anything is written anywhere.
func (s *Server) checkBucket(ctx context.Context) error {
	if s.opts.Bucket == nil || s.opts.TakeOver {
		return nil
	}
	return s.checkBucketOwner(ctx)
}

// checkBucketOwner answers whose the bucket is, when it is not ours or nobody's.
func (s *Server) checkBucketOwner(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ownerTimeout)
	defer cancel()
	is, err := s.opts.Bucket.Owner(ctx)
	if err != nil {
		return bucketUnreachable(err)
	}
	return s.checkOwner("the bucket "+s.opts.Bucket.Name, is)
}

// claimBucket makes the bucket ours.
func (s *Server) claimBucket(ctx context.Context) error {
	if s.opts.Bucket == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, ownerTimeout)
	defer cancel()
	is, err := s.opts.Bucket.Claim(ctx, s.ownerID, s.opts.TakeOver)
	if err != nil {
		return bucketUnreachable(err)
	}
	return s.checkOwner("the bucket "+s.opts.Bucket.Name, is)
}

func bucketUnreachable(err error) error {
	return &retake.Error{Kind: retake.Away, What: "the bucket cannot be reached", Safe: "Nothing was changed.", Err: err}
}

// claimDatabase makes the database ours. Its tables are brought up to date only when it is
// nobody else's.
func (s *Server) claimDatabase(ctx context.Context, migrate func() error) error {
	if !s.opts.TakeOver {
		if err := s.checkDatabaseOwner(ctx); err != nil {
			return err
		}
	}
	if err := migrate(); err != nil {
		return err
	}
	is, err := sqldb.ClaimOwner(ctx, s.db, s.ownerID, s.opts.TakeOver)
	if err != nil {
		return err
	}
	return s.checkOwner("the database", is)
}

// checkDatabaseOwner answers whose the database is, when it is not ours or nobody's, and that it
// cannot be reached.
func (s *Server) checkDatabaseOwner(ctx context.Context) error {
	if err := s.db.PingContext(ctx); err != nil || s.opts.Postgres == "" {
		return err
	}
	is, err := sqldb.ReadOwner(ctx, s.db)
	if err != nil {
		return err
	}
	return s.checkOwner("the database", is)
}

// checkOwner explains that something is another data directory's.
func (s *Server) checkOwner(what, is string) error {
	if is == "" || is == s.ownerID {
		return nil
	}
	return &retake.Error{
		Kind: retake.Denied, What: what + " belongs to the servers of another data directory", Safe: "Nothing was changed.",
		Hint: "start all servers with the same --data\nif the other directory is gone for good: add --take-over",
	}
}
