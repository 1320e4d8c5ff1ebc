package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/retake-dev/retake/internal/storage/migrate"
)

// SkipLocked makes a query lock the rows that it picks, and skip those that others have locked.
const SkipLocked = "FOR UPDATE SKIP LOCKED"

// Items of the queue are announced by a trigger, so that every writer does it, older versions too.
const (
	announceChannel = "retake_due"
	announceBody    = `BEGIN PERFORM pg_catalog.pg_notify('retake_due', NEW.queue || ' ' || NEW.at_us::text); RETURN NULL; END`

	sqlAnnounced = `SELECT EXISTS (SELECT FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
		WHERE t.tgrelid = to_regclass('due') AND t.tgname = 'retake_announce' AND p.prosrc = $1)`
	sqlAnnounceFunction = `CREATE OR REPLACE FUNCTION retake_announce_due() RETURNS trigger LANGUAGE plpgsql AS $retake$` + announceBody + `$retake$`
	sqlAnnounceTrigger  = `CREATE TRIGGER retake_announce AFTER INSERT OR UPDATE OF at_us ON due FOR EACH ROW EXECUTE FUNCTION retake_announce_due()`
)

// AnnounceDue makes the database announce every item that is put into the queue of a ledger. Several
// servers may do so at once.
func AnnounceDue(ctx context.Context, db *sql.DB) error {
	err := withPrepareLock(ctx, db, func() error {
		return migrate.Tx(ctx, db, nil, func(tx *sql.Tx) error {
			var done bool
			if err := tx.QueryRowContext(ctx, sqlAnnounced, announceBody).Scan(&done); err != nil || done {
				return err
			}
			return execAll(ctx, tx, []string{sqlAnnounceFunction, "DROP TRIGGER IF EXISTS retake_announce ON due", sqlAnnounceTrigger})
		})
	})
	if err != nil {
		return fmt.Errorf("announce what is due: %w", Explain(err))
	}
	return nil
}

const (
	listenCheck   = 15 * time.Second // how long nothing may come before the connection is checked
	listenTimeout = 5 * time.Second  // how long the check may take
)

// ListenDue calls connected when it has begun to listen, and then note for each item that is
// announced. It returns an error if the connection is lost or ctx ends.
func ListenDue(ctx context.Context, dsn string, connected func(), note func(queue string, at time.Time)) error {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return fmt.Errorf("parse database URL: %w", err)
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = dialTimeout
	}
	setDefaultParams(config.RuntimeParams)
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connect: %w", Explain(err))
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was written
	if _, err := conn.Exec(ctx, "LISTEN "+announceChannel); err != nil {
		return fmt.Errorf("listen: %w", Explain(err))
	}
	connected()
	for {
		payload, err := nextAnnouncement(ctx, conn)
		if err != nil {
			return err
		}
		if queue, at, ok := parseAnnouncement(payload); ok {
			note(queue, at)
		}
	}
}

// nextAnnouncement waits for a payload. If none comes for a while it checks that the database is
// still there.
func nextAnnouncement(ctx context.Context, conn *pgx.Conn) (string, error) {
	for {
		wait, cancel := context.WithTimeout(ctx, listenCheck)
		n, err := conn.WaitForNotification(wait)
		cancel()
		if err == nil {
			return n.Payload, nil
		}
		if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return "", fmt.Errorf("wait for announcements: %w", errors.Join(ctx.Err(), Explain(err)))
		}
		check, cancel := context.WithTimeout(ctx, listenTimeout)
		err = conn.Ping(check)
		cancel()
		if err != nil {
			return "", fmt.Errorf("check the connection: %w", Explain(err))
		}
	}
}

// parseAnnouncement parses a queue and a time in microseconds.
func parseAnnouncement(payload string) (queue string, at time.Time, ok bool) {
	queue, us, ok := strings.Cut(payload, " ")
	n, err := strconv.ParseInt(us, 10, 64)
	return queue, time.UnixMicro(n).UTC(), ok && err == nil
}
