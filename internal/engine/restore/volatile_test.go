package restore_test

import (
	"testing"

	"github.com/retake-dev/retake/internal/engine/restore"
)

// What programs write all the time is known by its name, and a package that people called
// "log" or "build" is their work.
func TestOutput(t *testing.T) {
	for path, want := range map[string]bool{
		"server.log": true, "log/today.txt": true, "logs/2026/app.log": true, "dist/app.js": true, "build/index.html": true, "target/debug/shop": true,
		"out/main.js": true, "web/node_modules/a/index.js": true, "tmp/pids/web.pid": true, "data/dev.db": true, "data/dev.db-wal": true, "coverage/lcov.info": true,
		"internal/log/log.go": false, "src/build/rules.py": false, "cmd/target/main.rs": false, "lib/log/writer.ts": false,
		"src/main.go": false, "README.md": false, "logbook.md": false,
	} {
		if got := restore.IsVolatile(path); got != want {
			t.Errorf("%s is output: %v", path, got)
		}
	}
}
