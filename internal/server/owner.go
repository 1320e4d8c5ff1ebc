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
const ownerPatience = 30 * time.Second

// readOwner reads the id of the data directory, or makes one; servers that share the
// directory share it.
func (s *Server) readOwner() error {
	text, err := keyFile(filepath.Join(s.o.Data, "owner"), uuid.NewString)
	s.owner = strings.TrimSpace(text)
	return err
}

// checkBucket refuses a bucket that is another's before anything is written anywhere.
func (s *Server) checkBucket(ctx context.Context) error {
	if s.o.Bucket == nil || s.o.TakeOver {
		return nil
	}
	return s.ownsBucket(ctx)
}

// ownsBucket answers whose the bucket is, when it is not ours or nobody's.
func (s *Server) ownsBucket(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ownerPatience)
	defer cancel()
	is, err := s.o.Bucket.Owner(ctx)
	if err != nil {
		return bucketAway(err)
	}
	return s.mustOwn("the bucket "+s.o.Bucket.Name, is)
}

// claimBucket makes the bucket ours.
func (s *Server) claimBucket(ctx context.Context) error {
	if s.o.Bucket == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, ownerPatience)
	defer cancel()
	is, err := s.o.Bucket.Claim(ctx, s.owner, s.o.TakeOver)
	if err != nil {
		return bucketAway(err)
	}
	return s.mustOwn("the bucket "+s.o.Bucket.Name, is)
}

func bucketAway(err error) error {
	return &retake.Error{Kind: retake.Away, What: "the bucket cannot be reached", Safe: "Nothing was changed.", Err: err}
}

// claimDatabase makes the database ours. Its tables are brought up to date only when it is
// nobody else's.
func (s *Server) claimDatabase(ctx context.Context, migrate func() error) error {
	if !s.o.TakeOver {
		if err := s.ownsDatabase(ctx); err != nil {
			return err
		}
	}
	if err := migrate(); err != nil {
		return err
	}
	is, err := sqldb.Own(ctx, s.db, s.owner, s.o.TakeOver)
	if err != nil {
		return err
	}
	return s.mustOwn("the database", is)
}

// ownsDatabase answers whose the database is, when it is not ours or nobody's, and that it
// cannot be reached.
func (s *Server) ownsDatabase(ctx context.Context) error {
	if err := s.db.PingContext(ctx); err != nil || s.o.Postgres == "" {
		return err
	}
	is, err := sqldb.Owner(ctx, s.db)
	if err != nil {
		return err
	}
	return s.mustOwn("the database", is)
}

// mustOwn explains that something is another data directory's.
func (s *Server) mustOwn(what, is string) error {
	if is == "" || is == s.owner {
		return nil
	}
	return &retake.Error{
		Kind: retake.Denied, What: what + " belongs to the servers of another data directory", Safe: "Nothing was changed.",
		Hint: "start all servers with the same --data\nif the other directory is gone for good: add --take-over",
	}
}
