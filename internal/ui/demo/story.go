package demo

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/retake-dev/retake"
)

// runStory is the story: a morning's work, without the pauses.
func (st *storyRunner) runStory(ctx context.Context) error {
	for _, act := range []func(context.Context) error{
		st.protectShop, st.addCards, st.addSessions, st.fixSessions, st.changeLogo, st.askQuestion, st.updateDocs, st.migrateNotes, st.restoreGood,
		st.tryInForks, st.addReceipt, st.addShipping, st.breakRelease,
	} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	return nil
}

// runSteps does one after the other until one fails.
func runSteps(fs ...func() error) error {
	for _, f := range fs {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// protectShop: a shop that works, under protection.
func (st *storyRunner) protectShop(ctx context.Context) error {
	st.reportStep("a small shop")
	if err := runSteps(
		func() error { return writeStep(st.shopDir(), "start") },
		func() error { return installPackages(st.shopDir(), basePackages) },
		func() error { return writeProducts(st.shopDir()) },
		func() error { return writePicture(st.shopFile("public/logo.png"), 96, hashText("first logo")) },
		func() error { return writeFont(st.shopDir(), "shop.woff2", 6<<10) },
		func() error { return writeBuild(st.shopDir()) },
		func() error { return createOrders(ctx, st.shopDir()) },
	); err != nil {
		return err
	}
	res, err := st.svc.Init(ctx, retake.InitRequest{Dir: st.shopDir(), Name: Shop, Env: st.req.Env})
	if err != nil {
		return fmt.Errorf("protect shop: %w", err)
	}
	st.ws = res.Workspace
	if err := st.recordCheck(ctx, res.Checkpoint, st.shopDir()); err != nil {
		return err
	}
	if st.claude, err = st.startSession(ctx, claudeCode, st.shopDir()); err != nil {
		return err
	}
	st.codex, err = st.startSession(ctx, codex, st.shopDir())
	return err
}

// taskList is the to-do list after so many were done.
func taskList(done int) []retake.Task {
	titles := []string{"sell gift cards", "keep visitors signed in", "a note for every order", "free shipping from 40", "a small release"}
	out := make([]retake.Task, len(titles))
	for i, title := range titles {
		out[i] = retake.Task{ID: fmt.Sprint(i + 1), Title: title, Status: retake.TaskPending}
		switch {
		case i < done:
			out[i].Status = retake.TaskCompleted
		case i == done:
			out[i].Status = retake.TaskActive
		}
	}
	return out
}

// runTurn is one turn that is checked at its end.
func (st *storyRunner) runTurn(ctx context.Context, a *agentSession, prompt, words string, work ...func() error) (retake.Checkpoint, error) {
	if err := a.startTurn(ctx, prompt); err != nil {
		return retake.Checkpoint{}, err
	}
	if err := runSteps(work...); err != nil {
		return retake.Checkpoint{}, err
	}
	cp, err := a.endTurn(ctx, words)
	if err != nil {
		return cp, err
	}
	return cp, st.recordCheck(ctx, cp, a.dir)
}

// editStep are the calls that write the files of a step where the agent works.
func editStep(ctx context.Context, a *agentSession, step string) func() error {
	return func() error {
		all := stepFiles(step)
		if len(all) == 0 {
			return fmt.Errorf("write files: there is no step %s", step)
		}
		for _, path := range slices.Sorted(maps.Keys(all)) {
			if err := a.editFile(ctx, path, func() error { return writeIfChanged(filepath.Join(a.dir, filepath.FromSlash(path)), []byte(all[path])) }); err != nil {
				return err
			}
		}
		return nil
	}
}

func (st *storyRunner) addCards(ctx context.Context) error {
	a := st.claude
	_, err := st.runTurn(ctx, a, "sell gift cards too", "Gift cards are for sale. They need no shipping.",
		func() error { return a.setTasks(ctx, taskList(0), false) },
		editStep(ctx, a, "cards"),
		func() error {
			return a.editFile(ctx, "data/prices.csv", func() error { return appendToFile(st.shopFile("data/prices.csv"), "gift-card,gift card,25.00\n") })
		},
		func() error {
			return a.runShell(ctx, "cp public/logo.png public/photos/gift-card.png", "", func() error { return writePhoto(st.shopDir(), "gift-card") })
		},
	)
	return err
}

// fakeKey looks like a secret but is not one. It is in two parts so that scanners of the
// source do not report it.
const fakeKey = "sk_test_" + "4Retake2Demo7NoRealKey9"

const sessionTable = "CREATE TABLE sessions (sid TEXT PRIMARY KEY, expires INTEGER, data TEXT)"

// addSessions: packages, a secret, and a slip that the check finds.
func (st *storyRunner) addSessions(ctx context.Context) error {
	a := st.claude
	_, err := st.runTurn(ctx, a, "keep visitors signed in", "Sessions are stored in the database now. One test fails, I look at it next.",
		func() error {
			return a.runShell(ctx, "npm install express-session connect-sqlite3", "added 8 packages", func() error { return installPackages(st.shopDir(), basePackages, sessionPackages) })
		},
		editStep(ctx, a, "install"),
		func() error {
			return a.editFile(ctx, ".env", func() error { return appendToFile(st.shopFile(".env"), "SESSION_KEY="+fakeKey+"\n") })
		},
		func() error {
			return a.runShell(ctx, "sqlite3 data/shop.db '"+sessionTable+"'", "", func() error { return execStatements(ctx, st.shopDir(), sessionTable) })
		},
	)
	return err
}

// fixSessions: the slip is found, and the checkpoint gets a name.
func (st *storyRunner) fixSessions(ctx context.Context) error {
	a := st.claude
	cp, err := st.runTurn(ctx, a, "fix the failing test", "The import had one letter too many. All tests pass, and a new one watches over it.",
		editStep(ctx, a, "fixed"),
		func() error { return a.setTasks(ctx, taskList(2), true) },
		editStep(ctx, a, "stays"),
	)
	if err != nil {
		return err
	}
	if _, err := st.svc.Pin(ctx, st.ws.ID, string(cp.ID), "sessions-work"); err != nil {
		return fmt.Errorf("pin checkpoint: %w", err)
	}
	return nil
}

func (st *storyRunner) changeLogo(ctx context.Context) error {
	a := st.codex
	_, err := st.runTurn(ctx, a, "draw a new logo", "The logo has the colors of the glazes.",
		func() error {
			return a.editFile(ctx, "public/logo.png", func() error { return writePicture(st.shopFile("public/logo.png"), 96, hashText("second logo")) })
		},
		func() error {
			return a.editFile(ctx, "public/fonts/shop.woff2", func() error { return writeFont(st.shopDir(), "shop.woff2", 9<<10) })
		},
	)
	return err
}

// askQuestion: a question, and not a byte changes.
func (st *storyRunner) askQuestion(ctx context.Context) error {
	_, err := st.runTurn(ctx, st.codex, "is redis faster for sessions?", "For one shop, no: the database answers in less than a millisecond. I changed nothing.")
	return err
}

// updateDocs: words that do not say it all.
func (st *storyRunner) updateDocs(ctx context.Context) error {
	a := st.codex
	cp, err := st.runTurn(ctx, a, "update the login docs", "The login docs are up to date.",
		editStep(ctx, a, "docs"),
		func() error {
			return a.runShell(ctx, "sed -i /^MAIL_FROM=/d .env", "", func() error { return removeKeyLine(st.shopFile(".env"), "MAIL_FROM") })
		},
	)
	st.mismatch = cp.Number
	return err
}

const (
	migration = "db/002_notes.sql"
	played    = "(told by the demo: nothing was sent)"
)

// migrateNotes: a migration that loses rows, and a mail that nobody can take back.
func (st *storyRunner) migrateNotes(ctx context.Context) error {
	a := st.claude
	cp, err := st.runTurn(ctx, a, "add a note to every order", "Every order has a note now, and the team knows.",
		editStep(ctx, a, "notes"),
		func() error { return a.runMigration(ctx) },
		editStep(ctx, a, "code"),
		func() error {
			return a.runShell(ctx, "mail -s 'new: notes' team@shopfront.test", played, nil)
		},
	)
	st.lost = cp.Number
	return err
}

// restoreGood: to the newest good checkpoint, by the same plan that anybody would see.
func (st *storyRunner) restoreGood(ctx context.Context) error {
	st.reportStep("restore good")
	_, err := st.restoreTo(ctx, retake.PlanRequest{Course: retake.CourseRestore, Ref: "good"})
	return err
}

// tryInForks: two ways to add the note, side by side; the one that passes comes home.
func (st *storyRunner) tryInForks(ctx context.Context) error {
	for _, try := range []forkAttempt{
		{codex, "note-table", "move notes and orders to one table", "table", "tablecode", "One table holds both now."},
		{claudeCode, "note-column", "add a column for the note", "column", "code", "Orders have a column for the note; no row was touched."},
	} {
		if err := st.runAttempt(ctx, try); err != nil {
			return err
		}
	}
	st.reportStep("adopt note-column")
	cp, err := st.restoreTo(ctx, retake.PlanRequest{Course: retake.CourseAdopt, Fork: st.forks[1].ID})
	if err != nil {
		return err
	}
	return st.recordCheck(ctx, cp, st.shopDir())
}

// forkAttempt is one turn in a fork of its own: its migration, then its code.
type forkAttempt struct{ agent, name, prompt, step, code, words string }

func (st *storyRunner) runAttempt(ctx context.Context, try forkAttempt) error {
	st.reportStep("fork " + try.name)
	res, err := st.svc.Fork(ctx, retake.ForkRequest{Workspace: st.ws.ID, Ref: "latest", Dir: filepath.Join(st.req.Dir, try.name), Name: try.name})
	if err != nil {
		return fmt.Errorf("fork %s: %w", try.name, err)
	}
	st.forks = append(st.forks, res.Workspace)
	a, err := st.startSession(ctx, try.agent, res.Workspace.Root)
	if err != nil {
		return err
	}
	_, err = st.runTurn(ctx, a, try.prompt, try.words, editStep(ctx, a, try.step), func() error { return a.runMigration(ctx) }, editStep(ctx, a, try.code))
	return err
}

// runMigration is a call that runs the migration where the agent works.
func (a *agentSession) runMigration(ctx context.Context) error {
	return a.runShell(ctx, "sqlite3 data/shop.db < "+migration, "", func() error { return runMigrationFile(ctx, a.dir, migration) })
}

func (st *storyRunner) addReceipt(ctx context.Context) error {
	a := st.codex
	_, err := st.runTurn(ctx, a, "print the note on the receipt", "The receipt shows the note when there is one.", editStep(ctx, a, "receipt"))
	return err
}

func (st *storyRunner) addShipping(ctx context.Context) error {
	a := st.claude
	_, err := st.runTurn(ctx, a, "free shipping from 40 euros", "Shipping is free from 40 euros on, and the cart can say how much is missing.",
		editStep(ctx, a, "shipping"),
		func() error { return a.setTasks(ctx, taskList(4), true) },
		editStep(ctx, a, "hints"),
	)
	return err
}

// breakRelease: a deletion too far, a push, and a line of a person that no checkpoint holds yet.
func (st *storyRunner) breakRelease(ctx context.Context) error {
	a := st.claude
	cp, err := st.runTurn(ctx, a, "make the release small", "The release is ready and pushed.",
		func() error {
			return a.runShell(ctx, "rm -rf dist public/photos", "", func() error {
				for _, dir := range []string{"dist", "public/photos"} {
					if err := os.RemoveAll(st.shopFile(dir)); err != nil {
						return fmt.Errorf("remove %s: %w", dir, err)
					}
				}
				return nil
			})
		},
		editStep(ctx, a, "small"),
		func() error { return a.runShell(ctx, "git push origin main", played, nil) },
	)
	if err != nil {
		return err
	}
	st.last = cp.Number
	st.reportStep("a line by hand")
	return writeStep(st.shopDir(), "hand")
}
