package risk

import (
	"strings"
	"sync"
)

// programCache holds the programs that have a judge of their own; all others are judged by
// the table. It is built on first use.
var programCache struct {
	once sync.Once
	all  map[string]programJudge
}

// programJudge judges the calls of one program.
type programJudge = func(*callJudge, *command)

func programJudges() map[string]programJudge {
	programCache.once.Do(func() {
		programCache.all = map[string]programJudge{}
		for _, part := range []map[string]programJudge{filePrograms(), dataPrograms(), remotePrograms()} {
			for list, f := range part {
				for _, name := range strings.Fields(list) {
					programCache.all[name] = combineJudges(programCache.all[name], f)
				}
			}
		}
	})
	return programCache.all
}

// combineJudges judges a program by two functions.
func combineJudges(a, b programJudge) programJudge {
	if a == nil {
		return b
	}
	return func(j *callJudge, c *command) {
		a(j, c)
		b(j, c)
	}
}

// filePrograms are the programs that change files of the workspace.
func filePrograms() map[string]programJudge {
	return map[string]programJudge{
		"rm unlink rimraf del-cli trash trash-put remove-item del erase rd shred srm": judgeRemove,
		"cd pushd chdir set-location":       judgeCd,
		"popd":                              judgeCd,
		"truncate":                          judgeTruncate,
		"dd":                                judgeDD,
		"tee":                               judgeTee,
		"mv move":                           judgeMv,
		"cp":                                judgeCp,
		"ln":                                judgeLn,
		"sed gsed perl":                     judgeInPlaceEdit,
		"rsync":                             judgeRsync,
		"tar bsdtar gtar":                   judgeTar,
		"unzip 7z 7za 7zz":                  judgeUnzip,
		"chmod chown chgrp":                 judgeModes,
		"sort":                              judgeSort,
		"git":                               judgeGit,
		"gzip gunzip xz unxz bzip2 bunzip2": judgeUnzip,
	}
}

// dataPrograms are the programs that change databases or run code.
func dataPrograms() map[string]programJudge {
	return map[string]programJudge{
		"psql mysql mariadb sqlite3 sqlite duckdb usql sqlcmd clickhouse-client clickhouse cockroach mycli pgcli cqlsh": judgeSQLClient,
		"redis-cli valkey-cli":                    judgeRedis,
		"mongosh mongo":                           judgeMongo,
		"manage.py django-admin":                  judgeDjangoAdmin,
		"python python2 python3 pypy py":          judgePython,
		"node nodejs bun deno ruby php lua":       judgeCode,
		"awk gawk mawk osascript pwsh powershell": judgeCode,
		"rscript": judgeCode,
	}
}

// remotePrograms are the programs that change something outside the workspace.
func remotePrograms() map[string]programJudge {
	return map[string]programJudge{
		"curl":                       judgeCurl,
		"wget":                       judgeWget,
		"http https xh httpie":       judgeHTTPie,
		"ssh":                        judgeSSH,
		"scp":                        judgeSCP,
		"gh":                         judgeGH,
		"docker podman nerdctl":      judgeDocker,
		"docker-compose":             judgeCompose,
		"kubectl oc k":               judgeKubectl,
		"aws":                        judgeAWS,
		"gcloud az":                  judgeCloud,
		"gsutil":                     judgeGsutil,
		"ansible-playbook ansible":   judgeAnsible,
		"vercel now":                 judgeVercel,
		"mail mailx mutt s-nail":     judgeMail,
		"npm pnpm yarn bun pip pip3": judgeGlobalInstall,
		"crontab":                    judgeCrontab,
	}
}
