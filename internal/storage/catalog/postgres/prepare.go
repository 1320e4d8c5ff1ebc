package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
	"github.com/retake-dev/retake/internal/storage/migrate"
)

// The roles. Nobody logs in as one of them: who logs in takes one for a transaction.
const (
	roleAPI   = "retake_api"
	roleMaint = "retake_maint"
)

// lockKey names the lock of Prepare in its database: "retake" in ASCII.
const lockKey = 0x726574616b65

// Prepare migrates tables and restricts access to them: those of the catalog, and the given
// ones, after more has created them. It checks every restriction and adds what is missing.
// Tables that a newer program has made are guarded by it, and left as they are. Several servers may
// prepare at once. The login role must own the database, and create roles
// or be a member of existing ones.
func Prepare(ctx context.Context, db *sql.DB, tables []migrate.Table, more ...migrate.Schema) error {
	err := withPrepareLock(ctx, db, func() error {
		for _, s := range append([]migrate.Schema{sqlcatalog.Schema()}, more...) {
			if err := migrate.Apply(ctx, db, s); err != nil {
				return err
			}
			if is, err := migrate.Current(ctx, db, s); err != nil || is > s.Version() {
				return err
			}
		}
		if err := makeRoles(ctx, db); err != nil {
			return err
		}
		return migrate.Tx(ctx, db, nil, func(tx *sql.Tx) error {
			return guardTables(ctx, tx, slices.Concat(sqlcatalog.Tables(), tables))
		})
	})
	if err != nil {
		return fmt.Errorf("prepare database: %w", Explain(err))
	}
	return nil
}

// withPrepareLock runs f while no other process does so in this database. The lock ends with
// its transaction, and so with a process that dies.
func withPrepareLock(ctx context.Context, db *sql.DB, f func() error) error {
	return migrate.Tx(ctx, db, nil, func(tx *sql.Tx) error {
		// Migrations may take long, and others wait for them as long as they like.
		for _, text := range []string{"SET LOCAL lock_timeout = 0", "SET LOCAL idle_in_transaction_session_timeout = 0"} {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", int64(lockKey)); err != nil {
			return fmt.Errorf("wait for others: %w", err)
		}
		return f()
	})
}

// makeRoles creates missing roles. Roles are shared by all databases of a server, so another
// process may create them at the same time; then the result is checked again.
func makeRoles(ctx context.Context, db *sql.DB) error {
	var err error
	for range 10 {
		err = migrate.Tx(ctx, db, nil, func(tx *sql.Tx) error {
			for _, role := range []string{roleAPI, roleMaint} {
				if err := makeRole(ctx, tx, role); err != nil {
					return err
				}
			}
			return nil
		})
		if !slices.Contains([]string{duplicateObject, uniqueViolation, internalError}, errorCode(err)) {
			break
		}
	}
	if errorCode(err) == insufficientRights {
		return &retake.Error{
			Kind: retake.Denied,
			What: "the database does not let us make the roles " + roleAPI + " and " + roleMaint,
			Hint: "Make them with NOLOGIN, and make the user of Retake a member of both.",
			Err:  err,
		}
	}
	return err
}

// sqlRole returns whether a role is there, and whether who logs in may take it.
const (
	sqlRole = `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1),
		COALESCE((SELECT pg_has_role(current_user, oid, CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END)
			FROM pg_roles WHERE rolname = $1), FALSE)`
	sqlGuarded = `SELECT COALESCE((SELECT prosrc = $1 FROM pg_proc WHERE oid = to_regprocedure('retake_ns()')), FALSE),
		has_schema_privilege('retake_api', current_schema(), 'USAGE') AND has_schema_privilege('retake_maint', current_schema(), 'USAGE'),
		quote_ident(current_schema())`
)

// makeRole creates a role that cannot log in, and makes the login role a member of it.
func makeRole(ctx context.Context, tx *sql.Tx, role string) error {
	var there, ours bool
	if err := tx.QueryRowContext(ctx, sqlRole, role).Scan(&there, &ours); err != nil {
		return err
	}
	if !there {
		if _, err := tx.ExecContext(ctx, "CREATE ROLE "+role+" NOLOGIN"); err != nil {
			return fmt.Errorf("make role %s: %w", role, err)
		}
	}
	if ours && there {
		return nil
	}
	if _, err := tx.ExecContext(ctx, "GRANT "+role+" TO CURRENT_USER"); err != nil {
		return fmt.Errorf("become a member of %s: %w", role, err)
	}
	return nil
}
