package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake/internal/storage/migrate"
)

// namespaceFunctionBody is the body of retake_ns(). A setting that was local to a transaction
// is empty after it and not NULL, so an empty one means no namespace too.
const namespaceFunctionBody = `
DECLARE ns text := pg_catalog.current_setting('retake.ns', true);
BEGIN
	IF ns IS NULL OR ns OPERATOR(pg_catalog.=) '' THEN
		RAISE EXCEPTION 'no namespace was entered' USING ERRCODE = 'insufficient_privilege';
	END IF;
	RETURN ns;
END`

const (
	policyName = "retake_ns"

	sqlNamespaceFunction = `CREATE OR REPLACE FUNCTION retake_ns() RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $retake$` + namespaceFunctionBody + `$retake$`

	// sqlGuards returns the restrictions of a table: policies, and rights as text.
	sqlGuards = `SELECT c.relrowsecurity AND c.relforcerowsecurity,
		COALESCE((SELECT string_agg(p.polname || p.polcmd::text || p.polpermissive::text || p.polroles::text || ' ' || COALESCE(pg_get_expr(p.polqual, c.oid), '')
			|| ' ' || COALESCE(pg_get_expr(p.polwithcheck, c.oid), ''), ', ') FROM pg_policy p WHERE p.polrelid = c.oid), ''),
		(SELECT string_agg(r.name || ' ' || o.name, ', ' ORDER BY r.name, o.name)
			FROM (VALUES ('retake_api'), ('retake_maint')) r (name),
			(VALUES ('DELETE'), ('INSERT'), ('REFERENCES'), ('SELECT'), ('TRIGGER'), ('TRUNCATE'), ('UPDATE')) o (name)
			WHERE has_table_privilege(r.name, c.oid, o.name))
		FROM pg_class c WHERE c.oid = to_regclass(quote_ident($1))`
	// sqlDropPolicies returns a text that drops all; several statements are one text.
	sqlDropPolicies = `SELECT COALESCE(string_agg(format('DROP POLICY %I ON %I;', polname, $1::text), ' '), '')
		FROM pg_policy WHERE polrelid = to_regclass(quote_ident($1))`
	policyText = `retake_ns*true{0} (ns = retake_ns()) (ns = retake_ns())`
)

// guardTables adds missing policies and rights to the tables. It alters only those that lack
// something, because that waits for everybody who uses the table.
func guardTables(ctx context.Context, tx *sql.Tx, tables []migrate.Table) error {
	if err := guardSchema(ctx, tx); err != nil {
		return err
	}
	for _, t := range tables {
		if err := guardTable(ctx, tx, t); err != nil {
			return fmt.Errorf("guard table %s: %w", t.Name, err)
		}
	}
	return nil
}

func guardSchema(ctx context.Context, tx *sql.Tx) error {
	var known, used bool
	var schema string
	if err := tx.QueryRowContext(ctx, sqlGuarded, namespaceFunctionBody).Scan(&known, &used, &schema); err != nil {
		return fmt.Errorf("look at guards: %w", err)
	}
	var texts []string
	if !known {
		texts = append(texts, sqlNamespaceFunction, "GRANT EXECUTE ON FUNCTION retake_ns() TO "+roleAPI+", "+roleMaint)
	}
	if !used {
		texts = append(texts, "GRANT USAGE ON SCHEMA "+schema+" TO "+roleAPI+", "+roleMaint)
	}
	return execAll(ctx, tx, texts)
}

// tableRights returns what a role may do with a table.
func tableRights(t migrate.Table, role string) []string {
	all := []string{"INSERT", "SELECT"}
	switch {
	case t.Sealed:
	case t.History:
		if role == roleMaint {
			all = append(all, "DELETE")
		}
	default:
		all = append(all, "DELETE", "UPDATE")
	}
	slices.Sort(all)
	return all
}

// guardTable compares the rights and policies of one table with what they should be, and
// changes what differs.
func guardTable(ctx context.Context, tx *sql.Tx, t migrate.Table) error {
	var rows bool
	var policies string
	var granted sql.NullString
	err := tx.QueryRowContext(ctx, sqlGuards, t.Name).Scan(&rows, &policies, &granted)
	if errors.Is(err, sql.ErrNoRows) {
		return errors.New("there is no such table")
	}
	if err != nil {
		return err
	}
	var texts, wanted []string
	for _, role := range []string{roleAPI, roleMaint} {
		may := tableRights(t, role)
		for _, r := range may {
			wanted = append(wanted, role+" "+r)
		}
		texts = append(texts, "GRANT "+strings.Join(may, ", ")+" ON TABLE "+t.Name+" TO "+role)
	}
	if granted.String == strings.Join(wanted, ", ") {
		texts = nil
	} else {
		texts = append([]string{"REVOKE ALL ON TABLE " + t.Name + " FROM PUBLIC, " + roleAPI + ", " + roleMaint}, texts...)
	}
	if err := execAll(ctx, tx, texts); err != nil || !t.Tenant || rows && policies == policyText {
		return err
	}
	return setRowPolicy(ctx, tx, t.Name)
}

// setRowPolicy replaces all policies of a table with ours: policies are permissive, so one
// that allows more would be enough.
func setRowPolicy(ctx context.Context, tx *sql.Tx, table string) error {
	var drop string
	if err := tx.QueryRowContext(ctx, sqlDropPolicies, table).Scan(&drop); err != nil {
		return err
	}
	return execAll(ctx, tx, []string{
		"ALTER TABLE " + table + " ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY",
		drop,
		"CREATE POLICY " + policyName + " ON " + table + " USING (ns = retake_ns()) WITH CHECK (ns = retake_ns())",
	})
}

func execAll(ctx context.Context, tx *sql.Tx, texts []string) error {
	for _, text := range texts {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}
