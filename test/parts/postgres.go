//go:build unix

package parts

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// Owner is the role that databases belong to. It is no superuser: those see every row.
const Owner = "retake"

// longestBase leaves room for the name of a socket, which may have 107 bytes.
const longestBase = 60

// Postgres is a PostgreSQL server on a socket that nobody else finds.
type Postgres struct {
	Process
	dir string
}

// StartPostgres makes a cluster in dir, which does not exist or is empty, and starts it.
// Settings are lines of its configuration, "name=value".
func StartPostgres(dir string, settings ...string) (*Postgres, error) {
	bin, err := postgresPrograms()
	if err != nil {
		return nil, err
	}
	who, err := whoRunsPostgres()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a directory: %w", err)
	}
	if who != nil {
		if err := os.Chown(dir, int(who.Uid), int(who.Gid)); err != nil {
			return nil, fmt.Errorf("give a directory away: %w", err)
		}
	}
	data := filepath.Join(dir, "data")
	env := []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=" + dir}
	made := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-E", "UTF8", "--locale=C", "--auth=trust", "--no-instructions")
	made.Dir, made.Env, made.SysProcAttr = dir, env, attributes(who, syscall.SIGKILL)
	if out, err := made.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make a cluster: %w\n%s", err, out)
	}
	p := &Postgres{dir: dir, Process: Process{program: program{
		path: filepath.Join(bin, "postgres"), args: []string{"-D", data}, env: env, dir: dir, log: filepath.Join(dir, "log"), who: who,
		end: syscall.SIGQUIT, // at once, without the clients
	}}}
	if err := p.settle(data, settings); err != nil {
		return nil, err
	}
	if err := p.Start(); err != nil {
		return nil, err
	}
	return p, p.Run("postgres", "postgres", "CREATE ROLE "+Owner+" LOGIN CREATEROLE NOSUPERUSER")
}

func (p *Postgres) settle(data string, settings []string) error {
	lines := append([]string{
		"listen_addresses=''", "unix_socket_directories='" + p.dir + "'", "max_connections=200", "shared_buffers=64MB",
		"dynamic_shared_memory_type=mmap", // in its directory, so that a kill leaves nothing elsewhere
	}, settings...)
	f, err := os.OpenFile(filepath.Join(data, "postgresql.conf"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	return errors.Join(err, f.Close())
}

// Start starts the server again after Kill, and waits until it has recovered.
func (p *Postgres) Start() error {
	if err := p.start(); err != nil {
		return err
	}
	db, err := sql.Open("pgx", p.DSN("postgres", "postgres"))
	if err != nil {
		return err
	}
	return errors.Join(p.await(startTime, db.Ping), db.Close())
}

// Database makes an empty database and answers how its owner, who is no superuser,
// connects to it.
func (p *Postgres) Database(name string) (string, error) {
	return p.DSN(Owner, name), p.Run("postgres", "postgres", "CREATE DATABASE "+name+" OWNER "+Owner)
}

// DSN answers how a role connects to a database; nobody is asked for a password.
func (p *Postgres) DSN(role, database string) string {
	return "postgres://" + role + "@/" + database + "?host=" + url.QueryEscape(p.dir)
}

// LogPath answers the file that the server logs to.
func (p *Postgres) LogPath() string { return filepath.Join(p.dir, "log") }

// Run runs one statement as a role. The role "postgres" may do everything.
func (p *Postgres) Run(role, database, text string) error {
	db, err := sql.Open("pgx", p.DSN(role, database))
	if err != nil {
		return err
	}
	_, err = db.Exec(text)
	return errors.Join(err, db.Close())
}

// CountsStatements reports whether the extension pg_stat_statements can be loaded.
func CountsStatements() bool {
	bin, err := postgresPrograms()
	if err != nil {
		return false
	}
	out, err := exec.Command(filepath.Join(bin, "pg_config"), "--pkglibdir").Output()
	dirs := []string{filepath.Join(filepath.Dir(bin), "lib")}
	if err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "pg_stat_statements.so"))
		return err == nil
	})
}

// postgresPrograms answers the directory of initdb and postgres, the newest of several.
func postgresPrograms() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.SortFunc(found, func(a, b string) int { return versionIn(a) - versionIn(b) })
	if at, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(at); err == nil { // the others are beside the real one
			at = real
		}
		found = append(found, at)
	}
	if len(found) == 0 {
		return "", errors.New("find postgres: initdb is neither on the path nor in /usr/lib/postgresql")
	}
	return filepath.Dir(found[len(found)-1]), nil
}

func versionIn(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

// whoRunsPostgres is nil for ourselves: only root must be somebody else.
func whoRunsPostgres() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, fmt.Errorf("run postgres as another than root: %w", err)
		}
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2)
}
