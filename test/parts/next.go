//go:build unix

package parts

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// nextFile adds a step to the tables of a server, as the next release may: nothing is taken away.
const nextFile = `package sqldb

func init() {
	migrations = append(migrations, []string{"ALTER TABLE namespace ADD COLUMN next_release BIGINT NOT NULL DEFAULT 0"})
}
`

// BuildNext builds the programs as a next release would be, whose tables have one step more than
// those of the source. It returns the command retake in dir.
func BuildNext(dir string) (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/retake-dev/retake").Output()
	if err != nil {
		return "", fmt.Errorf("find the source: %w", err)
	}
	added := filepath.Join(dir, "next.go.txt")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(strings.TrimSpace(string(out)), "internal", "storage", "serverdb", "sqldb", "next.go"): added,
	}})
	if err != nil {
		return "", err
	}
	for name, text := range map[string][]byte{added: []byte(nextFile), filepath.Join(dir, "overlay.json"): overlay} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return "", err
		}
	}
	cmd := exec.Command("go", "build", "-buildvcs=false", "-overlay", filepath.Join(dir, "overlay.json"), "-tags", "testing", "-o", dir+"/",
		"github.com/retake-dev/retake/cmd/retake", "github.com/retake-dev/retake/cmd/retaked")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the next release: %w\n%s", err, out)
	}
	return filepath.Join(dir, "retake"), nil
}
