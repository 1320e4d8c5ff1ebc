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

// play is the story: a morning's work, without the pauses.
func (st *stage) play(ctx context.Context) error {
	for _, act := range []func(context.Context) error{
		st.begin, st.cards, st.sessions, st.mend, st.logo, st.talk, st.docs, st.notes, st.back,
		st.fork, st.receipt, st.shipping, st.release,
	} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	return nil
}

// steps does one after the other until one fails.
func steps(fs ...func() error) error {
	for _, f := range fs {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// begin: a shop that works, under protection.
func (st *stage) begin(ctx context.Context) error {
	st.step("a small shop")
	if err := steps(
		func() error { return put(st.tree(), "start") },
		func() error { return install(st.tree(), basePackages) },
		func() error { return stock(st.tree()) },
		func() error { return picture(st.file("public/logo.png"), 96, grain("first logo")) },
		func() error { return font(st.tree(), "shop.woff2", 6<<10) },
		func() error { return build(st.tree()) },
		func() error { return orders(ctx, st.tree()) },
	); err != nil {
		return err
	}
	res, err := st.svc.Init(ctx, retake.InitRequest{Dir: st.tree(), Name: Shop, Env: st.req.Env})
	if err != nil {
		return fmt.Errorf("protect shop: %w", err)
	}
	st.ws = res.Workspace
	if err := st.ask(ctx, res.Checkpoint, st.tree()); err != nil {
		return err
	}
	if st.claude, err = st.enter(ctx, claudeCode, st.tree()); err != nil {
		return err
	}
	st.codex, err = st.enter(ctx, codex, st.tree())
	return err
}

// list is the to-do list after so many were done.
func list(done int) []retake.Task {
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

// turn is one turn that is checked at its end.
func (st *stage) turn(ctx context.Context, a *agent, prompt, words string, work ...func() error) (retake.Checkpoint, error) {
	if err := a.prompt(ctx, prompt); err != nil {
		return retake.Checkpoint{}, err
	}
	if err := steps(work...); err != nil {
		return retake.Checkpoint{}, err
	}
	cp, err := a.rest(ctx, words)
	if err != nil {
		return cp, err
	}
	return cp, st.ask(ctx, cp, a.dir)
}

// edits are the calls that write the files of a step where the agent works.
func edits(ctx context.Context, a *agent, step string) func() error {
	return func() error {
		all := files(step)
		if len(all) == 0 {
			return fmt.Errorf("write files: there is no step %s", step)
		}
		for _, path := range slices.Sorted(maps.Keys(all)) {
			if err := a.edit(ctx, path, func() error { return write(filepath.Join(a.dir, filepath.FromSlash(path)), []byte(all[path])) }); err != nil {
				return err
			}
		}
		return nil
	}
}

func (st *stage) cards(ctx context.Context) error {
	a := st.claude
	_, err := st.turn(ctx, a, "sell gift cards too", "Gift cards are for sale. They need no shipping.",
		func() error { return a.plan(ctx, list(0), false) },
		edits(ctx, a, "cards"),
		func() error {
			return a.edit(ctx, "data/prices.csv", func() error { return extend(st.file("data/prices.csv"), "gift-card,gift card,25.00\n") })
		},
		func() error {
			return a.shell(ctx, "cp public/logo.png public/photos/gift-card.png", "", func() error { return photo(st.tree(), "gift-card") })
		},
	)
	return err
}

// noKey looks like a secret and is none. It is in two parts, so that nobody who searches
// the sources takes it for one.
const noKey = "sk_test_" + "4Retake2Demo7NoRealKey9"

const sessionTable = "CREATE TABLE sessions (sid TEXT PRIMARY KEY, expires INTEGER, data TEXT)"

// sessions: packages, a secret, and a slip that the check finds.
func (st *stage) sessions(ctx context.Context) error {
	a := st.claude
	_, err := st.turn(ctx, a, "keep visitors signed in", "Sessions are stored in the database now. One test fails, I look at it next.",
		func() error {
			return a.shell(ctx, "npm install express-session connect-sqlite3", "added 8 packages", func() error { return install(st.tree(), basePackages, sessionPackages) })
		},
		edits(ctx, a, "install"),
		func() error {
			return a.edit(ctx, ".env", func() error { return extend(st.file(".env"), "SESSION_KEY="+noKey+"\n") })
		},
		func() error {
			return a.shell(ctx, "sqlite3 data/shop.db '"+sessionTable+"'", "", func() error { return statements(ctx, st.tree(), sessionTable) })
		},
	)
	return err
}

// mend: the slip is found, and the checkpoint gets a name.
func (st *stage) mend(ctx context.Context) error {
	a := st.claude
	cp, err := st.turn(ctx, a, "fix the failing test", "The import had one letter too many. All tests pass, and a new one watches over it.",
		edits(ctx, a, "fixed"),
		func() error { return a.plan(ctx, list(2), true) },
		edits(ctx, a, "stays"),
	)
	if err != nil {
		return err
	}
	if _, err := st.svc.Pin(ctx, st.ws.ID, string(cp.ID), "sessions-work"); err != nil {
		return fmt.Errorf("pin checkpoint: %w", err)
	}
	return nil
}

func (st *stage) logo(ctx context.Context) error {
	a := st.codex
	_, err := st.turn(ctx, a, "draw a new logo", "The logo has the colors of the glazes.",
		func() error {
			return a.edit(ctx, "public/logo.png", func() error { return picture(st.file("public/logo.png"), 96, grain("second logo")) })
		},
		func() error {
			return a.edit(ctx, "public/fonts/shop.woff2", func() error { return font(st.tree(), "shop.woff2", 9<<10) })
		},
	)
	return err
}

// talk: a question, and not a byte changes.
func (st *stage) talk(ctx context.Context) error {
	_, err := st.turn(ctx, st.codex, "is redis faster for sessions?", "For one shop, no: the database answers in less than a millisecond. I changed nothing.")
	return err
}

// docs: words that do not say it all.
func (st *stage) docs(ctx context.Context) error {
	a := st.codex
	cp, err := st.turn(ctx, a, "update the login docs", "The login docs are up to date.",
		edits(ctx, a, "docs"),
		func() error {
			return a.shell(ctx, "sed -i /^MAIL_FROM=/d .env", "", func() error { return strike(st.file(".env"), "MAIL_FROM") })
		},
	)
	st.mismatch = cp.Number
	return err
}

const (
	migration = "db/002_notes.sql"
	played    = "(told by the demo: nothing was sent)"
)

// notes: a migration that loses rows, and a mail that nobody can take back.
func (st *stage) notes(ctx context.Context) error {
	a := st.claude
	cp, err := st.turn(ctx, a, "add a note to every order", "Every order has a note now, and the team knows.",
		edits(ctx, a, "notes"),
		func() error { return a.migrate(ctx) },
		edits(ctx, a, "code"),
		func() error {
			return a.shell(ctx, "mail -s 'new: notes' team@shopfront.test", played, nil)
		},
	)
	st.lost = cp.Number
	return err
}

// back: to the newest good checkpoint, by the same plan that anybody would see.
func (st *stage) back(ctx context.Context) error {
	st.step("restore good")
	_, err := st.travel(ctx, retake.PlanRequest{Course: retake.CourseRestore, Ref: "good"})
	return err
}

// fork: two ways to add the note, side by side; the one that passes comes home.
func (st *stage) fork(ctx context.Context) error {
	for _, try := range []attempt{
		{codex, "note-table", "move notes and orders to one table", "table", "tablecode", "One table holds both now."},
		{claudeCode, "note-column", "add a column for the note", "column", "code", "Orders have a column for the note; no row was touched."},
	} {
		if err := st.try(ctx, try); err != nil {
			return err
		}
	}
	st.step("adopt note-column")
	cp, err := st.travel(ctx, retake.PlanRequest{Course: retake.CourseAdopt, Fork: st.forks[1].ID})
	if err != nil {
		return err
	}
	return st.ask(ctx, cp, st.tree())
}

// attempt is one turn in a fork of its own: its migration, then its code.
type attempt struct{ agent, name, prompt, step, code, words string }

func (st *stage) try(ctx context.Context, try attempt) error {
	st.step("fork " + try.name)
	res, err := st.svc.Fork(ctx, retake.ForkRequest{Workspace: st.ws.ID, Ref: "latest", Dir: filepath.Join(st.req.Dir, try.name), Name: try.name})
	if err != nil {
		return fmt.Errorf("fork %s: %w", try.name, err)
	}
	st.forks = append(st.forks, res.Workspace)
	a, err := st.enter(ctx, try.agent, res.Workspace.Root)
	if err != nil {
		return err
	}
	_, err = st.turn(ctx, a, try.prompt, try.words, edits(ctx, a, try.step), func() error { return a.migrate(ctx) }, edits(ctx, a, try.code))
	return err
}

// migrate is a call that runs the migration where the agent works.
func (a *agent) migrate(ctx context.Context) error {
	return a.shell(ctx, "sqlite3 data/shop.db < "+migration, "", func() error { return migrate(ctx, a.dir, migration) })
}

func (st *stage) receipt(ctx context.Context) error {
	a := st.codex
	_, err := st.turn(ctx, a, "print the note on the receipt", "The receipt shows the note when there is one.", edits(ctx, a, "receipt"))
	return err
}

func (st *stage) shipping(ctx context.Context) error {
	a := st.claude
	_, err := st.turn(ctx, a, "free shipping from 40 euros", "Shipping is free from 40 euros on, and the cart can say how much is missing.",
		edits(ctx, a, "shipping"),
		func() error { return a.plan(ctx, list(4), true) },
		edits(ctx, a, "hints"),
	)
	return err
}

// release: a deletion too far, a push, and a line of a person that no checkpoint holds yet.
func (st *stage) release(ctx context.Context) error {
	a := st.claude
	cp, err := st.turn(ctx, a, "make the release small", "The release is ready and pushed.",
		func() error {
			return a.shell(ctx, "rm -rf dist public/photos", "", func() error {
				for _, dir := range []string{"dist", "public/photos"} {
					if err := os.RemoveAll(st.file(dir)); err != nil {
						return fmt.Errorf("remove %s: %w", dir, err)
					}
				}
				return nil
			})
		},
		edits(ctx, a, "small"),
		func() error { return a.shell(ctx, "git push origin main", played, nil) },
	)
	if err != nil {
		return err
	}
	st.last = cp.Number
	st.step("a line by hand")
	return put(st.tree(), "hand")
}
