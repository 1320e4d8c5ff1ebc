package risk

import (
	"strings"
	"sync"
)

// known holds the programs that are judged by a function of their own; the others
// are judged by the rows. It is made at the first use.
var known struct {
	once sync.Once
	all  map[string]judged
}

// judged is how one program is judged.
type judged = func(*judge, *command)

func programs() map[string]judged {
	known.once.Do(func() {
		known.all = map[string]judged{}
		for _, part := range []map[string]judged{filePrograms(), dataPrograms(), farPrograms()} {
			for list, f := range part {
				for _, name := range strings.Fields(list) {
					known.all[name] = both(known.all[name], f)
				}
			}
		}
	})
	return known.all
}

// both lets a program be judged by two functions.
func both(a, b judged) judged {
	if a == nil {
		return b
	}
	return func(j *judge, c *command) {
		a(j, c)
		b(j, c)
	}
}

func filePrograms() map[string]judged {
	return map[string]judged{
		"rm unlink rimraf del-cli trash trash-put remove-item del erase rd shred srm": (*judge).removes,
		"cd pushd chdir set-location":       (*judge).changesDir,
		"popd":                              (*judge).changesDir,
		"truncate":                          (*judge).truncate,
		"dd":                                (*judge).dd,
		"tee":                               (*judge).tee,
		"mv move":                           (*judge).mv,
		"cp":                                (*judge).cp,
		"ln":                                (*judge).ln,
		"sed gsed perl":                     (*judge).inPlace,
		"rsync":                             (*judge).rsync,
		"tar bsdtar gtar":                   (*judge).tar,
		"unzip 7z 7za 7zz":                  (*judge).unzip,
		"chmod chown chgrp":                 (*judge).modes,
		"sort":                              (*judge).sort,
		"git":                               (*judge).git,
		"gzip gunzip xz unxz bzip2 bunzip2": (*judge).unzip,
	}
}

func dataPrograms() map[string]judged {
	return map[string]judged{
		"psql mysql mariadb sqlite3 sqlite duckdb usql sqlcmd clickhouse-client clickhouse cockroach mycli pgcli cqlsh": (*judge).sqlClient,
		"redis-cli valkey-cli":                    (*judge).redis,
		"mongosh mongo":                           (*judge).mongo,
		"manage.py django-admin":                  (*judge).manages,
		"python python2 python3 pypy py":          (*judge).python,
		"node nodejs bun deno ruby php lua":       (*judge).code,
		"awk gawk mawk osascript pwsh powershell": (*judge).code,
		"rscript": (*judge).code,
	}
}

func farPrograms() map[string]judged {
	return map[string]judged{
		"curl":                       (*judge).curl,
		"wget":                       (*judge).wget,
		"http https xh httpie":       (*judge).httpie,
		"ssh":                        (*judge).ssh,
		"scp":                        (*judge).scp,
		"gh":                         (*judge).gh,
		"docker podman nerdctl":      (*judge).docker,
		"docker-compose":             (*judge).compose,
		"kubectl oc k":               (*judge).kubectl,
		"aws":                        (*judge).aws,
		"gcloud az":                  (*judge).cloud,
		"gsutil":                     (*judge).gsutil,
		"ansible-playbook ansible":   (*judge).ansible,
		"vercel now":                 (*judge).vercel,
		"mail mailx mutt s-nail":     (*judge).mail,
		"npm pnpm yarn bun pip pip3": (*judge).global,
		"crontab":                    (*judge).crontab,
	}
}
