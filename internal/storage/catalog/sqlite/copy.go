package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// Copy writes a database as it is at one moment to a file that does not exist yet, durably. Others
// may write to the database meanwhile. After an error the file may be there, and is not whole.
func Copy(ctx context.Context, db *sql.DB, to string) error {
	if err := createFile(to); err != nil { // with its mode; the driver takes an empty file for none
		return err
	}
	if _, err := db.ExecContext(ctx, "VACUUM INTO $1", to); err != nil {
		return fmt.Errorf("copy database: %w", err)
	}
	f, err := os.OpenFile(to, os.O_WRONLY, 0) // nobody has it open: L3 is about the database itself
	if err != nil {
		return fmt.Errorf("copy database: %w", err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("copy database: %w", err)
	}
	return nil
}

// Rename gives a copy its name, durably.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("name the copy of a database: %w", err)
	}
	return fsx.SyncDir(filepath.Dir(to))
}
