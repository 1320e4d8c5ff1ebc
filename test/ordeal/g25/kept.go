//go:build linux

package g25

import (
	"context"
	"os"

	"github.com/retake-dev/retake/test/ordeal/harness"
)

// keptDeeds are histories that once went wrong, as short as they could be made.
var keptDeeds = map[string][]string{
	"a database alone":                                     {"start w:app.db:1", "save t:a:0:1", "turn A rm:app.db", "undo", "redo"},
	"output alone":                                         {"start w:dist/app.js:1", "save t:a:0:1", "turn A rmr:dist", "undo", "redo"},
	"git alone":                                            {"start w:.git/refs/heads/main:1", "save t:a:0:1", "turn A w:.git/refs/heads/main:2", "undo", "redo"},
	"a repository that the turn made":                      {"start rmr:.git", "turn A w:.git/HEAD:0", "undo", "redo"},
	"git, and a file as it was":                            {"start", "turn A t:a:0:1 t:a:0:0 w:.git/refs/heads/main:2", "undo", "redo"},
	"loose edits stay":                                     {"start", "turn A t:a:0:1", "edit t:a:2:3 t:src/b:0:1", "undo", "redo"},
	"edits at rest stay":                                   {"start", "turn A t:a:0:1", "quiet t:src/b:0:1", "undo", "redo"},
	"nothing but edits":                                    {"start", "edit t:a:0:1", "undo", "discard", "redo"},
	"nothing is left of it":                                {"start t:src/b:0:1", "save t:src/b:1:1", "save t:a:0:1", "edit rm:a", "undo", "undo #2"},
	"put back by hand before the undo":                     {"start", "save t:a:0:1 t:src/b:0:1", "edit t:a:0:0", "undo", "redo"},
	"a copy beside goes with the redo":                     {"start", "save t:a:0:1", "edit t:a:0:2", "undo", "redo"},
	"lines that were merged":                               {"start", "save t:README.md:1:1", "edit t:README.md:2:1", "undo", "quiet t:a:1:1", "redo"},
	"undo in the middle of a turn":                         {"start", "begin A", "save w:debug.log:0", "undo", "redo", "end A t:a:1:1", "undo", "undo"},
	"two sessions in turn":                                 {"start", "call B w:logs/web.log:4", "end A t:src/b:0:2", "end B t:a:0:1", "undo", "undo", "undo"},
	"a branch has no copy beside it":                       {"start w:.git/refs/heads/main:1", "save w:.git/refs/heads/main:4 w:.git/index:4", "edit w:.git/refs/heads/main:0", "undo", "redo"},
	"the newest of a part":                                 {"start t:src/b:0:0", "save t:src/b:0:1", "save t:a:0:1", "undo @src", "undo", "redo", "redo"},
	"a database comes back with its log":                   {"start w:data/shop.db:1", "save w:data/shop.db-wal:1", "restore #0 @data/shop.db", "undo"},
	"a database that was written on stays":                 {"start w:app.db:1", "turn A w:app.db:2 w:app.db-wal:2 t:a:0:1", "edit w:app.db-wal:3", "undo", "redo"},
	"a merge that changes nothing hides the change before": {"start", "save t:src/b:2:2", "save t:src/b:1:3", "quiet t:src/b:1:0 t:src/b:2:0", "undo"},
	"a merge that changes nothing keeps git":               {"start", "save t:a:1:1 w:.git/HEAD:1", "quiet t:a:0:2", "save t:README.md:2:2", "undo", "undo @a", "undo"},
	"a turn that takes itself back leaves redo":            {"start rmr:.git", "end A t:src/deep/c:0:3", "undo", "call A w:.git/logs/HEAD:1", "begin A rmr:.git", "redo"},
	"a database that was changed keeps its log away":       {"start w:app.db-wal:3 w:app.db:2", "save rm:app.db rm:app.db-wal w:app.db:2", "edit w:app.db:3", "undo"},
	"a turn that deletes what came beside it":              {"start", "begin B", "edit t:README.md:1:0", "turn A", "save rm:README.md", "undo @README.md"},
	"two turns that make and delete":                       {"start", "call B w:logs/web.log:3", "begin A", "call B w:dist/css/m.css:3", "end A rmr:dist", "undo", "undo"},
	"git as it was, by hand":                               {"start w:.git/ORIG_HEAD:4", "save rm:.git/ORIG_HEAD", "edit t:src/b:0:1", "undo", "edit rm:.git/ORIG_HEAD", "restore #1"},
}

// keptTales plays them again.
func keptTales(r *harness.Run) map[string]error {
	out := map[string]error{}
	home := harness.FastDir(r, "g25")
	defer os.RemoveAll(home) //nolint:errcheck // scratch
	s, err := openStage(context.Background(), home+"/kept")
	if err != nil {
		return map[string]error{"stage": err}
	}
	for name, deeds := range keptDeeds {
		out[name] = s.tale("").tell(context.Background(), deeds)
	}
	if err := s.close(); err != nil {
		out["close"] = err
	}
	return out
}
