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
		"rm unlink rimraf del-cli trash trash-put remove-item del erase rd shred srm": (*callJudge).judgeRemove,
		"cd pushd chdir set-location":       (*callJudge).judgeCd,
		"popd":                              (*callJudge).judgeCd,
		"truncate":                          (*callJudge).judgeTruncate,
		"dd":                                (*callJudge).judgeDD,
		"tee":                               (*callJudge).judgeTee,
		"mv move":                           (*callJudge).judgeMv,
		"cp":                                (*callJudge).judgeCp,
		"ln":                                (*callJudge).judgeLn,
		"sed gsed perl":                     (*callJudge).judgeInPlaceEdit,
		"rsync":                             (*callJudge).judgeRsync,
		"tar bsdtar gtar":                   (*callJudge).judgeTar,
		"unzip 7z 7za 7zz":                  (*callJudge).judgeUnzip,
		"chmod chown chgrp":                 (*callJudge).judgeModes,
		"sort":                              (*callJudge).judgeSort,
		"git":                               (*callJudge).judgeGit,
		"gzip gunzip xz unxz bzip2 bunzip2": (*callJudge).judgeUnzip,
	}
}

// dataPrograms are the programs that change databases or run code.
func dataPrograms() map[string]programJudge {
	return map[string]programJudge{
		"psql mysql mariadb sqlite3 sqlite duckdb usql sqlcmd clickhouse-client clickhouse cockroach mycli pgcli cqlsh": (*callJudge).judgeSQLClient,
		"redis-cli valkey-cli":                    (*callJudge).judgeRedis,
		"mongosh mongo":                           (*callJudge).judgeMongo,
		"manage.py django-admin":                  (*callJudge).judgeDjangoAdmin,
		"python python2 python3 pypy py":          (*callJudge).judgePython,
		"node nodejs bun deno ruby php lua":       (*callJudge).judgeCode,
		"awk gawk mawk osascript pwsh powershell": (*callJudge).judgeCode,
		"rscript": (*callJudge).judgeCode,
	}
}

// remotePrograms are the programs that change something outside the workspace.
func remotePrograms() map[string]programJudge {
	return map[string]programJudge{
		"curl":                       (*callJudge).judgeCurl,
		"wget":                       (*callJudge).judgeWget,
		"http https xh httpie":       (*callJudge).judgeHTTPie,
		"ssh":                        (*callJudge).judgeSSH,
		"scp":                        (*callJudge).judgeSCP,
		"gh":                         (*callJudge).judgeGH,
		"docker podman nerdctl":      (*callJudge).judgeDocker,
		"docker-compose":             (*callJudge).judgeCompose,
		"kubectl oc k":               (*callJudge).judgeKubectl,
		"aws":                        (*callJudge).judgeAWS,
		"gcloud az":                  (*callJudge).judgeCloud,
		"gsutil":                     (*callJudge).judgeGsutil,
		"ansible-playbook ansible":   (*callJudge).judgeAnsible,
		"vercel now":                 (*callJudge).judgeVercel,
		"mail mailx mutt s-nail":     (*callJudge).judgeMail,
		"npm pnpm yarn bun pip pip3": (*callJudge).judgeGlobalInstall,
		"crontab":                    (*callJudge).judgeCrontab,
	}
}
