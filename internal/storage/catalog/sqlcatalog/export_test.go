package sqlcatalog

import (
	"context"
	"database/sql"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/migrate"
)

// Queries are the texts that must stay quick on a long timeline, by method.
var Queries = map[string]string{
	"Checkpoint": sqlCheckpoint,
	"ByNumber":   sqlByNumber,
	"ByPrefix":   sqlByPrefix,
	"Before":     sqlBefore,
	"Latest":     sqlLatest,
	"Start":      sqlStart,
	"Page":       sqlPage,
	"Page since": sqlPageSince,
	"Tombstones": sqlTombstones,
	"Counts":     sqlCounts,
	"Added":      sqlBrought,
	"Workspaces": sqlWorkspaces,
	"Pins":       sqlPins,
	"Pending":    sqlPending,
	"known":      sqlKnown,
	"buried":     sqlBuried,
	"holder":     sqlNumberHolder,

	"number":                    sqlNumber,
	"Gists":                     textOf(newQuery(sqlGists, "a"), "checkpoint"),
	"Bare":                      sqlBare,
	"ByHead":                    sqlByHead,
	"Mentions":                  sqlMentions + sqlMentionsOrder,
	"Search":                    new(Catalog).searchQuery("w", []string{"one", "two"}, 1).text.String(),
	"Verifications":             answersText(catalog.VerificationQuery{Name: "n"}, nil),
	"Verifications of contents": answersText(catalog.VerificationQuery{Output: true}, []retake.ContentID{"a", "b"}),
	"WithContent":               sqlWithContent,
	"Readings":                  textOf(newQuery(sqlReadings, "a", "r"), "object"),
	"last reading":              sqlLastReading,
	"trim readings":             sqlTrimReadings,
	"drop finding":              sqlDropNotes[0],
	"drop place":                sqlDropNotes[1],
	"drop facts":                sqlDropNotes[2],
	"answered":                  sqlAnswered,
	"drop answers":              sqlDropAnswers,
}

func textOf(a *queryBuilder, column string) string {
	addIn(a, column, []string{"x", "y"})
	return a.text.String()
}

func answersText(q catalog.VerificationQuery, contents []retake.ContentID) string {
	return new(Catalog).verificationsQuery(q, contents).text.String()
}

// MaxReadings is how many a namespace keeps.
const MaxReadings = maxReadings

// Migrations are the texts of all versions.
var Migrations = migrations

// MigrateTo brings the tables to an older version.
func MigrateTo(ctx context.Context, db *sql.DB, version int) error {
	return migrate.Apply(ctx, db, migrate.Schema{Table: versionTable, Steps: migrations[:version]})
}
