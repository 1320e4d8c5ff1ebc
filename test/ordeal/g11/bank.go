//go:build linux

package g11

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"github.com/retake-dev/retake/test/ordeal/daemonbed"
)

const (
	accounts = 100
	deposit  = 1000
	width    = 30_000 // bytes of an account: a transfer is of many pages, and reading all takes its time
	history  = 200    // transfers that the ledger keeps
)

// foundation makes the tables, if they are not there. Nobody waits for a lock: who
// meets one has an error, and ends.
const foundation = `.bail on
.timeout 0
pragma journal_mode=%s;
pragma synchronous=normal;
pragma wal_autocheckpoint=20;
pragma cache_size=-64;
begin;
create table if not exists account(id integer primary key, balance int, last int, filler blob);
create table if not exists ledger(n integer primary key, one int, other int, amount int, filler blob);
create table if not exists meta(id integer primary key, n int, pruned int);
insert or ignore into meta values(1, 0, 0);
with recursive c(i) as (select 0 union all select i+1 from c where i < %d)
	insert or ignore into account select i, %d, 0, zeroblob(%d) from c;
commit;
select 'open';
`

const transferring = `begin immediate;
update meta set n = n + 1, pruned = max(0, n + 1 - %[1]d);
update account set balance = balance - %[2]d, last = (select n from meta), filler = randomblob(%[5]d) where id = %[3]d;
update account set balance = balance + %[2]d, last = (select n from meta), filler = randomblob(%[5]d) where id = %[4]d;
insert into ledger values((select n from meta), %[3]d, %[4]d, %[2]d, randomblob(300));
delete from ledger where n <= (select pruned from meta);
commit;
select 'done';
`

// audit opens a database that nobody else has open, with the stock program, and says
// what is wrong with it.
func audit(path string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	out, err := exec.Command("sqlite3", "-batch", path, `pragma integrity_check;
		select (select sum(balance) from account), n, pruned, (select count(*) from ledger), (select coalesce(max(n), 0) from ledger),
		(select count(*) from account where last = meta.n) from meta;`).CombinedOutput()
	if err != nil {
		return fmt.Errorf("open: %w: %.100s", err, out)
	}
	word, facts, _ := strings.Cut(string(out), "\n")
	if word != "ok" {
		return fmt.Errorf("integrity: %.100s", word)
	}
	var sum, n, pruned, rows, newest, fresh int64
	if _, err := fmt.Sscanf(facts, "%d|%d|%d|%d|%d|%d", &sum, &n, &pruned, &rows, &newest, &fresh); err != nil {
		return fmt.Errorf("read %.100q: %w", facts, err)
	}
	if sum != accounts*deposit || rows != n-pruned || newest != n || n > 0 && fresh != 2 {
		return fmt.Errorf("sum %d, transfer %d, ledger of %d up to %d, %d accounts of it", sum, n, rows, newest, fresh)
	}
	return nil
}

// bank is a stock SQLite that makes transfers: some come close together, some after
// a rest.
type bank struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	errs bytes.Buffer
	done atomic.Int64
	said chan struct{} // one for each answer, closed at the end
	rest chan struct{} // closed to end it
	idle chan struct{} // closed when nothing is asked any more
}

func startBank(path, mode string) (*bank, error) {
	b := &bank{cmd: exec.Command("sqlite3", "-batch", path), said: make(chan struct{}, 64), rest: make(chan struct{}), idle: make(chan struct{})}
	var err error
	if b.in, err = b.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	b.cmd.Stderr = &b.errs
	if err := b.cmd.Start(); err != nil {
		return nil, err
	}
	go b.listen(out)
	go b.ask(mode)
	if !daemonbed.Await(func() bool { return b.done.Load() > 3 }) {
		return nil, errors.Join(errors.New("the bank does nothing"), b.stop(true))
	}
	return b, nil
}

func (b *bank) listen(out io.Reader) {
	defer close(b.said)
	for sc := bufio.NewScanner(out); sc.Scan(); {
		switch sc.Text() {
		case "done":
			b.done.Add(1)
			b.said <- struct{}{}
		case "open":
			b.said <- struct{}{}
		}
	}
}

// ask gives one order after the other, each when the one before is done.
func (b *bank) ask(mode string) {
	defer close(b.idle)
	rnd := rand.New(rand.NewSource(time.Now().UnixNano()))
	order := fmt.Sprintf(foundation, mode, accounts-1, deposit, width)
	for near := 0; ; near-- {
		if _, err := io.WriteString(b.in, order); err != nil {
			return
		}
		if _, more := <-b.said; !more {
			return
		}
		pause := time.Duration(0)
		if near <= 0 {
			near = 1 + rnd.Intn(6)
			if pause = time.Duration(rnd.Intn(25)) * time.Millisecond; rnd.Intn(4) == 0 {
				pause *= 8
			}
		}
		select {
		case <-b.rest:
			return
		case <-time.After(pause):
		}
		one := rnd.Intn(accounts)
		order = fmt.Sprintf(transferring, history, rnd.Intn(20), one, (one+1+rnd.Intn(accounts-1))%accounts, width)
	}
}

// stop ends the process, by force at once or after its last transfer, and answers
// what went wrong in it.
func (b *bank) stop(force bool) error {
	close(b.rest)
	if force {
		_ = b.cmd.Process.Kill() // it may be gone
	}
	<-b.idle
	_ = b.in.Close()   // it may be gone
	for range b.said { // until it says nothing any more
	}
	_ = b.cmd.Wait() // how it ended is known
	if b.errs.Len() > 0 {
		return fmt.Errorf("the bank: %.200s", b.errs.String())
	}
	return nil
}
