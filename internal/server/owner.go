package server

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
)

// A data directory has an ID, and the database and the bucket store the ID of the directory
// that owns them. The locks that keep two servers out of one namespace are in the data
// directory. A server with another data directory does not see these locks, and each of the
// two would delete the other's packs as garbage.

// ownerTimeout limits how long the bucket may take to return its owner.
const ownerTimeout = 30 * time.Second

// readOwnerID reads the ID of the data directory, and creates it first if there is none.
// Servers that share the directory share the ID.
func (s *Server) readOwnerID() error {
	text, err := s.readOrCreateSecret("owner", uuid.NewString)
	s.ownerID = strings.TrimSpace(text)
	return err
}

// checkBucket refuses a bucket with another owner before anything is written.
func (s *Server) checkBucket(ctx context.Context) error {
	if s.opts.Bucket == nil || s.opts.TakeOver {
		return nil
	}
	return s.checkBucketOwner(ctx)
}

// checkBucketOwner returns an error if another data directory owns the bucket.
func (s *Server) checkBucketOwner(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ownerTimeout)
	defer cancel()
	is, err := s.opts.Bucket.Owner(ctx)
	if err != nil {
		return bucketUnreachable(err)
	}
	return s.checkOwner("the bucket "+s.opts.Bucket.Name, is)
}

// claimBucket makes this data directory the owner of the bucket.
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

// claimDatabase makes this data directory the owner of the database. The tables are migrated
// only if no other data directory owns them.
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

// checkDatabaseOwner returns an error if the database cannot be reached, or if another data
// directory owns it. A SQLite database is in the data directory and needs no owner.
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

// checkOwner returns an error if the owner of a resource is another data directory.
func (s *Server) checkOwner(what, is string) error {
	if is == "" || is == s.ownerID {
		return nil
	}
	return &retake.Error{
		Kind: retake.Denied, What: what + " belongs to the servers of another data directory", Safe: "Nothing was changed.",
		Hint: "start all servers with the same --data\nif the other directory is gone for good: add --take-over",
	}
}
